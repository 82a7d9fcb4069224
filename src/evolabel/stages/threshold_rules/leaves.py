"""The leaves of a tree of thresholds as boxes: one range per feature on the path."""

from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np

from evolabel.stages.threshold_rules.arrays import (
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
from evolabel.typing import BoolArray, FloatArray, IntArray


class Side(NamedTuple):
    """The range of a feature in a box, `low` < x <= `high`, half-widths of both ends, and whether it may be missing.

    `low_node` and `high_node` are the nodes of the tree whose edges the ends are; -1 for none.
    """

    low: float
    high: float
    low_width: float
    high_width: float
    missing: bool
    low_node: int = -1
    high_node: int = -1

    def holds(self, x: float) -> bool:
        """Return whether the value `x`, maybe missing, is in the range."""
        return self.missing if np.isnan(x) else self.low < x <= self.high

    @property
    def only_missing(self) -> bool:
        """Whether no known value is in the range."""
        return not self.low < self.high


EVERYWHERE = Side(-np.inf, np.inf, 0.0, 0.0, missing=True)


@dataclass(frozen=True)
class Box:
    """A `leaf`, by its node: the range of each feature of the path, topmost first, samples and positives."""

    leaf: int
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

    def with_samples(self, support: float, positives: float) -> "Box":
        """Return the box with other numbers of samples, `support`, and of `positives` among them."""
        return replace(self, support=float(support), positives=float(positives))

    def with_side(self, j: int, side: Side) -> "Box":
        """Return the box with another range `side` of feature `j`."""
        return replace(self, sides={**self.sides, j: side})


def cut_side(side: Side, node: int, edge: FloatArray, *, left: bool) -> Side:
    """Return the part of `side` on the left or on the right of the `edge` of `node`."""
    missing = side.missing and bool(edge[MISSING_LEFT] > 0.5) == left
    e, u = float(edge[EDGE]), float(edge[HALF_WIDTH])
    if left and e < side.high:
        return side._replace(missing=missing, high=e, high_width=u, high_node=node)
    if not left and e > side.low:
        return side._replace(missing=missing, low=e, low_width=u, low_node=node)
    return side._replace(missing=missing)


def read_leaves(t: ThresholdArrays, k: int, edge: FloatArray | None = None) -> list[Box]:
    """Return the leaves of tree `k` of `t` as boxes, from left to right; `edge` replaces its edges (nodes, 3)."""
    boxes, waiting = [], [(0, Box(0))]
    edge = t.edge[k] if edge is None else edge
    while waiting:
        a, box = waiting.pop()
        j = int(t.feature[k, a])
        if j < 0:
            s = t.sums[k, a]
            boxes.append(replace(box, leaf=a).with_samples(s[SUM_1], s[SUM_Y]))
            continue
        side = box.sides.get(j, EVERYWHERE)
        for right in (1, 0):
            part = cut_side(side, a, edge[a], left=not right)
            waiting.append((int(t.child[k, a]) + right, box.with_side(j, part)))
    return boxes


def leaf_of_rows(t: ThresholdArrays, k: int, edge: FloatArray, X: FloatArray) -> IntArray:
    """Return the leaf of tree `k` of `t`, with its edges `edge` (nodes, 3), that each row of `X` is in, by its node."""
    at = np.zeros(len(X), np.int64)
    while len(inner := np.flatnonzero(t.feature[k, at] >= 0)):
        a = at[inner]
        x, e = X[inner, t.feature[k, a]], edge[a]
        left = np.where(np.isnan(x), e[:, MISSING_LEFT] > 0.5, x <= e[:, EDGE])
        at[inner] = t.child[k, a] + ~left
    return at


def seen_missing(t: ThresholdArrays) -> BoolArray:
    """Return which features of `t` were missing in a row of the ring since they exist, (p,)."""
    used = (t.rows >= 0)[:, None] & (t.rows[:, None] >= t.known)
    return np.asarray((np.isnan(t.X) & used).any(axis=0))


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
