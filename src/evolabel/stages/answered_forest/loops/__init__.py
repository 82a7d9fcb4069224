"""Loops of the forest of answered rows."""
