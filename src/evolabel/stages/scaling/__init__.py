"""Scaling of the features."""
