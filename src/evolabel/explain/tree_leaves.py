"""The leaves of a tree of thresholds as boxes: one range per feature on the path; strips beside an edge are joined."""

from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np

from evolabel.kernels.threshold_rules.state import (
    EDGE,
    HALF_WIDTH,
    MAIN_ROWS,
    MISSING_LEFT,
    SUBTREE_COUNT,
    SUBTREE_GAIN,
    SUM_1,
    SUM_Y,
    ThresholdArrays,
)
from evolabel.typing import BoolArray, FloatArray

_STRIP = 1.0  # half-widths of an edge: a narrower range between two edges is no rule of its own


class Side(NamedTuple):
    """The range of a feature in a box, `low` < x <= `high`, half-widths of both ends, and whether it may be missing."""

    low: float
    high: float
    low_width: float
    high_width: float
    missing: bool

    def holds(self, x: float) -> bool:
        """Return whether the value `x`, maybe missing, is in the range."""
        return self.missing if np.isnan(x) else self.low < x <= self.high

    @property
    def is_strip(self) -> bool:
        """Whether the range lies between two edges that are uncertain by as much as it is wide."""
        width = max(self.low_width, self.high_width)
        return bool(0.0 < self.high - self.low < _STRIP * width)

    @property
    def only_missing(self) -> bool:
        """Whether no known value is in the range."""
        return not self.low < self.high


EVERYWHERE = Side(-np.inf, np.inf, 0.0, 0.0, missing=True)


@dataclass(frozen=True)
class Box:
    """One leaf, or several joined: the range of each feature of the path, topmost first, samples and positives."""

    leaves: tuple[int, ...]
    sides: dict[int, Side] = field(default_factory=dict)
    support: float = 0.0
    positives: float = 0.0

    @property
    def share(self) -> float:
        """Share of positives among the samples."""
        return self.positives / self.support if self.support > 0.0 else 0.0

    def holds(self, x: FloatArray) -> bool:
        """Return whether the row `x` lies in the box."""
        return all(side.holds(float(x[j])) for j, side in self.sides.items())

    def with_side(self, j: int, side: Side) -> "Box":
        """Return the box with another range `side` of feature `j`."""
        return replace(self, sides={**self.sides, j: side})


def cut_side(side: Side, edge: FloatArray, *, left: bool) -> Side:
    """Return the part of `side` on the left or on the right of `edge`."""
    missing = side.missing and bool(edge[MISSING_LEFT] > 0.5) == left
    e, u = float(edge[EDGE]), float(edge[HALF_WIDTH])
    if left:
        return side._replace(missing=missing, **({"high": e, "high_width": u} if e < side.high else {}))
    return side._replace(missing=missing, **({"low": e, "low_width": u} if e > side.low else {}))


def read_leaves(t: ThresholdArrays, k: int) -> list[Box]:
    """Return the leaves of tree `k` of `t` as boxes, from left to right."""
    boxes, waiting = [], [(0, Box((0,)))]
    while waiting:
        a, box = waiting.pop()
        j = int(t.feature[k, a])
        if j < 0:
            s = t.sums[k, a]
            boxes.append(replace(box, leaves=(a,), support=float(s[SUM_1]), positives=float(s[SUM_Y])))
            continue
        side = box.sides.get(j, EVERYWHERE)
        for right in (1, 0):
            part = cut_side(side, t.edge[k, a], left=not right)
            waiting.append((int(t.child[k, a]) + right, box.with_side(j, part)))
    return boxes


def seen_missing(t: ThresholdArrays) -> BoolArray:
    """Return which features of `t` were missing in a row of the ring since they exist, (p,)."""
    used = (t.rows >= 0)[:, None] & (t.rows[:, None] >= t.known)
    return np.asarray((np.isnan(t.X) & used).any(axis=0))


def join_strips(boxes: list[Box], gaps: BoolArray) -> list[Box]:
    """Return `boxes` with each strip joined to the neighbour that differs from it by one edge only.

    The common edge lies in the middle of the strip. A strip that also holds missing values, which `gaps` (p,) says the
    feature has, keeps these alone. Of two neighbours the one with the more similar share is taken.
    """
    boxes = list(boxes)
    while (found := _first_strip(boxes, gaps)) is not None:
        i, j = found
        strip = boxes[i]
        side = strip.sides[j]
        near = [n for n in range(len(boxes)) if n != i and _is_beside(boxes[n], strip, j)]
        keeps = bool(side.missing and gaps[j])
        if near:
            n = min(near, key=lambda n: abs(boxes[n].share - strip.share))
            boxes[n] = _joined(boxes[n], strip, j, keeps=keeps)
        if keeps:
            boxes[i] = strip.with_side(j, side._replace(low=np.inf, high=-np.inf))
        elif near:
            del boxes[i]
    return boxes


def _first_strip(boxes: list[Box], gaps: BoolArray) -> tuple[int, int] | None:
    """Return the first box and feature with a strip that can be joined, or that holds missing values."""
    for i, strip in enumerate(boxes):
        for j, side in strip.sides.items():
            if side.is_strip and (
                (side.missing and gaps[j]) or any(_is_beside(box, strip, j) for box in boxes if box is not strip)
            ):
                return i, j
    return None


def _is_beside(box: Box, strip: Box, j: int) -> bool:
    """Return whether `box` and `strip` touch in feature `j` and are alike in all others."""
    if {**box.sides, j: EVERYWHERE} != {**strip.sides, j: EVERYWHERE} or j not in box.sides:
        return False
    return box.sides[j].high == strip.sides[j].low or box.sides[j].low == strip.sides[j].high


def _joined(box: Box, strip: Box, j: int, *, keeps: bool) -> Box:
    """Return `box` with the known values of `strip` in feature `j`; with its samples, unless it `keeps` some."""
    side, other = box.sides[j], strip.sides[j]
    middle, width = 0.5 * (other.low + other.high), max(other.low_width, other.high_width)
    if side.high == other.low:
        side = side._replace(high=middle, high_width=width)
    else:
        side = side._replace(low=middle, low_width=width)
    if not keeps:
        side = side._replace(missing=side.missing or other.missing)
        box = replace(box, support=box.support + strip.support, positives=box.positives + strip.positives)
    return replace(box.with_side(j, side), leaves=(*box.leaves, *strip.leaves))


def ring_rows(t: ThresholdArrays, k: int) -> BoolArray:
    """Return which places of the ring of recent rows hold a row of label `k` since its last drift, (R,)."""
    used = (t.rows >= t.since[k]) & (t.rows >= 0) & (t.weights[:, k] > 0.0)
    return np.asarray(used & (np.arange(len(t.rows)) < MAIN_ROWS))


def tree_relevance(t: ThresholdArrays, k: int) -> FloatArray:
    """Return the relevance of each feature for label `k`, (p,): the squared error per row that its tree saves by it.

    It is the sum, over the topmost nodes that ask about the feature, of the mean gain of the subtree over the node as
    a leaf times the share of the rows in the ring that reach the node.
    """
    relevance, X = np.zeros(t.X.shape[1]), t.X[ring_rows(t, k)]
    waiting: list[tuple[int, BoolArray, frozenset[int]]] = [(0, np.ones(len(X), bool), frozenset())]
    while waiting and len(X):
        a, here, asked = waiting.pop()
        j = int(t.feature[k, a])
        if j < 0:
            continue
        if j not in asked:
            gain = t.visits[k, a, SUBTREE_GAIN] / max(float(t.visits[k, a, SUBTREE_COUNT]), 1.0)
            relevance[j] += max(0.0, float(gain)) * float(here.mean())
        left = np.where(np.isnan(X[:, j]), t.edge[k, a, MISSING_LEFT] > 0.5, X[:, j] <= t.edge[k, a, EDGE])
        child = int(t.child[k, a])
        waiting += [(child, here & left, asked | {j}), (child + 1, here & ~left, asked | {j})]
    return relevance
