"""Compiled loops: readings that are watched, and trials of corrections."""
