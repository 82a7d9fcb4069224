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

from evolabel.engine.compile import inlined, inner, kernel
from evolabel.engine.exponential import exp_of_negative
from evolabel.engine.symmetric import dot
from evolabel.stages.drift.arrays import BORN, NEVER, Members
from evolabel.stages.drift.loops.mixer import mix_rows
from evolabel.stages.rules.arrays import PaperArrays, State
from evolabel.stages.rules.loops.answer import answer_rows
from evolabel.stages.rules.loops.structure import novelty_bound
from evolabel.stages.scaling.loops.scale import Knots, scale_rows
from evolabel.stages.sensors.loops.watch import correct_rows
from evolabel.stages.threshold_rules.arrays import Thresholds
from evolabel.stages.threshold_rules.loops.answer import refine_rows
from evolabel.typing import FloatArray, IntArray

SMALLEST_BOUND = 1e-200  # of a distance: keeps 0 / 0 out where the radius is 0

# Criteria; the last two need q, s or t.
AMBIGUITY, SOFT_COUNT, LEVERAGE, VARIANCE_REDUCTION = 0, 1, 2, 3

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
def score_rows(
    state: State,
    paper: PaperArrays | None,
    members: Members | None,
    thresholds: Thresholds | None,
    knots: Knots,
    W: FloatArray,
    moments: tuple[FloatArray, FloatArray, IntArray],
    N: float,
    kinds: IntArray,
    widths: FloatArray,
    scratch: tuple[FloatArray, FloatArray, FloatArray, FloatArray, FloatArray],
    X: FloatArray,
    correction: tuple[FloatArray, FloatArray],
    exploration: FloatArray,
    f: FloatArray,
    scores: FloatArray,
) -> None:
    """Fill f and `scores` for few raw rows X, scaled by `knots`: one call from Python for a query.

    `moments` are M, pending_M and n_pending. The scale (K,) and offset (n, K) of `correction` change the outputs to
    scale f + offset; empty: they stay. The first of the `scratch` arrays, (5, n, C), holds psi, D, q, s and t of the
    rows; the others are Z, the scaled rows, V of `answer_rows`, and for `members` the rows with corrected sensors and
    the outputs of the fast one.
    """
    M, pending_M, n_pending = moments
    scale, offset = correction
    terms, Z, V, rows, fast = scratch
    if members is not None:
        correct_rows(members, X, rows)
    else:
        rows = X
    scale_rows(knots, rows, Z)
    psi, D, q, s, t = terms[0], terms[1], terms[2], terms[3], terms[4]
    q[:] = 0.0
    s[:] = 0.0
    t[:] = 0.0
    with_variance = False
    for c in range(kinds.shape[0]):
        with_variance = with_variance or kinds[c] >= LEVERAGE
    if members is not None:
        formed = W.shape[0] > 0
        if not formed and members.arrays.clock[BORN] != NEVER:
            answer_rows(members.fast, paper, Z, W, M, pending_M, n_pending, fast, psi, D, q[:0], s, t, V)
        answer_rows(state, paper, Z, W, M, pending_M, n_pending, f, psi, D, q if with_variance else q[:0], s, t, V)
        mix_rows(members, rows, fast, formed, f)
    else:
        answer_rows(state, paper, Z, W, M, pending_M, n_pending, f, psi, D, q if with_variance else q[:0], s, t, V)
    if thresholds is not None:
        refine_rows(thresholds, rows, f)
    for i in range(offset.shape[0]):
        for j in range(offset.shape[1]):
            f[i, j] = scale[j] * f[i, j] + offset[i, j]
    criterion_rows(f, psi, q, t, N, kinds, widths, exploration, scores)


@kernel
def novelty_rows(state: State, D: FloatArray, radius: float, out: FloatArray) -> None:
    """Fill `out` with d / bound: d the least of the distances D, bound that of a new rule, by `radius`.

    Where the bound is inf, it is d / (1 + d).
    """
    rules, settings = state.rules, state.settings
    for i in range(D.shape[0]):
        w = np.argmin(D[i])
        d = D[i, w]
        bound = novelty_bound(rules.k[w + 1], D.shape[1], rules.winner_stats, radius, settings)
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
