"""The linear member: online logistic regression on standard scores of the raw features.

| symbol | array  | meaning                                                                     |
|--------|--------|-----------------------------------------------------------------------------|
| x      | (p,)   | raw features, NaN where missing                                             |
| s      | (q,)   | standard scores of x, cut at `FURTHEST_SCORE`, then 1; 0 where x is missing |
| W      | (K, q) | weights                                                                     |
| f      | (K,)   | 1 / (1 + exp(-W s))                                                         |

The scores follow the running mean and variance of each feature, so that this member sees the inputs otherwise than the
rules do, whose scaling is that of the initial batch.
"""

import numpy as np

from evolabel.engine.compile import inner
from evolabel.engine.lanes import exp_of_negative
from evolabel.engine.symmetric import add_product, add_scaled, dot
from evolabel.engine.values import MAX_VALUE
from evolabel.stages.drift.arrays import SCORE_MEMORY
from evolabel.typing import FloatArray

FURTHEST_SCORE = 4.0  # standard deviations
STEP = 0.05  # eta, the length of a step
CURVATURE = 0.25  # largest second derivative of the logistic loss: bounds the step
CONSTANT_UP_TO = 1e-16  # variance, in units of the squared mean, up to which a feature counts as constant
_TINY = 1e-300
FURTHEST_LEARNED = 20.0  # standard deviations; values further away count as there: one wild reading spoils nothing
LEARNED_FROM = 30.0  # summed weight of rows below which nothing is cut: the deviation is not known yet


@inner
def varies(mean: float, variance: float) -> bool:
    """Return whether a feature of this `mean` and `variance` is not constant."""
    return bool(variance > CONSTANT_UP_TO * mean * mean + _TINY)


@inner
def fill_scores(x: FloatArray, mean: FloatArray, variance: FloatArray, s: FloatArray) -> None:
    """Fill s with the standard scores of x, cut at `FURTHEST_SCORE`, and 1; a constant or missing feature scores 0."""
    p = x.shape[0]
    for j in range(p):
        s[j] = 0.0
        if x[j] == x[j] and varies(mean[j], variance[j]):
            s[j] = min(max((x[j] - mean[j]) / np.sqrt(variance[j]), -FURTHEST_SCORE), FURTHEST_SCORE)
    s[p] = 1.0


@inner
def logistic(o: float) -> float:
    """Return 1 / (1 + exp(-o)), by an exponential of a number that is not positive."""
    e = exp_of_negative(-abs(o))
    return 1.0 / (1.0 + e) if o >= 0.0 else e / (1.0 + e)


@inner
def answer_linear(W: FloatArray, s: FloatArray, f: FloatArray) -> None:
    """Fill f with the outputs for the scores s."""
    f[:] = 0.0
    add_product(W, s, 1.0, f)
    for b in range(f.shape[0]):
        f[b] = logistic(f[b])


@inner
def learn_linear(
    y: FloatArray, weight: float, confidence: FloatArray, s: FloatArray, f: FloatArray, W: FloatArray
) -> None:
    """Add to W one step towards the labels y of scores s, whose outputs were f; labels of confidence 0 are skipped.

    The step STEP g / (1 + STEP g |s|^2 / 4) of a label of weight g is shorter where the scores are long, so that no row
    overshoots.
    """
    length = dot(s, s)
    for b in range(y.shape[0]):
        g = STEP * weight * confidence[b]
        if g > 0.0:
            add_scaled(g / (1.0 + CURVATURE * g * length) * (y[b] - f[b]), s, W[b])


@inner
def learn_scores(x: FloatArray, weight: float, mean: FloatArray, variance: FloatArray, n_read: FloatArray) -> None:
    """Update mean, variance and n_read by the row x of this `weight`; missing features change nothing."""
    for j in range(x.shape[0]):
        if x[j] == x[j]:
            n_read[j] = min(n_read[j] + weight, max(SCORE_MEMORY, weight))
            step = weight / n_read[j]
            e = min(max(x[j], -MAX_VALUE), MAX_VALUE) - mean[j]
            if n_read[j] >= LEARNED_FROM and varies(mean[j], variance[j]):
                furthest = FURTHEST_LEARNED * np.sqrt(variance[j])
                e = min(max(e, -furthest), furthest)
            mean[j] += step * e
            variance[j] = (1.0 - step) * (variance[j] + step * e * e)
