"""Probabilities and prediction sets from outputs."""
