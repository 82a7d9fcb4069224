"""Parts of the model that answer beside or behind the rules."""
