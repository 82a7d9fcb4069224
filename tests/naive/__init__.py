"""Naive twins of kernels: the same results, written as plainly as possible."""
