"""A model as named arrays and facts, and their checks."""
