"""Figures of the rules."""
