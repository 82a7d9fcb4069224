"""Features that only rise or only fall: elapsed time and counters never return to their usual values."""

import numpy as np

from evolabel.stages.sensors.loops.watch import COLLECTED_ROWS
from evolabel.typing import BoolArray, FloatArray

_STEADY = 0.05  # of the range of a feature: rows that come a little late do not make it fall


def steady_features(X: FloatArray) -> BoolArray:
    """Return which features only rise, or only fall, in the initial rows `X`, (p,), although no sensor has moved."""
    return _rises(X) | _rises(-X)


def _rises(X: FloatArray) -> BoolArray:
    """Return which columns of `X` never fall by more than `_STEADY` of their range, and have enough known values."""
    known = ~np.isnan(X)
    low, high = np.min(X, axis=0, where=known, initial=np.inf), np.max(X, axis=0, where=known, initial=-np.inf)
    peak = np.maximum.accumulate(np.where(known, X, -np.inf), axis=0)
    fall = np.where(known, peak - np.where(known, X, 0.0), 0.0).max(axis=0)
    return np.asarray((known.sum(axis=0) >= COLLECTED_ROWS) & (low < high) & (fall <= _STEADY * (high - low)))
