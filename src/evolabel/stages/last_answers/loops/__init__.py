"""Compiled loops: answers and learning by the last answers."""
