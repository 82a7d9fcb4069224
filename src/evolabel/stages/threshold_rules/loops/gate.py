"""The gate of a tree: how far its answer g replaces the output f of the members, and whether at all.

w is the least-squares weight of g - f over fading sums, cut to [0, 1]. The gate opens when the squared error is smaller
beyond doubt, by `gate_error` standard errors, and decisions at 0.5 are not worse: won minus lost is at least one
standard error, or none has changed. It also opens when both, the error and the decisions, are better by `SOONER` times
`gate_error` squared, at least `LEAST_SOONER`: with many labels one of them soon seems better. A label with fewer than
`RARE_SHARE` of positives has few rows that could show more: half of it is enough, but at least one standard error. It
closes at a third of `gate_error`, or when decisions get worse. Squared error alone would let a calibrated tree replace
members that decide better. Classes share one gate: a mixture of sharp and flat outputs would spoil the choice of the
largest. All sums are in the time of `core.loops.pace`: where answers persist, one run of them neither opens nor closes
a gate.
"""

import numpy as np

from evolabel.core.loops.pace import independent, pace_of
from evolabel.engine.compile import inner
from evolabel.stages.threshold_rules.arrays import (
    CHANGED_DECISIONS,
    GAIN,
    GAIN_SQUARES,
    GAP_SQUARES,
    IS_OPEN,
    PRODUCT,
    TREE_WEIGHT,
    WON,
    Thresholds,
)
from evolabel.stages.threshold_rules.loops.answer import is_grown, mean_label
from evolabel.stages.threshold_rules.loops.ring import RARE_SHARE
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
def turn_gate(
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
def learn_gate(k: int, y: float, f: float, g: float, weight: float, pace: float, thresholds: Thresholds) -> float:
    """Update the gate of label k by its label y, the outputs f and g, and the weight; return the gain of the tree.

    `pace` is the time that passes with the answer.

    Whether a gate of classes is open is decided for all of them, by `learn_shared_gate`.
    """
    m = thresholds.arrays.gate[k]
    e, h = min(1.0, max(0.0, f)), mixed(m, f, g)
    gain = (y - e) ** 2 - (y - h) ** 2
    if not thresholds.exclusive or thresholds.first == 1:
        errors = thresholds.gate_error
        sooner = sooner_error(mean_label(k, 0, thresholds.arrays), errors)
        turn_gate(m, gain, is_wrong(f, y) - is_wrong(h, y), weight, pace, errors, sooner)
    learn_tree_weight(m, f, g, y, weight, pace)
    return float(gain)


@inner
def learn_shared_gate(
    y: FloatArray, f: FloatArray, w: FloatArray, before: FloatArray, gain: float, thresholds: Thresholds
) -> None:
    """Update the gate that classes share by the `gain` of all trees together and by the class with the largest output.

    y are the labels with weights w, f the outputs of the members, `before` those with all gates open. With the row
    passes the longest time of the classes: the others change too seldom to show it.
    """
    t = thresholds.arrays
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
        errors = thresholds.gate_error
        turn_gate(t.gate[0], gain, won, weight, pace, errors, sooner_error(1.0, errors))
        for k in range(1, y.shape[0]):
            t.gate[k, IS_OPEN] = t.gate[0, IS_OPEN]
