"""Helpers that any room may import: files, text, checks of numbers, optional packages, lazy names."""
