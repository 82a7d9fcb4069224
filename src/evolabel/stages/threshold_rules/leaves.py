"""The leaves of a tree of thresholds as boxes: one range per feature on the path.

Two edges that nearly are one are printed as one, so that printed rules leave no gap. A range between two edges of one
feature is a strip if it is narrower than the edges are uncertain, or if its rows are mostly those in which the feature
is missing. Both edges are then moved to the middle of the strip. The result is still a tree: its leaves cover the
space, and each row is in one of them.
"""

from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np

from evolabel.stages.threshold_rules.arrays import (
    EDGE,
    HALF_WIDTH,
    LEAF,
    MAIN_ROWS,
    MISSING_LEFT,
    NODES,
    SUBTREE_COUNT,
    SUBTREE_GAIN,
    SUM_1,
    SUM_Y,
    TreeArrays,
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


def read_leaves(t: TreeArrays, k: int, edge: FloatArray | None = None) -> list[Box]:
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


def leaf_of_rows(t: TreeArrays, k: int, edge: FloatArray, X: FloatArray) -> IntArray:
    """Return the leaf of tree `k` of `t`, with its edges `edge` (nodes, 3), that each row of `X` is in, by its node."""
    at = np.zeros(len(X), np.int64)
    while len(inner := np.flatnonzero(t.feature[k, at] >= 0)):
        a = at[inner]
        x, e = X[inner, t.feature[k, a]], edge[a]
        left = np.where(np.isnan(x), e[:, MISSING_LEFT] > 0.5, x <= e[:, EDGE])
        at[inner] = t.child[k, a] + ~left
    return at


def seen_missing(t: TreeArrays) -> BoolArray:
    """Return which features of `t` were missing in a row of the ring since they exist, (p,)."""
    used = (t.rows >= 0)[:, None] & (t.rows[:, None] >= t.known)
    return np.asarray((np.isnan(t.X) & used).any(axis=0))


def ring_rows(t: TreeArrays, k: int) -> BoolArray:
    """Return which places of the ring of recent rows hold a row of label `k` since its last drift, (R,)."""
    used = (t.rows >= t.since[k]) & (t.rows >= 0) & (t.weights[:, k] > 0.0)
    return np.asarray(used & (np.arange(len(t.rows)) < MAIN_ROWS))


def tree_relevance(t: TreeArrays, k: int) -> FloatArray:
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


_STRIP = 1.0  # half-widths of an edge: a narrower range between two edges is no rule of its own
_MOSTLY = 0.5  # share of missing values from which on a range between two edges is none, either


def join_strips(t: TreeArrays, k: int, gaps: BoolArray) -> list[Box]:
    """Return the leaves of tree `k` of `t` as boxes, with the two edges of every strip at one place.

    Missing values stay in their leaf; `gaps`, (p,): which features have some. The samples of a leaf follow its rows
    in the ring, so that all boxes together have those of all leaves.
    """
    edge = joined_edges(t, k, gaps)
    boxes = read_leaves(t, k, edge)
    if np.array_equal(edge, t.edge[k], equal_nan=True):
        return boxes
    samples = _moved_samples(t, k, edge)
    return [box.with_samples(*samples[box.leaf]) for box in boxes]


def joined_edges(t: TreeArrays, k: int, gaps: BoolArray) -> FloatArray:
    """Return the edges of tree `k` of `t`, (nodes, 3), with the two edges of every strip in its middle.

    An edge that belongs to several strips takes all edges of these with it. `gaps` (p,): features with missing values.
    """
    edge, group = t.edge[k].copy(), np.arange(NODES)
    while (side := _first_strip(t, k, edge, gaps)) is not None:
        same = (group == group[side.low_node]) | (group == group[side.high_node])
        group[same] = group[side.low_node]
        edge[same, EDGE] = 0.5 * (side.low + side.high)
        edge[same, HALF_WIDTH] = max(side.low_width, side.high_width, 0.5 * (side.high - side.low))
    return np.asarray(edge)


def _first_strip(t: TreeArrays, k: int, edge: FloatArray, gaps: BoolArray) -> Side | None:
    """Return the first range of a leaf of tree `k` with these edges that is a strip."""
    unsure = []
    for box in read_leaves(t, k, edge):
        for j, side in box.sides.items():
            width = side.high - side.low
            if not 0.0 < width < np.inf:
                continue
            if width < _STRIP * max(side.low_width, side.high_width):
                return side
            if side.missing and gaps[j]:
                unsure.append((box.leaf, j, side))
    if unsure:
        X = t.X[ring_rows(t, k)]
        leaf = leaf_of_rows(t, k, edge, X)
        for a, j, side in unsure:
            missing = np.isnan(X[leaf == a, j])
            if missing.sum() > _MOSTLY * len(missing):
                return side
    return None


def _moved_samples(t: TreeArrays, k: int, edge: FloatArray) -> FloatArray:
    """Return samples and positives of each leaf of tree `k` with its edges moved to `edge`, (nodes, 2).

    Positives and negatives of a leaf are divided as those of its rows in the ring are; those of a leaf without such
    rows stay where they are.
    """
    used = ring_rows(t, k)
    X, w, y = t.X[used], t.weights[used, k], t.Y[used, k] > 0
    before, after = leaf_of_rows(t, k, t.edge[k], X), leaf_of_rows(t, k, edge, X)
    positives = t.sums[k, :, SUM_Y]
    parts = np.zeros((2, NODES))
    for sign, own in enumerate((np.maximum(t.sums[k, :, SUM_1] - positives, 0.0), positives)):
        for a in np.flatnonzero(t.feature[k] == LEAF):
            here = before == a
            rows = here & (y == bool(sign)) if (here & (y == bool(sign))).any() else here
            shares = np.bincount(after[rows], w[rows], NODES) if rows.any() else np.eye(NODES)[a]
            parts[sign] += own[a] * (shares / shares.sum())
    return np.column_stack([parts.sum(axis=0), parts[1]])
