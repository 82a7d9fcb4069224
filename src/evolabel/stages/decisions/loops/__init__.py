"""Compiled loops: cuts of outputs, known label sets."""
