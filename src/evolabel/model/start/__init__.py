"""The first rows: warm-up and batch phase."""
