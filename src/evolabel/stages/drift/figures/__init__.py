"""Figures of the members."""
