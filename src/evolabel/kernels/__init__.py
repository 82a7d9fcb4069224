"""Compiled loops on plain arrays: no classes, no validation, no Python objects.

`state` explains the arrays; `stream` holds the two loops everything else serves; `reference` is the naive twin of each
kernel, written to be obviously right. Kernels assume float64, C-contiguous arrays that were checked at the boundary.
"""
