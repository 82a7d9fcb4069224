"""Twins of `engine.values`."""

import numpy as np

from evolabel.typing import FloatArray


def first_bad_sample(X: FloatArray) -> tuple[int, int]:
    """(row, column) of the first value beyond 1e100; (row, -1) for the first row of NaN only; (-1, -1) if neither."""
    bad = (np.abs(X) > 1e100).any(axis=1) | np.isnan(X).all(axis=1)
    if not bad.any():
        return -1, -1
    i = int(np.argmax(bad))
    huge = np.abs(X[i]) > 1e100
    return i, int(np.argmax(huge)) if huge.any() else -1


def first_bad_label(Y: FloatArray) -> tuple[int, int]:
    """(row, column) of the first label that is neither 0 nor 1 nor NaN, (-1, -1) if there is none."""
    bad = np.argwhere(~(np.isin(Y, (0.0, 1.0)) | np.isnan(Y)))
    return (int(bad[0, 0]), int(bad[0, 1])) if len(bad) else (-1, -1)


def count_answers(Y: FloatArray, weights: FloatArray) -> FloatArray:
    """Answers per label in rows of weight above 0; no weights mean 1."""
    learned = Y[weights > 0.0] if len(weights) else Y
    return (~np.isnan(learned)).sum(axis=0).astype(np.float64)
