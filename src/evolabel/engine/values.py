"""Values of raw rows: which are observed, the first bad one, and counts of answered labels. A missing value is NaN.

One pass each, no temporary arrays.
"""

import numpy as np

from evolabel.engine.compile import inner, kernel
from evolabel.typing import FloatArray

MAX_VALUE = 1e100  # squares of larger values may overflow


@kernel
def first_bad_sample(X: FloatArray) -> tuple[int, int]:
    """Return (row, column) of the first value beyond `MAX_VALUE`, (row, -1) for the first row of NaN, else (-1, -1)."""
    for i in range(X.shape[0]):
        missing = 0
        for j in range(X.shape[1]):
            if np.isnan(X[i, j]):
                missing += 1
            elif abs(X[i, j]) > MAX_VALUE:
                return i, j
        if missing == X.shape[1]:
            return i, -1
    return -1, -1


@kernel
def first_bad_label(Y: FloatArray) -> tuple[int, int]:
    """Return (row, column) of the first value of Y that is neither 0 nor 1 nor NaN, (-1, -1) if there is none."""
    for i in range(Y.shape[0]):
        for j in range(Y.shape[1]):
            if not (Y[i, j] == 0.0 or Y[i, j] == 1.0 or np.isnan(Y[i, j])):
                return i, j
    return -1, -1


@kernel
def count_answers(Y: FloatArray, weights: FloatArray, a: FloatArray) -> None:
    """Add to a, (K,), the answers of Y per label; rows of weight 0 do not count, no weights mean 1."""
    for i in range(Y.shape[0]):
        if weights.shape[0] == 0 or weights[i] > 0.0:
            for k in range(Y.shape[1]):
                if not np.isnan(Y[i, k]):
                    a[k] += 1.0


@inner
def observed_features(z: FloatArray) -> int:
    """Return how many features of the row z are not NaN."""
    seen = 0
    for j in range(z.shape[0]):
        if not np.isnan(z[j]):
            seen += 1
    return seen


@inner
def observed_weight(z: FloatArray, lam: FloatArray) -> float:
    """Return the sum of the feature weights lam over the features of z that are not NaN."""
    total = 0.0
    for j in range(z.shape[0]):
        if not np.isnan(z[j]):
            total += lam[j]
    return total
