"""What written rules answer: for each label the first rule that mentions it, holds, and is used; and what they learn.

A rule answers its written share and the labels of its rows together: (prior share + positives) / (prior + rows). Of
classes it answers all: those that it does not mention share the rest in proportion to their outputs without the rule.

A rule learns a label where no rule before it has answered. Its gate compares the squared error of its answer with that
of the output without it, over fading sums. It closes when the rule is worse by `gate_error` standard errors, and opens
again at a third of that. A locked rule still counts its rows, and keeps its answer and its gate.
"""

import numpy as np

from evolabel.engine.compile import inner, kernel
from evolabel.stages.threshold_rules.arrays import HEAVIEST_ROW
from evolabel.stages.threshold_rules.loops.learn import CLOSES_AT, GATE_FADE, NO_SQUARES
from evolabel.stages.written_rules.arrays import MOST_ROWS, Written, WrittenArrays
from evolabel.typing import FloatArray


@inner
def holds(i: int, x: FloatArray, r: WrittenArrays) -> bool:
    """Return whether rule i of `r` holds for the row x; it does not where a feature that it names is missing."""
    for j in range(x.shape[0]):
        if (np.isfinite(r.low[i, j]) or np.isfinite(r.high[i, j])) and not (r.low[i, j] <= x[j] <= r.high[i, j]):
            return False
    return True


@inner
def mentions(i: int, k: int, r: WrittenArrays) -> bool:
    """Return whether rule i of `r` mentions label k."""
    return not np.isnan(r.shares[i, k])


@inner
def gate_of(i: int, k: int, w: Written) -> int:
    """Return the label whose gate decides on label k in rule i of `w`: the first it mentions, of classes; -1: none."""
    r = w.arrays
    if not w.exclusive:
        return k if mentions(i, k, r) else -1
    for c in range(r.shares.shape[1]):
        if mentions(i, c, r):
            return c
    return -1


@inner
def is_used(i: int, k: int, w: Written) -> bool:
    """Return whether rule i of `w` answers for label k where it holds."""
    gate = gate_of(i, k, w)
    return gate >= 0 and w.arrays.closed[i, gate] == 0


@inner
def unit(f: float) -> float:
    """Return the output f cut to [0, 1]; NaN counts as one half."""
    return 0.5 if np.isnan(f) else min(1.0, max(0.0, f))


@inner
def share_of(i: int, k: int, f: float, r: WrittenArrays) -> float:
    """Return what rule i of `r` answers for label k that it mentions; f is the output without it."""
    if not np.isnan(r.held[i, k]):
        return float(r.held[i, k])
    n = r.prior[i] + r.rows[i, k]
    return float((r.prior[i] * r.shares[i, k] + r.positives[i, k]) / n) if n > 0.0 else unit(f)


@inner
def answer_all(i: int, f: FloatArray, w: Written, out: FloatArray) -> None:
    """Fill `out` with what rule i of `w` answers for all labels; f are the outputs without it."""
    r, K = w.arrays, f.shape[0]
    named, others, unnamed = 0.0, 0.0, 0
    for k in range(K):
        if mentions(i, k, r):
            out[k] = share_of(i, k, f[k], r)
            named += out[k]
        else:
            out[k] = f[k]
            others += unit(f[k])
            unnamed += 1
    if w.exclusive and unnamed > 0:
        rest = max(0.0, 1.0 - named)
        for k in range(K):
            if not mentions(i, k, r):
                out[k] = rest * unit(f[k]) / others if others > 0.0 else rest / unnamed


@inner
def put_answer(i: int, w: Written, own: FloatArray, out: FloatArray) -> None:
    """Replace the outputs `out` of a row by the answers `own` of rule i of `w` to the labels for which it is used."""
    for k in range(out.shape[0]):
        if is_used(i, k, w):
            out[k] = own[k]


@kernel
def answer_written(w: Written, X: FloatArray, out: FloatArray) -> None:
    """Replace the outputs `out` for the corrected rows X where a rule of w holds; nothing else changes."""
    own = w.scratch[0]
    for row in range(X.shape[0]):
        for i in range(w.arrays.number.shape[0] - 1, -1, -1):  # the first rule has the last word
            if holds(i, X[row], w.arrays):
                answer_all(i, out[row], w, own)
                put_answer(i, w, own, out[row])


@kernel
def leave_out(w: Written, X: FloatArray, Y: FloatArray) -> None:
    """Replace the labels Y of the corrected rows X by NaN where a rule of w answers: trees do not learn them."""
    for row in range(X.shape[0]):
        for i in range(w.arrays.number.shape[0]):
            if holds(i, X[row], w.arrays):
                for k in range(Y.shape[1]):
                    if is_used(i, k, w):
                        Y[row, k] = np.nan


@inner
def count_row(i: int, k: int, y: float, weight: float, r: WrittenArrays) -> None:
    """Add a row of this `weight` with the label y to the sums of rule i of `r` for label k."""
    n = r.rows[i, k] + weight
    kept = min(1.0, MOST_ROWS / n)
    r.rows[i, k] = kept * n
    r.positives[i, k] = kept * (r.positives[i, k] + weight * y)


@inner
def switch_written_gate(i: int, k: int, gain: float, weight: float, w: Written) -> None:
    """Update the gate of rule i of `w` for label k by the `gain` of a row of this `weight`."""
    r = w.arrays
    r.gain[i, k] = GATE_FADE * r.gain[i, k] + weight * gain
    r.squares[i, k] = GATE_FADE * r.squares[i, k] + weight * gain * gain
    z = r.gain[i, k] / np.sqrt(r.squares[i, k] + NO_SQUARES)
    if z < -w.gate_error:
        r.closed[i, k] = 1
    elif z > -CLOSES_AT * w.gate_error:
        r.closed[i, k] = 0


@inner
def learn_rule(i: int, y: FloatArray, f: FloatArray, own: FloatArray, weights: FloatArray, w: Written) -> None:
    """Learn the labels y of a row by rule i of `w`, which has answered `own`; f are the outputs without it.

    Labels of weight 0 in `weights` are not learned.
    """
    r, total, heaviest, gate = w.arrays, 0.0, 0.0, -1
    for k in range(y.shape[0]):
        if not (weights[k] > 0.0 and gate_of(i, k, w) >= 0):
            continue
        gain = (y[k] - unit(f[k])) ** 2 - (y[k] - own[k]) ** 2
        total += gain
        heaviest = max(heaviest, weights[k])
        gate = gate_of(i, k, w)
        if mentions(i, k, r):
            count_row(i, k, y[k], min(weights[k], HEAVIEST_ROW), r)
            if not w.exclusive and np.isnan(r.held[i, k]):
                switch_written_gate(i, k, gain, min(weights[k], 1.0), w)
    if w.exclusive and gate >= 0 and np.isnan(r.held[i, gate]):
        switch_written_gate(i, gate, total, min(heaviest, 1.0), w)
        for k in range(gate + 1, y.shape[0]):
            if mentions(i, k, r):
                r.gain[i, k], r.squares[i, k] = r.gain[i, gate], r.squares[i, gate]
                r.closed[i, k] = r.closed[i, gate]


@kernel
def learn_written(
    w: Written,
    X: FloatArray,
    Y: FloatArray,
    weights: FloatArray,
    confidences: FloatArray,
    out: FloatArray,
    followed: FloatArray,
) -> None:
    """Replace the outputs `out` for the corrected rows X as `answer_written` does, row by row, and learn its labels Y.

    So are those in `followed` replaced, which may be empty as `weights` and `confidences` may.
    """
    r, n, K = w.arrays, w.arrays.number.shape[0], Y.shape[1]
    own, before, left, first = w.scratch[0], w.scratch[1], w.scratch[2], w.scratch[3]
    for row in range(X.shape[0]):
        x, y = X[row], Y[row]
        if followed.shape[0] > 0:
            answer_written(w, X[row : row + 1], followed[row : row + 1])
        first[:] = n
        for i in range(n - 1, -1, -1):  # the first rule that answers a label; those behind it do not learn it
            if holds(i, x, r):
                for k in range(K):
                    first[k] = i if is_used(i, k, w) else first[k]
        weight = weights[row] if weights.shape[0] > 0 else 1.0
        for i in range(n - 1, -1, -1):
            if not holds(i, x, r):
                continue
            for k in range(K):
                before[k] = out[row, k]
                sure = confidences[row, k] if confidences.shape[0] > 0 else 1.0
                left[k] = 0.0 if np.isnan(y[k]) or i > first[k] else weight * sure
            answer_all(i, before, w, own)
            put_answer(i, w, own, out[row])
            learn_rule(i, y, before, own, left, w)
