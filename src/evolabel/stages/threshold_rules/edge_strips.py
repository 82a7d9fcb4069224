"""Strips beside an edge: two edges that nearly are one are printed as one, so that printed rules leave no gap.

A range between two edges of one feature is a strip if it is narrower than the edges are uncertain, or if its rows are
mostly those in which the feature is missing. Both edges are then moved to the middle of the strip. The result is still
a tree: its leaves cover the space, and each row is in one of them.
"""

import numpy as np

from evolabel.stages.threshold_rules.arrays import EDGE, HALF_WIDTH, LEAF, NODES, SUM_1, SUM_Y, ThresholdArrays
from evolabel.stages.threshold_rules.leaves import Box, Side, leaf_of_rows, read_leaves, ring_rows
from evolabel.typing import BoolArray, FloatArray

_STRIP = 1.0  # half-widths of an edge: a narrower range between two edges is no rule of its own
_MOSTLY = 0.5  # share of missing values from which on a range between two edges is none, either


def join_strips(t: ThresholdArrays, k: int, gaps: BoolArray) -> list[Box]:
    """Return the leaves of tree `k` of `t` as boxes, with the two edges of every strip at one place.

    Missing values stay in their leaf; `gaps` (p,) says which features have some. The samples of a leaf follow its rows
    in the ring, so that all boxes together have those of all leaves.
    """
    edge = joined_edges(t, k, gaps)
    boxes = read_leaves(t, k, edge)
    if np.array_equal(edge, t.edge[k], equal_nan=True):
        return boxes
    samples = _moved_samples(t, k, edge)
    return [box.with_samples(*samples[box.leaf]) for box in boxes]


def joined_edges(t: ThresholdArrays, k: int, gaps: BoolArray) -> FloatArray:
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


def _first_strip(t: ThresholdArrays, k: int, edge: FloatArray, gaps: BoolArray) -> Side | None:
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


def _moved_samples(t: ThresholdArrays, k: int, edge: FloatArray) -> FloatArray:
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
