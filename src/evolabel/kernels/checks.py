"""Checks of raw rows at the boundary: one pass, no temporary arrays."""

import numpy as np

from evolabel.kernels.compile import kernel
from evolabel.typing import FloatArray

HUGE = 1e100  # squares of larger values may overflow


@kernel
def first_bad_sample(X: FloatArray) -> tuple[int, int]:
    """(row, column) of the first value beyond HUGE; (row, -1) for the first row of NaN only; (-1, -1) if neither."""
    for i in range(X.shape[0]):
        missing = 0
        for j in range(X.shape[1]):
            if np.isnan(X[i, j]):
                missing += 1
            elif abs(X[i, j]) > HUGE:
                return i, j
        if missing == X.shape[1]:
            return i, -1
    return -1, -1


@kernel
def first_bad_label(Y: FloatArray) -> tuple[int, int]:
    """(row, column) of the first label that is neither 0 nor 1 nor NaN, (-1, -1) if there is none."""
    for i in range(Y.shape[0]):
        for j in range(Y.shape[1]):
            if not (Y[i, j] == 0.0 or Y[i, j] == 1.0 or np.isnan(Y[i, j])):
                return i, j
    return -1, -1
