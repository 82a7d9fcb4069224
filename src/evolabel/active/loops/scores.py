"""Scores of rows by the selection criteria, from the variance terms of `stages.rules.loops.answer`.

| symbol      | array  | meaning                                                                            |
|-------------|--------|------------------------------------------------------------------------------------|
| f           | (n, K) | outputs, eq. (2)                                                                   |
| exploration | (n, K) | how far ambiguity draws f towards 0.5, in [0, 1]; empty: not at all                |
| psi         | (n, C) | normalised memberships, eq. (2)                                                    |
| D           | (n, C) | mean squared distances in the input space                                          |
| q, s, t     | (n, C) | r'u, u'u and u'M u with u = P r                                                    |
| kinds       | (c,)   | kind of each criterion: AMBIGUITY, SOFT_COUNT, LEVERAGE or VARIANCE_REDUCTION      |
| widths      | (c,)   | of soft counts; NaN for other criteria                                             |
| N           |        | weight of all rows in M                                                            |
| scores      | (n, w) | of one criterion: w = K where it scores label by label, else 1; or of all of them  |
| parts       | (n, w) | products of the scores of all criteria, each to its power                          |
"""

import numpy as np

from evolabel.engine.compile import allocating_kernel, inlined, inner, kernel
from evolabel.engine.lanes import exp_of_negative
from evolabel.engine.symmetric import dot
from evolabel.stages.rules.arrays import State
from evolabel.typing import AnyArray, FloatArray, IntArray

SMALLEST_BOUND = 1e-200  # of a distance: keeps 0 / 0 out where the radius is 0

# Criteria; the last two need q, s or t.
AMBIGUITY, SOFT_COUNT, LEVERAGE, VARIANCE_REDUCTION = 0, 1, 2, 3

_ODD, _FIRST, _SECOND = (np.uint64(number) for number in (0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB))
_HIGH, _MIDDLE, _LOW, _SPARE = (np.uint64(bits) for bits in (30, 27, 31, 11))

FLOOR = 0.01  # ambiguity of a sure label: the products with other criteria still differ for such labels


@inlined
def ambiguity(f: float, doubt: float) -> float:
    """Return the variance f (1 - f) of an answer, with f shrunk towards 0.5 by `doubt`, plus a floor."""
    v = min(max(f, 0.0), 1.0)
    v += doubt * (0.5 - v)
    return v * (1.0 - v) + FLOOR


@inlined
def soft_count(f: FloatArray, width: float) -> float:
    """Return the sum over labels of exp(-(f - 0.5)^2 / (2 width^2)), a soft number of ambiguous labels."""
    total = 0.0
    for j in range(f.shape[0]):
        e = (f[j] - 0.5) / width
        total += exp_of_negative(-0.5 * e * e)
    return total


@inlined
def leverage(psi: FloatArray, q: FloatArray) -> float:
    """Return the sum of psi_i h_i, h_i = psi_i q_i / (1 + psi_i q_i): the share of q_i that learning would remove."""
    total = 0.0
    for a in range(psi.shape[0]):
        gain = psi[a] * q[a]
        total += psi[a] * gain / (1.0 + gain)
    return total


@inlined
def variance_reduction(psi: FloatArray, q: FloatArray, t: FloatArray, N: float) -> float:
    """Return the sum of psi_i u'M_i u / (1 + psi_i q_i), over N: the decrease of the mean variance at the rows of M."""
    total = 0.0
    for a in range(psi.shape[0]):
        total += psi[a] * t[a] / (1.0 + psi[a] * q[a])
    return total / N


@kernel
def criterion_rows(
    f: FloatArray,
    psi: FloatArray,
    q: FloatArray,
    t: FloatArray,
    N: float,
    kinds: IntArray,
    widths: FloatArray,
    exploration: FloatArray,
    scores: FloatArray,
) -> None:
    """Fill `scores` with those of all criteria, side by side: K columns for AMBIGUITY, one for each of the others."""
    for i in range(f.shape[0]):
        at = 0
        for c in range(kinds.shape[0]):
            if kinds[c] == AMBIGUITY:
                for j in range(f.shape[1]):
                    scores[i, at + j] = ambiguity(f[i, j], exploration[i, j] if exploration.size > 0 else 0.0)
                at += f.shape[1]
                continue
            if kinds[c] == SOFT_COUNT:
                scores[i, at] = soft_count(f[i], widths[c])
            elif kinds[c] == LEVERAGE:
                scores[i, at] = leverage(psi[i], q[i])
            else:
                scores[i, at] = variance_reduction(psi[i], q[i], t[i], N)
            at += 1


@kernel
def novelty_rows(bounds: FloatArray, D: FloatArray, out: FloatArray) -> None:
    """Fill `out` with d / bound: d the least of the distances D, bound that of the nearest rule in `bounds`, (C,).

    Where the bound is inf, it is d / (1 + d).
    """
    for i in range(D.shape[0]):
        w = np.argmin(D[i])
        d = D[i, w]
        bound = bounds[w]
        out[i] = d / max(bound, SMALLEST_BOUND) if bound < np.inf else d / (1.0 + d)


@inner
def trace(P: FloatArray, pending: FloatArray, b: int) -> float:
    """Return the trace of P, from which the squares of its first b `pending` rows are subtracted."""
    total = 0.0
    for j in range(P.shape[0]):
        total += P[j, j]
    for k in range(b):
        total -= dot(pending[k], pending[k])
    return total


@kernel
def trace_drop_rows(
    state: State, psi: FloatArray, q: FloatArray, s: FloatArray, traces: FloatArray, out: FloatArray
) -> None:
    """Fill `out` with the largest relative decrease of trace(P_i), psi s / (1 + psi q) / trace(P_i), eq. (32).

    `traces` is scratch, and must be zeros before.
    """
    rules = state.rules
    for i in range(psi.shape[0]):
        out[i] = 0.0
        for a in range(psi.shape[1]):
            if psi[i, a] > 0.0:
                if traces[a] == 0.0:  # computed when it is needed first
                    traces[a] = trace(rules.P[a + 1], rules.pending_P[a + 1], rules.n_pending[a + 1])
                out[i] = max(out[i], psi[i, a] * s[i, a] / (1.0 + psi[i, a] * q[i, a]) / traces[a])


@inlined
def power(v: float, exponent: float) -> float:
    """Return v to the `exponent`, which mostly is 1."""
    return v if exponent == 1.0 else v**exponent


@kernel
def combine_rows(scores: FloatArray, sizes: IntArray, powers: FloatArray, parts: FloatArray) -> None:
    """Fill `parts` with the products of the `scores` of all criteria, each to its power; `sizes`: columns of each.

    If the width of a criterion is not that of `parts`, its best score is used for every column.
    """
    width = parts.shape[1]
    for i in range(parts.shape[0]):
        at = 0
        parts[i] = 1.0
        for c in range(sizes.shape[0]):
            if sizes[c] == width:
                for j in range(width):
                    parts[i, j] *= power(scores[i, at + j], powers[c])
            else:
                best = scores[i, at]
                for j in range(1, sizes[c]):
                    best = max(best, scores[i, at + j])
                factor = power(best, powers[c])
                for j in range(width):
                    parts[i, j] *= factor
            at += sizes[c]


@allocating_kernel
def uniform_of(numbers: AnyArray) -> AnyArray:
    """Return a number in [0, 1) for each of these `numbers`: a bijective hash of 64 bits, uniform over a stream."""
    x = numbers * _ODD  # arrays of whole numbers overflow without a warning
    x = (x ^ (x >> _HIGH)) * _FIRST
    x = (x ^ (x >> _MIDDLE)) * _SECOND
    return ((x ^ (x >> _LOW)) >> _SPARE) * 2.0**-53
