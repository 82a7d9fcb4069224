"""Kernels that only the paper's profile runs."""
