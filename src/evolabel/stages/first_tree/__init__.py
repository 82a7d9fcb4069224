"""The first tree: a small tree that all labels share, which answers beside the outputs for the first rows."""
