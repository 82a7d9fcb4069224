"""Monotone piecewise linear scaling of raw features.

| array | shape  | meaning                                                    |
|-------|--------|------------------------------------------------------------|
| x     | (p, m) | knots in the units of the feature, rising                  |
| z     | (s, m) | scores at the knots; features without ties share a row     |
| row   | (p,)   | the feature's row of z                                     |
| used  | (p,)   | how many knots the feature has; 0: constant, always scores 0 |
| slope | (p,)   | slope beyond the outermost knots                           |
"""

from typing import NamedTuple

import numpy as np

from evolabel.kernels.compile import kernel
from evolabel.kernels.packed_state import declare
from evolabel.typing import FloatArray, IntArray


class Knots(NamedTuple):
    """A scaling as kernels take it; see the table on top of this module. Scores are clipped to [low, high]."""

    x: FloatArray
    z: FloatArray
    row: IntArray
    used: IntArray
    slope: FloatArray
    low: float
    high: float


_WHOLE, _NUMBER = np.zeros(1, np.int64), np.zeros(1)
declare(Knots, Knots(_NUMBER[None], _NUMBER[None], _WHOLE, _WHOLE, _NUMBER, 0.0, 0.0))


@kernel
def scale_rows(knots: Knots, X: FloatArray, Z: FloatArray) -> None:
    """Fill Z with the scores of the rows X, clipped to [low, high] of `knots`; NaN stays NaN."""
    x, z, row, used, slope = knots.x, knots.z, knots.row, knots.used, knots.slope
    low, high = knots.low, knots.high
    rows, p = X.shape
    for i in range(rows):
        for j in range(p):
            v = X[i, j]
            if np.isnan(v):
                Z[i, j] = np.nan
                continue
            m, k = used[j], row[j]
            if m == 0:
                Z[i, j] = 0.0
                continue
            if v <= x[j, 0]:
                score = z[k, 0] - slope[j] * (x[j, 0] - v)
            elif v >= x[j, m - 1]:
                score = z[k, m - 1] + slope[j] * (v - x[j, m - 1])
            else:
                b = 0  # counting beats a binary search: no branch to mispredict
                for knot in range(m):
                    b += x[j, knot] <= v
                a = b - 1
                score = z[k, a] + (z[k, b] - z[k, a]) * ((v - x[j, a]) / (x[j, b] - x[j, a]))
            Z[i, j] = min(max(score, low), high)
