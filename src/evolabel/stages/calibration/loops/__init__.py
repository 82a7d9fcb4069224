"""Compiled loops: maps and thresholds of sets."""
