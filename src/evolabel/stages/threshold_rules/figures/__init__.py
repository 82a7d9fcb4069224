"""Figures of threshold rules."""
