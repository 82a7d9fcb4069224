"""The forest of answered rows: trees on balanced draws of the few rows that were answered, beside the outputs."""
