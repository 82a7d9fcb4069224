"""Kernels of probabilities and prediction sets."""
