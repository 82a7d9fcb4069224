"""Ranges of values seen, (2, 3, p): for each feature the border, then the two largest values of the stream.

Side 1 holds values, side 0 their negatives, so that both are borders at the top. A value of the stream widens the range
from its third row on: the border is the larger of that of the initial batch and the third largest value since.
"""

import numpy as np

from evolabel.engine.compile import kernel
from evolabel.typing import FloatArray

MARGIN = 0.5  # of the width of a range, beyond which a value is outside


@kernel
def widen_ranges(X: FloatArray, ranges: FloatArray) -> None:
    """Add the raw rows `X`, (n, p), to `ranges`; NaN is skipped."""
    for i in range(X.shape[0]):
        for j in range(X.shape[1]):
            if np.isnan(X[i, j]):
                continue
            for side in range(2):
                value = X[i, j] if side == 1 else -X[i, j]
                if value > ranges[side, 2, j]:
                    third = ranges[side, 2, j]
                    if value > ranges[side, 1, j]:
                        ranges[side, 2, j] = ranges[side, 1, j]
                        ranges[side, 1, j] = value
                    else:
                        ranges[side, 2, j] = value
                    value = third
                ranges[side, 0, j] = max(ranges[side, 0, j], value)


@kernel
def first_outside(x: FloatArray, ranges: FloatArray, start: int) -> int:
    """Return the first feature from `start` on whose value in `x`, (p,), is outside its range by `MARGIN`, else -1."""
    for j in range(start, x.shape[0]):
        low, high = -ranges[0, 0, j], ranges[1, 0, j]
        if low <= high:
            reach = MARGIN * (high - low)
            if x[j] > high + reach or x[j] < low - reach:
                return j
    return -1
