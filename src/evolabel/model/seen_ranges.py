"""What a model has seen: answers, and ranges of values, made from an initial batch and merged."""

from typing import Annotated

import numpy as np

from evolabel.core.schema import Schema, array, stream_sizes
from evolabel.core.stored_checks import MOST
from evolabel.typing import FloatArray


class SeenArrays:
    """Answers, and ranges of values."""

    n_answers: Annotated[FloatArray, array("label", low=0.0, high=float(MOST))]
    """Answers to each label so far, those of the initial batch included."""
    ranges: Annotated[FloatArray, array(2, 3, "feature", start=-np.inf, low=-np.inf)]
    """Of the negated and the plain values: the border, and the two largest beyond it that wait for others like them."""


SEEN_ARRAYS = Schema(SeenArrays)


def no_ranges(n_features: int) -> FloatArray:
    """Return the ranges (2, 3, n_features) of features without any value."""
    return SEEN_ARRAYS.new(stream_sizes(n_features, 0))["ranges"]


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
