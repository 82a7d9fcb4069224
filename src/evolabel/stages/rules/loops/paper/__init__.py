"""Compiled loops of the paper's profile: rotated rules, iterated weights, label coupling."""
