"""Values of raw rows: which are observed, the first bad one, counts of answered labels, and the ranges of values seen.

One pass each, no temporary arrays. A missing value is NaN. Ranges are (2, 3, p): for each feature the border, then the
two largest values of the stream. Side 1 holds values, side 0 their negatives, so that both are borders at the top. A
value of the stream widens the range from its third row on: the border is the larger of that of the initial batch and
the third largest value since.

Values are sorted without allocation; the result depends on the values alone, not on the way.
"""

import numpy as np

from evolabel.engine.compile import inner, kernel
from evolabel.typing import FloatArray, IntArray

MAX_VALUE = 1e100  # squares of larger values may overflow
MARGIN = 0.5  # of the width of a range, beyond which a value is outside


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


@kernel
def are_usable(X: FloatArray, Y: FloatArray) -> bool:
    """Return whether no row of X and no label of Y is bad, as `first_bad_sample` and `first_bad_label` find them."""
    return first_bad_sample(X)[0] < 0 and first_bad_label(Y)[0] < 0


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
def count_seen(X: FloatArray, Y: FloatArray, weights: FloatArray, a: FloatArray, ranges: FloatArray) -> None:
    """Add the answers of Y to a, as `count_answers` does, and the raw rows X to `ranges`."""
    count_answers(Y, weights, a)
    widen_ranges(X, ranges)


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


@inner
def merge_runs(start: int, middle: int, end: int, values: FloatArray, source: IntArray, target: IntArray) -> None:
    """Merge the sorted runs source[start:middle] and source[middle:end] of indices into `values` to `target`."""
    i, j = start, middle
    for place in range(start, end):
        if j >= end or (i < middle and values[source[i]] <= values[source[j]]):
            target[place] = source[i]
            i += 1
        else:
            target[place] = source[j]
            j += 1


@inner
def sort_values(n: int, values: FloatArray, order: IntArray) -> None:
    """Fill order[0] with the indices that sort the first n `values`; equal ones keep their order.

    order[1] is scratch.
    """
    for i in range(n):
        order[0, i] = i
    run, source = 1, 0
    while run < n:
        for start in range(0, n, 2 * run):
            merge_runs(start, min(start + run, n), min(start + 2 * run, n), values, order[source], order[1 - source])
        source = 1 - source
        run *= 2
    if source == 1:
        for i in range(n):
            order[0, i] = order[1, i]
