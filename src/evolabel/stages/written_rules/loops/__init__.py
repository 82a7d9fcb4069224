"""Compiled loops: answers and learning of written rules."""
