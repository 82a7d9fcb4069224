"""Members that adapt to changes of their rule base from outside: edits, new features, other orders of the labels.

A rule base without members needs none of it.
"""

import numpy as np

from evolabel.core.schema import of_features
from evolabel.stages.drift.arrays import (
    CORRECTED_AT,
    MEMBER_ARRAYS,
    N_REVERSED,
    NEVER,
    NEW_OFFSET,
    NEW_ROWS,
    NEW_SCATTER,
    ROWS,
    SCORE_MEAN,
    SCORE_VARIANCE,
    UNWATCHED,
    USUAL_MEAN,
    USUAL_VARIANCE,
)
from evolabel.stages.drift.stage import FollowingRules
from evolabel.stages.rules import fast_sums
from evolabel.stages.rules.inverses import derive_all_inverses
from evolabel.stages.rules.stage import RuleBase
from evolabel.stages.sensors.loops.watch import COLLECTED_ROWS
from evolabel.typing import BoolArray, FloatArray, IntArray

_STEADY = 0.05  # of the range of a feature: rows that come a little late do not make it fall


def advance(rules: RuleBase, rows: int) -> None:
    """Count `rows` of the stream that `rules` do not learn."""
    if isinstance(rules, FollowingRules):
        clock = rules.members.clock
        clock[ROWS] = max(clock[ROWS] + rows, clock[ROWS + 1 :].max())  # a row may be taken back that was not counted


def open_episode(rules: RuleBase, label: int, before: float, after: float) -> None:
    """Let a `label` of `rules` be in a drift, with its errors `before` and `after`."""
    if isinstance(rules, FollowingRules):
        rules.members.episode[label] = rules.members.clock[ROWS]
        rules.members.depth[:, label] = before, after
        rules.members.reversal[N_REVERSED:, label] = 0.0


def hold_episodes(rules: RuleBase, labels: BoolArray) -> None:
    """Let the drifts of these `labels` of `rules`, (K,), be ended by `close_episode`, and the others by the members."""
    if isinstance(rules, FollowingRules):
        rules.ended_elsewhere = set(np.flatnonzero(labels & rules.drifting).tolist())


def close_episode(rules: RuleBase, label: int) -> int | None:
    """End the drift of a `label` of `rules`; return the rows that it has lasted, None where no members count them."""
    if not isinstance(rules, FollowingRules) or not rules.drifting[label]:
        return None
    since = int(rules.members.episode[label])
    rules.members.episode[label] = NEVER
    return int(rules.members.clock[ROWS]) - since


def derive_inverses(rules: RuleBase) -> None:
    """Derive P of all slots of `rules` from H, for the slow and the fast member."""
    derive_all_inverses(rules.arrays, rules.settings)
    if isinstance(rules, FollowingRules):
        derive_all_inverses(rules.fast.arrays, rules.settings)


def take_unlocked(rules: RuleBase, slot: int) -> None:
    """Let the fast sums of `slot` in `rules` fade from now on: they did not while its rule was locked."""
    if isinstance(rules, FollowingRules):
        rules.arrays.fast_block[slot] = rules.block


def reorder_labels(rules: RuleBase, order: IntArray) -> None:
    """Put the labels of the members of `rules` into this `order`; those of the rules are."""
    if isinstance(rules, FollowingRules):
        rules.members = MEMBER_ARRAYS.rearranged(rules.members, {"label": order})


def take_members(rules: RuleBase, other: RuleBase, kept: IntArray) -> None:
    """Copy the members of `other` to `rules`, whose first features are its columns `kept`."""
    if not (isinstance(rules, FollowingRules) and isinstance(other, FollowingRules)):
        return
    rules.members = MEMBER_ARRAYS.rearranged(other.members, of_features(kept, other.n_features, rules.n_features))
    rules.ended_elsewhere = other.ended_elsewhere


def fade_to_present(rules: RuleBase) -> None:
    """Fade the fast sums of `rules` to their present, so that blocks of another length can follow."""
    if isinstance(rules, FollowingRules) and rules.has_fast:
        fast_sums.fade_to(rules.block, rules.arrays, rules.settings)


def restart_blocks(rules: RuleBase) -> None:
    """Count the fast sums of `rules`, which have faded to the present, by blocks of their present length."""
    if isinstance(rules, FollowingRules):
        rules.arrays.fast_block[:] = rules.block


def read_as(rules: RuleBase, other: RuleBase) -> None:
    """Let `rules` read the sensors as `other` does: corrections and usual readings are copied, a trial is not."""
    if not (isinstance(rules, FollowingRules) and isinstance(other, FollowingRules)):
        return
    mine, theirs = rules.members, other.members
    mine.views[:] = np.tile(theirs.views[:NEW_OFFSET], (2, 1))
    mine.readings[:] = theirs.readings
    mine.readings[[SCORE_MEAN, SCORE_VARIANCE]] = theirs.readings[[USUAL_MEAN, USUAL_VARIANCE]]
    mine.readings[NEW_ROWS : NEW_SCATTER + 1] = 0.0
    mine.readings[CORRECTED_AT] = 0.0  # a row of another stream
    mine.phase[theirs.phase == UNWATCHED] = UNWATCHED


def leave_steady_features(rules: RuleBase, X: FloatArray) -> None:
    """Exclude features that only rise, or only fall, in the initial rows `X` from what the members of `rules` watch.

    Elapsed time and counters never return to their usual values, although no sensor has moved.
    """
    if isinstance(rules, FollowingRules):
        rules.members.phase[_rises(X) | _rises(-X)] = UNWATCHED


def _rises(X: FloatArray) -> BoolArray:
    """Return which columns of `X` never fall by more than `_STEADY` of their range, and have enough known values."""
    known = ~np.isnan(X)
    low, high = np.min(X, axis=0, where=known, initial=np.inf), np.max(X, axis=0, where=known, initial=-np.inf)
    peak = np.maximum.accumulate(np.where(known, X, -np.inf), axis=0)
    fall = np.where(known, peak - np.where(known, X, 0.0), 0.0).max(axis=0)
    return np.asarray((known.sum(axis=0) >= COLLECTED_ROWS) & (low < high) & (fall <= _STEADY * (high - low)))
