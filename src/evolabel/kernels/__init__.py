"""Compiled loops on plain arrays: no classes, no validation, no Python objects.

`state` explains the arrays; `stream` holds the two loops everything else serves; `reference` has the naive twins,
written to be obviously right. Kernels assume float64, C-contiguous arrays that were checked at the boundary.
"""
