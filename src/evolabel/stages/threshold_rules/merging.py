"""Merging the threshold rules of two models that were trained apart.

Trees do not add up. Each label keeps the tree with the smaller recent error, with its gate; the rows in the ring of the
other model, since its last drift of the label, are added to its sums, and its edges are moved once by the rows of both
rings. The rings are joined by the age of their rows, as if both streams had run side by side. So merging is not exact,
unlike that of the rules.
"""

import numpy as np

from evolabel.engine.compile import interpreted
from evolabel.stages.drift.loops.alarm import CALM_COUNT, LONG_MEAN, LOST_AT, RAISED_AT
from evolabel.stages.threshold_rules.arrays import (
    IS_OPEN,
    LEARNED,
    MAIN,
    MAIN_ROWS,
    OF_RING,
    OF_TREES,
    RARE,
    RARE_ROWS,
    TreeArrays,
    allocate_trees,
    places_in_use,
)
from evolabel.stages.threshold_rules.loops import answer, learn
from evolabel.stages.threshold_rules.loops.learn import EVERY
from evolabel.typing import IntArray

FEWEST_LOSSES = 100.0  # after which the error of a tree is known

_goes_left, _add_to_sums = interpreted(answer.goes_left), interpreted(learn.add_to_sums)


def merged_trees(mine: TreeArrays, theirs: TreeArrays, first_tree: int, *, exclusive: bool, same: bool) -> TreeArrays:
    """Return the trees and rings of both sides, which have the same labels.

    `exclusive`: labels are classes, which share one gate, and two of them one tree, that of `first_tree`. All trees are
    those of one side then; they are those of `mine` unless both sides have learned the `same` classes.
    """
    sides, labels = (mine, theirs), range(len(mine.feature))
    merged = _joined_rings(sides)
    if exclusive:
        chosen = [int(same and _is_better(theirs, mine, first_tree))] * len(labels)
    else:
        chosen = [int(_is_better(theirs, mine, label)) for label in labels]
    for label in labels:
        _take_tree(merged, sides, label, chosen[label])
    return merged


def _is_better(theirs: TreeArrays, mine: TreeArrays, label: int) -> bool:
    """Return whether the tree of `label` in `theirs` is to be preferred to that in `mine`.

    A tree is preferred to none, one in use to one that is not, then one whose error is known, then the smaller error.
    """
    sides = theirs, mine
    for known in (
        [side.feature[label, 0] >= 0 for side in sides],
        [side.gate[label, IS_OPEN] > 0.0 for side in sides],
        [side.alarms[label, CALM_COUNT] >= FEWEST_LOSSES for side in sides],
    ):
        if known[0] != known[1]:
            return bool(known[0])
    return bool(theirs.alarms[label, LONG_MEAN] < mine.alarms[label, LONG_MEAN])


def _take_tree(merged: TreeArrays, sides: tuple[TreeArrays, TreeArrays], label: int, chosen: int) -> None:
    """Copy the tree of `label` from the `chosen` one of both `sides`, and add the rows of the other to its sums."""
    tree, other = sides[chosen], sides[1 - chosen]
    for name in OF_TREES:
        getattr(merged, name)[label] = getattr(tree, name)[label]
    if chosen == 1:
        merged.number[label], merged.episode[label] = -1, -1  # numbers are those of the first model
    later = merged.clock[LEARNED] - tree.clock[LEARNED]
    if merged.alarms[label, RAISED_AT] >= tree.clock[LEARNED] // EVERY * EVERY:  # the next turn looks at it
        merged.alarms[label, RAISED_AT] = merged.clock[LEARNED]
    else:
        merged.alarms[label, RAISED_AT] += later
    merged.positives[label, LOST_AT] = merged.alarms[label, RAISED_AT]
    merged.episode[label] += later if merged.episode[label] >= 0 else 0
    merged.since[label] = _renumbered(int(tree.since[label]), tree, sides)
    merged.before[label] = _renumbered(int(tree.before[label]), tree, sides)
    merged.complete[label] = max(_renumbered(int(side.complete[label]), side, sides) for side in sides)
    later_rows = (other.rows[:MAIN_ROWS] >= other.since[label]) & (other.weights[:MAIN_ROWS, label] > 0.0)
    for place in np.flatnonzero(places_in_use(other.clock)[:MAIN_ROWS] & later_rows):
        _add_row(merged, label, other, int(place))


def _add_row(t: TreeArrays, label: int, other: TreeArrays, place: int) -> None:
    """Add the row in a `place` of the ring of `other` to the sums of the tree of `label` in `t`."""
    row = float(other.F[place, label]), float(other.Y[place, label]), float(other.weights[place, label])
    node = 0
    _add_to_sums(t.sums[label, node], *row)
    while t.feature[label, node] >= 0:
        left = _goes_left(other.X[place, t.feature[label, node]], t.edge[label, node])
        node = int(t.child[label, node]) + (0 if left else 1)
        _add_to_sums(t.sums[label, node], *row)


def _renumbered(row: int, side: TreeArrays, sides: tuple[TreeArrays, TreeArrays]) -> int:
    """Return the number of a `row` of `side` in the joined stream of both `sides`; the first row stays the first."""
    age = int(side.clock[LEARNED]) - row
    return sum(max(0, int(each.clock[LEARNED]) - age) for each in sides) if row > 0 else 0


def _joined_rings(sides: tuple[TreeArrays, TreeArrays]) -> TreeArrays:
    """Return empty trees with the rows of both `sides`: the youngest in the main ring, rare rows in the other."""
    merged = allocate_trees(sides[0].X.shape[1], len(sides[0].feature))
    total = sum(int(side.clock[LEARNED]) for side in sides)
    main = _oldest_first(sides, rare=False)[-MAIN_ROWS:]
    first, numbers = total - len(main), {}
    for number, (_, which, place) in enumerate(main, start=first):
        _copy_row(merged, number % MAIN_ROWS, sides[which], place, number)
        numbers[which, int(sides[which].rows[place])] = number
    rare = _oldest_first(sides, rare=True)[-RARE_ROWS:]
    n_rare = sum(int(side.clock[RARE]) for side in sides)
    for at, (_, which, place) in enumerate(rare, start=n_rare - len(rare)):
        row = int(sides[which].rows[place])
        outside = max(0, min(_renumbered(row, sides[which], sides), first - 1))
        number = numbers.get((which, row), outside)
        _copy_row(merged, MAIN_ROWS + at % RARE_ROWS, sides[which], place, number)
    clock = sides[0].clock.copy()
    clock[[LEARNED, MAIN, RARE]] = total, total, n_rare
    known = np.array([[_renumbered(row, side, sides) for row in side.known.tolist()] for side in sides]).max(axis=0)
    return merged._replace(known=known, bins=sides[0].bins.copy(), clock=clock)


def _oldest_first(sides: tuple[TreeArrays, TreeArrays], *, rare: bool) -> list[tuple[int, int, int]]:
    """Return age (as a negative number), side and place of all rows in the main or the `rare` rings, oldest first."""
    rows: list[tuple[int, int, int]] = []
    for which, side in enumerate(sides):
        places: IntArray = np.flatnonzero(places_in_use(side.clock))
        of_kind = places[(places >= MAIN_ROWS) == rare].tolist()
        rows += [(int(side.rows[place] - side.clock[LEARNED]), which, place) for place in of_kind]
    return sorted(rows)


def _copy_row(merged: TreeArrays, place: int, side: TreeArrays, source: int, number: int) -> None:
    """Copy the row in the place `source` of the ring of `side` to a `place` of that of `merged`, with this `number`."""
    for name in OF_RING:
        getattr(merged, name)[place] = getattr(side, name)[source]
    merged.rows[place] = number
