"""Learning rows: each tree answers, then its sums, gains, alarm and gate are updated, and the ring takes the row.

The gate of a tree decides how far its answer g replaces the output f of the members, and whether at all. w is the
least-squares weight of g - f over fading sums, cut to [0, 1]. The gate opens when the squared error is smaller beyond
doubt, by `gate_error` standard errors, and decisions at 0.5 are not worse: won minus lost is at least one standard
error, or none has changed. It also opens when both, the error and the decisions, are better by `SOONER` times
`gate_error` squared, at least `LEAST_SOONER`: with many labels one of them soon seems better. A label with fewer than
`RARE_SHARE` of positives has few rows that could show more: half of it is enough, but at least one standard error. It
closes at a third of `gate_error`, or when decisions get worse. Squared error alone would let a calibrated tree replace
members that decide better. Classes share one gate: a mixture of sharp and flat outputs would spoil the choice of the
largest.

When the alarm of a tree is raised, because its label drifts, most of its sums are forgotten at once, and trials and
edges use the rows around the alarm and later ones. `against` has the odds that the label is the opposite of what the
tree answers, multiplied answer by answer: the probability of the answer if it is, divided by that if the tree is right
or by one half, by what is larger. So a label that has changed in part seldom reverses its tree. If the odds exceed
`ENOUGH_AGAINST` while the alarm is raised, the leaves answer the opposite from then on. Without reversal they would
answer wrongly until new rows outweigh what is left of the old ones. Odds above `RAISING_AGAINST` raise the alarm: where
few labels are asked for, most answers are about uncertain outputs, and the mean loss hardly moves.

The gate takes the pace of the answers (`core.pace`), so that one run of them neither opens nor closes it; alarms
count independent answers. Sums of nodes, gains of subtrees, waiting times and the ring count rows.
"""

import numpy as np

from evolabel.core.pace import N_ANSWERS, count_answer, independent, pace_of
from evolabel.engine.compile import inner, kernel
from evolabel.stages.drift.loops.alarm import (
    AFTER_BATCH,
    BY_MEAN,
    IS_RAISED,
    LEAST_ERROR,
    RAISED,
    RAISED_AT,
    are_found,
    forget_usual,
    next_odds,
    raise_alarm,
    recount,
    watch,
    watch_positives,
)
from evolabel.stages.threshold_rules.arrays import (
    CHANGED_DECISIONS,
    GAIN,
    GAIN_SQUARES,
    GAP_SQUARES,
    HEAVIEST_ROW,
    IS_OPEN,
    LEARNED,
    MOST_AGAINST,
    PRODUCT,
    SINCE_TRIAL,
    SUBTREE_COUNT,
    SUBTREE_GAIN,
    SUBTREE_SQUARES,
    SUM_1,
    SUM_F,
    SUM_FF,
    SUM_FY,
    SUM_Y,
    TO_WAIT,
    TREE_WEIGHT,
    WON,
    TreeArrays,
    Trees,
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
from evolabel.stages.threshold_rules.loops.ring import RARE_SHARE, keep_row
from evolabel.typing import FloatArray

GATE_FADE = 0.999  # of the sums of a gate and of the gains of subtrees, per row
LEAST_TREE_WEIGHT = 0.25  # weight of g at which a tree that is not used yet is tried
NO_SQUARES = 0.05  # added under the root, so that a few rows do not open a gate
NO_DECISIONS = 1.0
LEAST_SPREAD = 0.5
LEAST_WON = 1.0  # standard errors of decisions won minus lost
MOST_LOST = -0.5
SOONER = 0.24  # times gate_error^2: standard errors at which it opens where decisions won reach as many
LEAST_SOONER = 1.5  # standard errors, at least
CLOSES_AT = 1.0 / 3.0  # of the standard errors at which it opens


@inner
def gate_fade(pace: float) -> float:
    """Return the factor on the sums of a gate for a row with which the time `pace` passes; `GATE_FADE` for 1."""
    return 1.0 - (1.0 - GATE_FADE) * pace if pace < 1.0 else GATE_FADE


@inner
def sooner_error(share: float, gate_error: float) -> float:
    """Return the standard errors at which a gate opens if decisions won reach as many, for a `share` of positives."""
    sooner = max(LEAST_SOONER, SOONER * gate_error * gate_error)
    return max(1.0, 0.5 * sooner) if share < RARE_SHARE else sooner


@inner
def switch_gate(
    m: FloatArray, gain: float, won: float, weight: float, pace: float, gate_error: float, sooner: float
) -> None:
    """Update the gate m by the `gain` in squared error of a row of this `weight` and by decisions `won`; -1: lost.

    `pace` is the time that passes with the row, `sooner` that of `sooner_error`.
    """
    fade = gate_fade(pace)
    weight *= pace
    m[GAIN] = fade * m[GAIN] + weight * gain
    m[GAIN_SQUARES] = fade * m[GAIN_SQUARES] + weight * gain * gain
    m[WON] = fade * m[WON] + weight * won
    m[CHANGED_DECISIONS] = fade * m[CHANGED_DECISIONS] + weight * abs(won)
    z = m[GAIN] / np.sqrt(m[GAIN_SQUARES] + NO_SQUARES)
    decisions = m[WON] / np.sqrt(m[CHANGED_DECISIONS] + NO_DECISIONS)
    beyond_doubt = z > gate_error and (decisions >= LEAST_WON or m[CHANGED_DECISIONS] < 0.5)
    if beyond_doubt or (z > sooner and decisions >= sooner):
        m[IS_OPEN] = 1.0
    elif z < CLOSES_AT * gate_error or decisions < MOST_LOST:
        m[IS_OPEN] = 0.0


@inner
def learn_tree_weight(m: FloatArray, f: float, g: float, y: float, weight: float, pace: float) -> None:
    """Update the weight of g in the gate m by the label y of a row of this `weight`.

    `pace` is the time that passes with the row.
    """
    fade = gate_fade(pace)
    weight *= pace
    m[PRODUCT] = fade * m[PRODUCT] + weight * (g - f) * (y - f)
    m[GAP_SQUARES] = fade * m[GAP_SQUARES] + weight * (g - f) * (g - f)
    m[TREE_WEIGHT] = min(1.0, max(0.0, m[PRODUCT] / (m[GAP_SQUARES] + LEAST_SPREAD)))


@inner
def mixed(m: FloatArray, f: float, g: float) -> float:
    """Return the output that the gate m would give, were it open."""
    e = min(1.0, max(0.0, f))
    return float(e + max(LEAST_TREE_WEIGHT, m[TREE_WEIGHT]) * (g - e))


@inner
def is_wrong(output: float, y: float) -> float:
    """Return 1 if the decision at 0.5 by `output` differs from the label y, else 0."""
    return 1.0 if (output >= 0.5) != (y > 0.5) else 0.0


@inner
def learn_gate(k: int, y: float, f: float, g: float, weight: float, pace: float, trees: Trees) -> float:
    """Update the gate of label k by its label y, the outputs f and g, and the weight; return the gain of the tree.

    `pace` is the time that passes with the answer.

    Whether a gate of classes is open is decided for all of them, by `learn_shared_gate`.
    """
    m = trees.arrays.gate[k]
    e, h = min(1.0, max(0.0, f)), mixed(m, f, g)
    gain = (y - e) ** 2 - (y - h) ** 2
    if not trees.exclusive or trees.first == 1:
        errors = trees.gate_error
        sooner = sooner_error(mean_label(k, 0, trees.arrays), errors)
        switch_gate(m, gain, is_wrong(f, y) - is_wrong(h, y), weight, pace, errors, sooner)
    learn_tree_weight(m, f, g, y, weight, pace)
    return float(gain)


@inner
def learn_shared_gate(
    y: FloatArray, f: FloatArray, w: FloatArray, before: FloatArray, gain: float, trees: Trees
) -> None:
    """Update the gate that classes share by the `gain` of all trees together and by the class with the largest output.

    y are the labels with weights w, f the outputs of the members, `before` those with all gates open. With the row
    passes the longest time of the classes: the others change too seldom to show it.
    """
    t = trees.arrays
    best, refined, truth, weight, pace, grown = 0, 0, -1, 0.0, 0.0, False
    for k in range(y.shape[0]):
        grown = grown or is_grown(k, t)
        best = k if f[k] > f[best] else best
        refined = k if before[k] > before[refined] else refined
        if w[k] > 0.0:
            weight = min(1.0, w[k])
            pace = max(pace, pace_of(independent(t.persistence[k])))
            truth = k if y[k] > 0.5 else truth
    if grown and weight > 0.0:
        won = (1.0 if best != truth else 0.0) - (1.0 if refined != truth else 0.0)
        errors = trees.gate_error
        switch_gate(t.gate[0], gain, won, weight, pace, errors, sooner_error(1.0, errors))
        for k in range(1, y.shape[0]):
            t.gate[k, IS_OPEN] = t.gate[0, IS_OPEN]


ROWS_BEFORE_ALARM = 60  # that are still used after an alarm
KEPT_AFTER_ALARM = 0.05  # of the sums
WAIT_AFTER_ALARM = 30.0  # rows until the next trials
ENOUGH_AGAINST = 30.0  # six sure answers in a row that are wrong
RAISING_AGAINST = 300.0  # the same of ten, which raise the alarm
SAME_CHANGE = 50  # rows after an alarm within which a reversal is part of the same change


@inner
def forget(k: int, first: int, t: TreeArrays) -> None:
    """Let tree k of `t` learn its means anew; trials and edges use the rows from `first` on."""
    t.since[k] = max(t.since[k], first)
    for a in range(t.feature.shape[1]):
        for i in range(t.sums.shape[2]):
            t.sums[k, a, i] *= KEPT_AFTER_ALARM
        t.visits[k, a] = 0.0
        t.visits[k, a, TO_WAIT] = WAIT_AFTER_ALARM


@inner
def reverse_tree(k: int, t: TreeArrays) -> None:
    """Change the sums of tree k of `t` to those of 1 - y; trials and edges use the rows since this change.

    It began with the alarm, or, if that is long ago, begins now, and most of the sums are forgotten.
    """
    now, raised = t.clock[LEARNED], np.int64(t.alarms[k, RAISED_AT])
    if now - raised > SAME_CHANGE:
        forget(k, now, t)
    t.since[k] = max(t.since[k], raised)
    for a in range(t.feature.shape[1]):
        s = t.sums[k, a]
        s[SUM_Y] = max(0.0, s[SUM_1] - s[SUM_Y])
        s[SUM_FY] = s[SUM_F] - s[SUM_FY]


@inner
def learn_against(k: int, loss: float, weight: float, t: TreeArrays) -> None:
    """Update the odds against tree k of `t` by the squared `loss` of an answer of this `weight`."""
    than_tree = next_odds(1.0, loss, t.alarms[k], weight, AFTER_BATCH)
    than_chance = 1.0 + weight * (2.0 * min(np.sqrt(loss), 1.0 - LEAST_ERROR) - 1.0)
    t.against[k] = min(max(t.against[k], 1.0) * min(than_tree, than_chance), MOST_AGAINST)


@inner
def watch_tree(k: int, y: float, loss: float, weight: float, n_eff: float, margin: float, t: TreeArrays) -> None:
    """Learn the squared `loss` of tree k of `t` for an answer y of this `weight` by its alarms, of this `margin`.

    The answer counts for `n_eff` independent ones.
    The odds of the alarm on all answers do not raise it: leaves of few answers are too sure.
    """
    a, s, now = t.alarms[k], t.sums[k, 0], t.clock[LEARNED]
    share = s[SUM_Y] / s[SUM_1] if s[SUM_1] > 0.0 else 0.5
    spread = share * (1.0 - share)
    was_raised, of_positives = a[IS_RAISED] > 0.0, t.positives[k]
    lost = watch_positives(of_positives, loss, y, weight, n_eff, share, now, margin, not was_raised)
    learn_against(k, loss, weight * n_eff, t)
    raised = watch(a, loss, spread, now, weight * n_eff, margin, BY_MEAN, are_found(of_positives)) == RAISED
    if was_raised and a[IS_RAISED] == 0.0 and not are_found(of_positives):
        forget_usual(of_positives)
    if a[IS_RAISED] == 0.0 and (lost or t.against[k] > RAISING_AGAINST):
        raise_alarm(a, spread, now, margin)
        raised = True
    if raised:
        t.before[k] = t.since[k]
        forget(k, now - ROWS_BEFORE_ALARM, t)
    if a[IS_RAISED] > 0.0 and t.against[k] > ENOUGH_AGAINST:
        reverse_tree(k, t)
        t.against[k] = 0.0


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
def learn_path(k: int, x: FloatArray, f: float, y: float, w: float, t: TreeArrays) -> None:
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
def learn_label(k: int, x: FloatArray, y: float, f: float, g: float, w: float, margin: float, trees: Trees) -> float:
    """Learn the label y of weight w with the tree k, which has answered g; return its gain over the output f.

    `margin` is that of its alarm.
    """
    t, gain = trees.arrays, 0.0
    once = min(w, 1.0)  # in alarms and gates one row is one answer
    n_before = independent(t.persistence[k])
    count_answer(t.persistence[k], y)
    n_eff = independent(t.persistence[k])
    pace = pace_of(n_eff)
    recount(t.alarms[k], n_before, n_eff, t.persistence[k, N_ANSWERS])
    if is_grown(k, t):
        watch_tree(k, y, (y - g) ** 2, once, n_eff, margin, t)
        gain = learn_gate(k, y, f, g, once, pace, trees)
    learn_path(k, x, f, y, min(w, HEAVIEST_ROW), t)
    return gain


@inner
def answer_row(x: FloatArray, f: FloatArray, out: FloatArray, trees: Trees) -> None:
    """Fill `out` of the work space of `trees` with the answers of all trees to the row x, and refine `out`.

    f is `out` before, cut.
    """
    t, g = trees.arrays, trees.work.out
    for k in range(f.shape[0]):
        g[k] = f[k]
        if k >= trees.first and is_grown(k, t):
            g[k] = tree_answer(k, x, f[k], trees)
            if t.gate[k, IS_OPEN] > 0.0:
                replace_output(k, f[k], g[k], out, trees)


@kernel
def learn_refined(
    trees: Trees,
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
    t, due = trees.arrays, False
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
        answer_row(x, f, out[i], trees)
        if not labelled:
            continue
        g, total = trees.work.out, 0.0
        for k in range(trees.first, Y.shape[1]):
            before[k] = mixed(t.gate[k], f[k], g[k]) if is_grown(k, t) else f[k]
            if w[k] > 0.0:
                total += learn_label(k, x, y[k], f[k], g[k], w[k], margin, trees)
        if trees.exclusive and trees.first == 0:
            learn_shared_gate(y, f, w, before, total, trees)
        for k in range(Y.shape[1]):
            w[k] = min(w[k], HEAVIEST_ROW)
        keep_row(x, y, f, w, t)
        t.clock[LEARNED] += 1
        due = bool(t.clock[LEARNED] % EVERY == 0)
    return due
