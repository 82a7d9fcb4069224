"""Naive twins of kernels, of metrics and of the token bucket: the same results, written as plainly as possible."""
