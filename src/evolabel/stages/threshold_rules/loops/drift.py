"""What a tree does when its label drifts: it forgets, and answers the opposite where the label has become its opposite.

When the alarm of a tree is raised, most of its sums are forgotten at once, and trials and edges use the rows around the
alarm and later ones.

`against` has the odds that the label is the opposite of what the tree answers, multiplied answer by answer: the
probability of the answer if it is, divided by that if the tree is right or by one half, by what is larger. So a label
that has changed in part seldom reverses its tree. If the odds exceed `ENOUGH_AGAINST` while the alarm is raised, the
leaves answer the opposite from then on. Without reversal they would answer wrongly until new rows outweigh what is left
of the old ones. Odds above `RAISING_AGAINST` raise the alarm: where few labels are asked for, most answers are about
uncertain outputs, and the mean loss hardly moves.
"""

import numpy as np

from evolabel.engine.compile import inner
from evolabel.stages.drift.loops.alarm import (
    AFTER_BATCH,
    BY_MEAN,
    IS_RAISED,
    LEAST_ERROR,
    RAISED,
    RAISED_AT,
    next_odds,
    raise_alarm,
    watch,
)
from evolabel.stages.drift.loops.positives import are_found, forget_usual, watch_positives
from evolabel.stages.threshold_rules.arrays import (
    LEARNED,
    MOST_AGAINST,
    SUM_1,
    SUM_F,
    SUM_FY,
    SUM_Y,
    TO_WAIT,
    ThresholdArrays,
)

ROWS_BEFORE_ALARM = 60  # that are still used after an alarm
KEPT_AFTER_ALARM = 0.05  # of the sums
WAIT_AFTER_ALARM = 30.0  # rows until the next trials
ENOUGH_AGAINST = 30.0  # six sure answers in a row that are wrong
RAISING_AGAINST = 300.0  # the same of ten, which raise the alarm
SAME_CHANGE = 50  # rows after an alarm within which a reversal is part of the same change


@inner
def forget(k: int, first: int, t: ThresholdArrays) -> None:
    """Let tree k of `t` learn its means anew; trials and edges use the rows from `first` on."""
    t.since[k] = max(t.since[k], first)
    for a in range(t.feature.shape[1]):
        for i in range(t.sums.shape[2]):
            t.sums[k, a, i] *= KEPT_AFTER_ALARM
        t.visits[k, a] = 0.0
        t.visits[k, a, TO_WAIT] = WAIT_AFTER_ALARM


@inner
def reverse_tree(k: int, t: ThresholdArrays) -> None:
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
def learn_against(k: int, loss: float, weight: float, t: ThresholdArrays) -> None:
    """Update the odds against tree k of `t` by the squared `loss` of an answer of this `weight`."""
    than_tree = next_odds(1.0, loss, t.alarms[k], weight, AFTER_BATCH)
    than_chance = 1.0 + weight * (2.0 * min(np.sqrt(loss), 1.0 - LEAST_ERROR) - 1.0)
    t.against[k] = min(max(t.against[k], 1.0) * min(than_tree, than_chance), MOST_AGAINST)


@inner
def watch_tree(k: int, y: float, loss: float, weight: float, n_eff: float, margin: float, t: ThresholdArrays) -> None:
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
