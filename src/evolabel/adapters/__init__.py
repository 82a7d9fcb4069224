"""The model behind the interfaces of other libraries: river and scikit-activeml."""
