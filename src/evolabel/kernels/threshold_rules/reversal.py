"""Reversal of a tree: when a label has become its opposite, the leaves of its tree answer the opposite from then on.

`against` has the odds that the label is the opposite of what the tree answers, multiplied answer by answer: the
probability of the answer if it is, divided by that if the tree is right or by one half, by what is larger. So a label
that has changed in part seldom reverses its tree. If the odds exceed `ENOUGH_AGAINST` while the alarm of the tree is
raised, the tree is reversed at once. In the next turn most of what it has learned is forgotten, as after any drift
(`turn.forget`). Without reversal the leaves would answer wrongly until that turn, and then until new rows outweigh what
is left of the old ones.
"""

import numpy as np

from evolabel.kernels.compile import inner
from evolabel.kernels.members.alarm import AFTER_BATCH, IS_RAISED, LEAST_ERROR, RAISED_AT, next_odds
from evolabel.kernels.threshold_rules.state import SUM_1, SUM_F, SUM_FY, SUM_Y, ThresholdArrays

ENOUGH_AGAINST = 30.0  # six sure answers in a row that are wrong
MOST_AGAINST = 1e12  # odds, so that their product stays finite


@inner
def reverse_tree(k: int, t: ThresholdArrays) -> None:
    """Change the sums of tree k of `t` to those of 1 - y; trials and edges use the rows since its alarm was raised."""
    for a in range(t.feature.shape[1]):
        s = t.sums[k, a]
        s[SUM_Y] = max(0.0, s[SUM_1] - s[SUM_Y])
        s[SUM_FY] = s[SUM_F] - s[SUM_FY]
    t.since[k] = max(t.since[k], np.int64(t.alarms[k, RAISED_AT]))


@inner
def learn_against(k: int, loss: float, weight: float, t: ThresholdArrays) -> None:
    """Update the odds against tree k of `t` by the squared `loss` of an answer of this `weight`; reverse it if due."""
    than_tree = next_odds(1.0, loss, t.alarms[k], weight, AFTER_BATCH)
    than_chance = 1.0 + weight * (2.0 * min(np.sqrt(loss), 1.0 - LEAST_ERROR) - 1.0)
    t.against[k] = min(max(t.against[k], 1.0) * min(than_tree, than_chance), MOST_AGAINST)
    if t.alarms[k, IS_RAISED] > 0.0 and t.against[k] > ENOUGH_AGAINST:
        reverse_tree(k, t)
        t.against[k] = 0.0
