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

from evolabel.engine.compile import inlined, kernel
from evolabel.engine.packed_state import declare
from evolabel.typing import FloatArray, IntArray


class Knots(NamedTuple):
    """A scaling as loops take it; see the table on top of this module. Scores are clipped to [low, high]."""

    x: FloatArray
    z: FloatArray
    row: IntArray
    used: IntArray
    slope: FloatArray
    low: float
    high: float


_WHOLE, _NUMBER = np.zeros(1, np.int64), np.zeros(1)
declare(Knots, Knots(_NUMBER[None], _NUMBER[None], _WHOLE, _WHOLE, _NUMBER, 0.0, 0.0))


@inlined
def score_of(knots: Knots, j: int, v: float) -> float:
    """Return the score of the value v of feature j, not clipped; NaN for NaN, 0 for a constant feature."""
    x, z, slope = knots.x, knots.z, knots.slope
    if np.isnan(v):
        return np.nan
    m, k = knots.used[j], knots.row[j]
    if m == 0:
        return 0.0
    if v <= x[j, 0]:
        return float(z[k, 0] - slope[j] * (x[j, 0] - v))
    if v >= x[j, m - 1]:
        return float(z[k, m - 1] + slope[j] * (v - x[j, m - 1]))
    b = 0  # counting beats a binary search: no branch to mispredict
    for knot in range(m):
        b += x[j, knot] <= v
    a = b - 1
    return float(z[k, a] + (z[k, b] - z[k, a]) * ((v - x[j, a]) / (x[j, b] - x[j, a])))


@inlined
def clipped_score(knots: Knots, j: int, v: float) -> float:
    """Return the score of the value v of feature j, clipped to [low, high] of `knots`; NaN for NaN."""
    score = score_of(knots, j, v)
    return score if np.isnan(score) else min(max(score, knots.low), knots.high)


@kernel
def scale_rows(knots: Knots, X: FloatArray, Z: FloatArray) -> None:
    """Fill Z with the scores of the rows X, clipped to [low, high] of `knots`; NaN stays NaN."""
    for i in range(X.shape[0]):
        for j in range(X.shape[1]):
            Z[i, j] = clipped_score(knots, j, X[i, j])
