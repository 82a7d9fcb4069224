"""Decision thresholds that maximise the F1 of each label, from counts of outputs that were computed before learning.

| symbol | array  | meaning                                                                            |
|--------|--------|------------------------------------------------------------------------------------|
| f      | (K,)   | outputs of a sample, from before it was learned                                    |
| seen   | (L, B) | annotated samples by output, B bins over [0, 1]; L = K, or 1 if labels share a cut |
| on     | (L, B) | those of them that carry the label                                                 |
| F      |        | F1 = 2 hits / (predicted + true) if outputs from a bin upwards are predicted as 1  |
"""

import numpy as np

from evolabel.engine.compile import inner, kernel
from evolabel.typing import FloatArray

PRIOR_SAMPLES = 10.0  # samples per bin by which its share is shrunk towards its middle
UNDECIDED = 0.5  # the threshold where nothing was counted


@inner
def expected_on(seen: float, on: float, b: int, bins: int) -> float:
    """Return the expected samples of bin b with the label: its share is shrunk towards the middle of the bin."""
    return seen * (on + PRIOR_SAMPLES * (b + 0.5) / bins) / (seen + PRIOR_SAMPLES)


@inner
def best_cut(seen: FloatArray, on: FloatArray) -> tuple[float, float]:
    """Return the edge from which on to predict 1 for the largest F, and that F; without counts `UNDECIDED` and 0."""
    bins = seen.shape[0]
    true = 0.0
    for b in range(bins):
        true += expected_on(seen[b], on[b], b, bins)
    edge, best, hits, predicted = UNDECIDED, 0.0, 0.0, 0.0
    for b in range(bins - 1, -1, -1):
        hits += expected_on(seen[b], on[b], b, bins)
        predicted += seen[b]
        F = 2.0 * hits / (predicted + true) if hits > 0.0 else 0.0
        if hits > 0.0 and best <= F:  # of equal F the lowest edge
            edge, best = b / bins, F
    return edge, best


@inner
def count_output(f: float, y: float, w: float, seen: FloatArray, on: FloatArray) -> None:
    """Count an output f of weight w for the label y."""
    bins = seen.shape[0]
    b = 0 if f <= 0.0 else (bins - 1 if f >= 1.0 else int(f * bins))
    seen[b] += w
    on[b] += w * y


@kernel
def count_rows(
    out: FloatArray,
    Y: FloatArray,
    weights: FloatArray,
    confidences: FloatArray,
    seen: FloatArray,
    on: FloatArray,
    limits: FloatArray,
) -> None:
    """Count the outputs `out` row by row; `limits`, if it has rows, receives the thresholds from before each row.

    A threshold is the mean of two estimates: the best cut, and half the F it reaches, which is the best cut of
    calibrated outputs. `weights` and `confidences` may be empty; a label that is NaN is not counted.
    """
    L = seen.shape[0]
    for i in range(Y.shape[0]):
        if limits.shape[0] > 0:
            for a in range(L):
                edge, best = best_cut(seen[a], on[a])
                # a::L is one label where L = K, and all labels where L = 1
                limits[i, a::L] = 0.5 * (edge + 0.5 * best) if best > 0.0 else edge
        for k in range(Y.shape[1]):
            w = weights[i] if weights.shape[0] > 0 else 1.0
            if confidences.shape[0] > 0:
                w *= confidences[i, k]
            if w > 0.0 and not np.isnan(Y[i, k]):
                count_output(out[i, k], Y[i, k], w, seen[k % L], on[k % L])
