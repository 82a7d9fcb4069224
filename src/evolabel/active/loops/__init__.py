"""Compiled loops: scores of rows, selection."""
