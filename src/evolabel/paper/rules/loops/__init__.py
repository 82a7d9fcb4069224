"""Compiled loops of the paper's formulas: rotated rules, the product space, iterated weights, label coupling."""
