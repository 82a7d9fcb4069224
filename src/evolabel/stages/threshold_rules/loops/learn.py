"""Learning rows: each tree answers, then its sums, gains, alarm and gate are updated, and the ring takes the row.

The gate of a tree takes the pace of its answers (`core.loops.pace`), its alarms count independent ones. Sums of nodes,
gains of subtrees, waiting times and the ring count rows.
"""

import numpy as np

from evolabel.core.loops.pace import count_answer, independent, pace_of
from evolabel.engine.compile import inner, kernel
from evolabel.stages.threshold_rules.arrays import (
    HEAVIEST_ROW,
    IS_OPEN,
    LEARNED,
    SINCE_TRIAL,
    SUBTREE_COUNT,
    SUBTREE_GAIN,
    SUBTREE_SQUARES,
    SUM_1,
    SUM_F,
    SUM_FF,
    SUM_FY,
    SUM_Y,
    ThresholdArrays,
    Thresholds,
)
from evolabel.stages.threshold_rules.loops.answer import (
    cut_output,
    goes_left,
    is_grown,
    leaf_of,
    mean_label,
    replace_output,
    tree_answer,
)
from evolabel.stages.threshold_rules.loops.drift import watch_tree
from evolabel.stages.threshold_rules.loops.gate import GATE_FADE, learn_gate, learn_shared_gate, mixed
from evolabel.stages.threshold_rules.loops.ring import keep_row
from evolabel.typing import FloatArray

MEMORY = 2000.0  # rows of a node over which its sums fade
EVERY = 50  # labelled rows between two turns of maintenance


@inner
def add_to_sums(s: FloatArray, f: float, y: float, w: float) -> None:
    """Add a row of weight w with the output f and the label y to the sums s of a node."""
    s[SUM_1] += w
    s[SUM_F] += w * f
    s[SUM_FF] += w * f * f
    s[SUM_Y] += w * y
    s[SUM_FY] += w * f * y


@inner
def learn_path(k: int, x: FloatArray, f: float, y: float, w: float, t: ThresholdArrays) -> None:
    """Update the nodes of tree k of `t` that the row x reaches by its output f and its label y of weight w."""
    answer = mean_label(k, leaf_of(k, 0, x, t), t)
    a = 0
    while True:
        v = t.visits[k, a]
        v[SINCE_TRIAL] += 1.0
        inside = t.feature[k, a] >= 0
        if inside:
            gain = (y - mean_label(k, a, t)) ** 2 - (y - answer) ** 2
            v[SUBTREE_GAIN] = GATE_FADE * v[SUBTREE_GAIN] + w * gain
            v[SUBTREE_SQUARES] = GATE_FADE * v[SUBTREE_SQUARES] + w * gain * gain
            v[SUBTREE_COUNT] = GATE_FADE * v[SUBTREE_COUNT] + 1.0
        s = t.sums[k, a]
        for i in range(s.shape[0]):
            s[i] *= 1.0 - 1.0 / MEMORY
        add_to_sums(s, f, y, w)
        if not inside:
            return
        a = t.child[k, a] + (0 if goes_left(x[t.feature[k, a]], t.edge[k, a]) else 1)


@inner
def learn_label(
    k: int, x: FloatArray, y: float, f: float, g: float, w: float, margin: float, thresholds: Thresholds
) -> float:
    """Learn the label y of weight w with the tree k, which has answered g; return its gain over the output f.

    `margin` is that of its alarm.
    """
    t, gain = thresholds.arrays, 0.0
    once = min(w, 1.0)  # in alarms and gates one row is one answer
    count_answer(t.persistence[k], y)
    n_eff = independent(t.persistence[k])
    pace = pace_of(n_eff)
    if is_grown(k, t):
        watch_tree(k, y, (y - g) ** 2, once, n_eff, margin, t)
        gain = learn_gate(k, y, f, g, once, pace, thresholds)
    learn_path(k, x, f, y, min(w, HEAVIEST_ROW), t)
    return gain


@inner
def answer_row(x: FloatArray, f: FloatArray, out: FloatArray, thresholds: Thresholds) -> None:
    """Fill `out` of the work space of `thresholds` with the answers of all trees to the row x, and refine `out`.

    f is `out` before, cut.
    """
    t, g = thresholds.arrays, thresholds.work.out
    for k in range(f.shape[0]):
        g[k] = f[k]
        if k >= thresholds.first and is_grown(k, t):
            g[k] = tree_answer(k, x, f[k], thresholds)
            if t.gate[k, IS_OPEN] > 0.0:
                replace_output(k, f[k], g[k], out, thresholds)


@kernel
def learn_refined(
    thresholds: Thresholds,
    X: FloatArray,
    Y: FloatArray,
    weights: FloatArray,
    confidences: FloatArray,
    out: FloatArray,
    scratch: FloatArray,
) -> bool:
    """Refine the outputs `out` of the members for the rows X, each before it is learned with its labels Y.

    `weights` and `confidences` may be empty. A row without an annotated label, or of weight 0, is only answered.
    `scratch` is (3, K). Return whether a turn of maintenance is due after these rows; callers pass no more rows than
    are missing until then.
    """
    t, due = thresholds.arrays, False
    margin = np.sqrt(2.0 * np.log(t.feature.shape[0] + 1.0))
    f, w, before = scratch[0], scratch[1], scratch[2]
    for i in range(X.shape[0]):
        x, y = X[i], Y[i]
        weight, labelled = weights[i] if weights.shape[0] > 0 else 1.0, False
        for k in range(Y.shape[1]):
            f[k] = cut_output(out[i, k])
            sure = confidences[i, k] if confidences.shape[0] > 0 else 1.0
            w[k] = 0.0 if np.isnan(y[k]) else weight * sure
            labelled = labelled or w[k] > 0.0
        answer_row(x, f, out[i], thresholds)
        if not labelled:
            continue
        g, total = thresholds.work.out, 0.0
        for k in range(thresholds.first, Y.shape[1]):
            before[k] = mixed(t.gate[k], f[k], g[k]) if is_grown(k, t) else f[k]
            if w[k] > 0.0:
                total += learn_label(k, x, y[k], f[k], g[k], w[k], margin, thresholds)
        if thresholds.exclusive and thresholds.first == 0:
            learn_shared_gate(y, f, w, before, total, thresholds)
        for k in range(Y.shape[1]):
            w[k] = min(w[k], HEAVIEST_ROW)
        keep_row(x, y, f, w, t)
        t.clock[LEARNED] += 1
        due = bool(t.clock[LEARNED] % EVERY == 0)
    return due
