"""Ranges of the values a model has seen: made from an initial batch, merged, and kept while features come and go."""

import numpy as np

from evolabel.typing import FloatArray, IntArray


def no_ranges(n_features: int) -> FloatArray:
    """Return the ranges (2, 3, n_features) of features without any value."""
    return np.full((2, 3, n_features), -np.inf)


def batch_ranges(X: FloatArray) -> FloatArray:
    """Return the ranges of an initial batch with the raw rows `X`; no value waits for others like it."""
    ranges = no_ranges(X.shape[1])
    ranges[:, 0] = np.fmax.reduce(np.stack([-X, X], axis=1), axis=0, initial=-np.inf)
    return ranges


def merged_ranges(mine: FloatArray, theirs: FloatArray) -> FloatArray:
    """Return the ranges of both streams: the outer borders, and the waiting values of `mine` and `theirs` together."""
    waiting = np.sort(np.concatenate([mine[:, 1:], theirs[:, 1:]], axis=1), axis=1)
    border = np.maximum(np.maximum(mine[:, 0], theirs[:, 0]), waiting[:, 1])
    return np.stack([border, waiting[:, 3], waiting[:, 2]], axis=1)


def without_waiting(ranges: FloatArray) -> FloatArray:
    """Return the same borders without the values of the stream beyond them, for a twin that has learned nothing."""
    empty = no_ranges(ranges.shape[2])
    empty[:, 0] = ranges[:, 0]
    return empty


def moved_ranges(ranges: FloatArray, kept: IntArray, n_features: int) -> FloatArray:
    """Return the ranges of the features `kept`, then of new ones up to `n_features`."""
    moved = no_ranges(n_features)
    moved[:, :, : len(kept)] = ranges[:, :, kept]
    return moved
