"""Compiled loops of the first tree."""
