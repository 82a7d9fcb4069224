"""What written rules answer: for each label the first rule that mentions it, holds, and is used.

A rule answers its written share and the labels of its rows together: (prior share + positives) / (prior + rows). Of
classes it answers all: those that it does not mention share the rest in proportion to their outputs without the rule.
"""

import numpy as np

from evolabel.engine.compile import inner, kernel
from evolabel.stages.written_rules.arrays import Written, WrittenArrays
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
def has_say(i: int, k: int, w: Written) -> bool:
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
        if has_say(i, k, w):
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
                    if has_say(i, k, w):
                        Y[row, k] = np.nan
