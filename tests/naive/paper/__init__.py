"""Naive versions of the loops of `paper.rules`."""
