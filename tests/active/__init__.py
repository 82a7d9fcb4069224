"""A package, because file names here also occur elsewhere."""
