"""Lives of threshold rules: their numbers, and events when they are found, moved or gone, and when a label drifts.

A leaf of a tree that is used is a rule. It keeps its number as long as its path asks about the same features; its edges
may move. An edge that has moved by more than its uncertainty since it was last logged is an event.
"""

from typing import Any

import numpy as np

from evolabel.stages.drift.adapting import close_episode, hold_episodes, open_episode
from evolabel.stages.drift.loops.alarm import CALM_MEAN, IS_RAISED, RAISED_AT, SETTLE_ROWS, SHORT_MEAN
from evolabel.stages.rules.arrays import NEXT_IDENTITY
from evolabel.stages.rules.stage import RuleBase
from evolabel.stages.threshold_rules.arrays import EDGE, HALF_WIDTH, IS_OPEN, LEAF, LEARNED, SUM_1, ThresholdArrays
from evolabel.stages.threshold_rules.loops.learn import EVERY
from evolabel.stages.threshold_rules.rule_notes import rule_note
from evolabel.typing import FloatArray, IntArray


def log_turn(t: ThresholdArrays, before: IntArray, rules: RuleBase, first: int) -> None:
    """Number the rules of the trees in `t` after a turn, and log what has changed with `rules`.

    `before` are the numbers from before the turn, `first` is the first label with a tree.
    """
    if not t.gate[:, IS_OPEN].any() and before.max() < 0 and t.episode.max() < 0:  # no rule is or was used
        return
    t.number[t.feature != LEAF] = -1
    log_gone(t, before, rules)
    for label in np.flatnonzero((t.gate[:, IS_OPEN] > 0.0) & (t.feature[:, 0] >= 0)).tolist():
        _number_leaves(t, label, rules)
        _log_moves(t, label, rules)
    _log_drifts(t, rules, first)


def log_gone(t: ThresholdArrays, before: IntArray, rules: RuleBase) -> None:
    """Log with `rules` the numbers in `before` that no leaf of `t` has any more."""
    for label in np.flatnonzero((before != t.number).any(axis=1)).tolist():
        for number in sorted(set(before[label].tolist()) - set(t.number[label].tolist()) - {-1}):
            rules.log("rule gone", number, None, label=label)


def _number_leaves(t: ThresholdArrays, label: int, rules: RuleBase) -> None:
    """Give a number to each leaf of the tree of `label` that has none."""
    for node in np.flatnonzero((t.feature[label] == LEAF) & (t.number[label] < 0)).tolist():
        number = int(rules.arrays.counters[NEXT_IDENTITY])
        t.number[label, node] = number
        rules.arrays.counters[NEXT_IDENTITY] = number + 1
        rules.log("rule found", number, None, rule_note(t, label, node), label=label)


def _log_moves(t: ThresholdArrays, label: int, rules: RuleBase) -> None:
    """Log the edges of `label` that have moved by more than their uncertainty since they were logged."""
    for node in np.flatnonzero(t.feature[label] >= 0).tolist():
        edge, width, logged = t.edge[label, node, EDGE], t.edge[label, node, HALF_WIDTH], t.logged[label, node]
        if np.isinf(edge):  # it separates known from missing values
            continue
        if np.isnan(logged):
            t.logged[label, node] = edge
        elif abs(edge - logged) > width:
            t.logged[label, node] = edge
            about: dict[str, Any] = {
                "feature": int(t.feature[label, node]),
                "before": float(logged),
                "after": float(edge),
            }
            leaf = _largest_below(t, label, node)
            rules.log("edge moved", int(t.number[label, leaf]), None, rule_note(t, label, leaf), label=label, **about)


def _largest_below(t: ThresholdArrays, label: int, node: int) -> int:
    """Return the leaf of most samples below `node` of the tree of `label`."""
    nodes, best = [node], -1
    while nodes:
        a = nodes.pop()
        if t.feature[label, a] >= 0:
            nodes += [int(t.child[label, a]), int(t.child[label, a]) + 1]
        elif best < 0 or t.sums[label, a, SUM_1] > t.sums[label, best, SUM_1]:
            best = a
    return best


def _log_drifts(t: ThresholdArrays, rules: RuleBase, first: int) -> None:
    """Log with `rules` the labels whose tree in `t` has raised its alarm while it was used, or is calm again.

    Labels before the `first` one with a tree share it: two classes have one.
    """
    now, trees = int(t.clock[LEARNED]), np.maximum(np.arange(len(t.feature)), first)
    alarms = t.alarms[trees]
    raised = (alarms[:, IS_RAISED] > 0.0) & (alarms[:, RAISED_AT] >= now - EVERY)
    for label in np.flatnonzero(raised & (t.gate[trees, IS_OPEN] > 0.0) & (t.episode < 0)).tolist():
        if not rules.drifting[label]:  # else the members have seen it before
            errors = _errors(alarms[label])
            rules.log("drift", None, None, label=label, **errors)
            open_episode(rules, label, **errors)
        t.episode[label] = now
    for label in np.flatnonzero((t.episode >= 0) & (alarms[:, IS_RAISED] == 0.0)).tolist():
        rows = now - int(t.episode[label])
        t.episode[label] = -1
        gone = t.feature[trees[label], 0] == LEAF
        if gone and rules.drifting[label]:  # the members answer alone, and end the drift
            continue
        lasted = close_episode(rules, label)
        settled = gone or now - alarms[label, RAISED_AT] > SETTLE_ROWS
        about: dict[str, Any] = {"label": label, "rows": rows if lasted is None else lasted, **_errors(alarms[label])}
        rules.log("settled" if settled else "recovered", None, None, **about)
    hold_episodes(rules, t.episode >= 0)


def _errors(alarm: FloatArray) -> dict[str, Any]:
    """Return the calm and the present squared error of a tree by its `alarm`, as an event holds them."""
    return {"before": float(alarm[CALM_MEAN]), "after": float(alarm[SHORT_MEAN])}
