"""Data sets as files: reading and writing."""
