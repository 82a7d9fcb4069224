"""Lives of threshold rules: their numbers, and events when they are found, moved or gone, and when a label drifts.

A leaf of a tree that is used is a rule. It keeps its number as long as its path asks about the same features; its edges
may move. An edge that has moved by more than its uncertainty since it was last logged is an event.
"""

import json
from typing import Any

import numpy as np

from evolabel.core.events import OF_POSITIVES, EventLog
from evolabel.core.rows import Rows
from evolabel.engine.compile import interpreted
from evolabel.stages.drift.arrays import NEVER
from evolabel.stages.drift.loops.alarm import (
    CALM_MEAN,
    IS_LOST,
    IS_RAISED,
    LOST_AT,
    NOTHING_OF_RARE,
    RAISED_AT,
    RECENT_LOSS,
    SETTLE_ROWS,
    SHORT_MEAN,
    USUAL_LOSS,
    are_found,
)
from evolabel.stages.threshold_rules.arrays import (
    EDGE,
    HALF_WIDTH,
    IS_OPEN,
    LEAF,
    LEARNED,
    MISSING_LEFT,
    SUM_1,
    SUM_Y,
    TreeArrays,
)
from evolabel.stages.threshold_rules.loops.learn import EVERY
from evolabel.typing import FloatArray, IntArray

_are_found: Any = interpreted(are_found)


def log_turn(t: TreeArrays, before: IntArray, log: EventLog, rows: Rows, first: int) -> None:
    """Number the rules of the trees in `t` after a turn, and log in `log` what has changed.

    `before` are the numbers from before the turn, `rows` those that were learned, `first` is the first label with a
    tree. `rows` receive the labels whose drifts are ended here.
    """
    if not t.gate[:, IS_OPEN].any() and before.max() < 0 and t.episode.max() < 0:  # no rule is or was used
        return
    t.number[t.feature != LEAF] = -1
    log_gone(t, before, log)
    for label in np.flatnonzero((t.gate[:, IS_OPEN] > 0.0) & (t.feature[:, 0] >= 0)).tolist():
        _number_leaves(t, label, log)
        _log_moves(t, label, log)
    _log_drifts(t, log, rows, first)


def log_gone(t: TreeArrays, before: IntArray, log: EventLog) -> None:
    """Log in `log` the numbers in `before` that no leaf of `t` has any more."""
    for label in np.flatnonzero((before != t.number).any(axis=1)).tolist():
        for number in sorted(set(before[label].tolist()) - set(t.number[label].tolist()) - {-1}):
            log.log("rule gone", number, None, label=label)


def _number_leaves(t: TreeArrays, label: int, log: EventLog) -> None:
    """Give a number to each leaf of the tree of `label` that has none."""
    for node in np.flatnonzero((t.feature[label] == LEAF) & (t.number[label] < 0)).tolist():
        t.number[label, node] = number = log.new_number()
        log.log("rule found", number, None, rule_note(t, label, node), label=label)


def _log_moves(t: TreeArrays, label: int, log: EventLog) -> None:
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
            log.log("edge moved", int(t.number[label, leaf]), None, rule_note(t, label, leaf), label=label, **about)


def _largest_below(t: TreeArrays, label: int, node: int) -> int:
    """Return the leaf of most samples below `node` of the tree of `label`."""
    nodes, best = [node], -1
    while nodes:
        a = nodes.pop()
        if t.feature[label, a] >= 0:
            nodes += [int(t.child[label, a]), int(t.child[label, a]) + 1]
        elif best < 0 or t.sums[label, a, SUM_1] > t.sums[label, best, SUM_1]:
            best = a
    return best


def _log_drifts(t: TreeArrays, log: EventLog, rows: Rows, first: int) -> None:
    """Log in `log` the labels whose tree in `t` has raised its alarm after `rows` while it was used, or is calm again.

    Labels before the `first` one with a tree share it: two classes have one.
    """
    now, trees = int(t.clock[LEARNED]), np.maximum(np.arange(len(t.feature)), first)
    alarms = t.alarms[trees]
    raised = (alarms[:, IS_RAISED] > 0.0) & (alarms[:, RAISED_AT] >= now - EVERY)
    for label in np.flatnonzero(raised & (t.gate[trees, IS_OPEN] > 0.0) & (t.episode < 0)).tolist():
        if rows.episode[label] == NEVER:  # else the members have seen it before
            risen = _risen_errors(t, int(trees[label]))
            if rows.is_unsettled:
                rows.drifts_held[label] = risen
            else:
                log.log("drift", None, None, sample=rows.n_rows, label=label, **risen)
        t.episode[label] = now
    for label in np.flatnonzero((t.episode >= 0) & (alarms[:, IS_RAISED] == 0.0)).tolist():
        lasted, since = now - int(t.episode[label]), int(rows.episode[label])
        gone = t.feature[trees[label], 0] == LEAF
        is_followed = rows.n_rows is not None
        # It was no event, or the members answer alone and end it, or it is held and they end it if it becomes an event.
        if is_followed and (since == NEVER or gone or label in rows.drifts_held):
            t.episode[label] = -1
            continue
        if since != NEVER and rows.n_rows is not None:
            lasted = rows.n_rows - since
        settled = gone or now - alarms[label, RAISED_AT] > SETTLE_ROWS
        if not settled and not _is_back(t, int(trees[label])):
            continue
        t.episode[label] = -1
        about: dict[str, Any] = {"label": label, "rows": lasted, **_errors(alarms[label])}
        log.log("settled" if settled else "recovered", None, None, sample=rows.n_rows, **about)
    rows.drifts_ended = t.episode >= 0


def _is_back(t: TreeArrays, tree: int) -> bool:
    """Return whether the error of a `tree` in `t` is no multiple of the calm one, and its positives are found.

    The alarm has fallen back when it was, up to `EVERY` rows ago.
    """
    alarm = t.alarms[tree]
    near = max(alarm[CALM_MEAN], NOTHING_OF_RARE)
    return bool(alarm[SHORT_MEAN] <= alarm[CALM_MEAN] + near and _are_found(t.positives[tree]))


def _risen_errors(t: TreeArrays, tree: int) -> dict[str, Any]:
    """Return the errors that have raised the alarm of a `tree` in `t`, as an event holds them."""
    alarm, of_positives = t.alarms[tree], t.positives[tree]
    if of_positives[IS_LOST] == 0.0 or of_positives[LOST_AT] != alarm[RAISED_AT]:
        return _errors(alarm)
    errors = of_positives[[USUAL_LOSS, RECENT_LOSS]].tolist()
    return {"note": OF_POSITIVES, "before": errors[0], "after": errors[1]}


def _errors(alarm: FloatArray) -> dict[str, Any]:
    """Return the calm and the present squared error of a tree by its `alarm`, as an event holds them."""
    return {"before": float(alarm[CALM_MEAN]), "after": float(alarm[SHORT_MEAN])}


def rule_note(t: TreeArrays, k: int, leaf: int) -> str:
    """Return the rule of a `leaf` of tree `k` of `t` in JSON: its path from the root, its samples and positives.

    `event_words` reads these numbers as words.
    A step is the feature, the edge, its half-width, whether missing values go left, and whether the path does.
    """
    path: list[tuple[int, float, float, int, int]] = []
    a = leaf
    while t.parent[k, a] >= 0:
        up = int(t.parent[k, a])
        e = t.edge[k, up]
        edge, width = (float(f"{e[i]:.9g}") for i in (EDGE, HALF_WIDTH))
        path.insert(0, (int(t.feature[k, up]), edge, width, int(e[MISSING_LEFT] > 0.5), int(a == t.child[k, up])))
        a = up
    support, positives = (float(f"{t.sums[k, leaf, i]:.9g}") for i in (SUM_1, SUM_Y))
    return json.dumps({"path": path, "support": support, "positives": positives}, separators=(",", ":"))
