"""Edges move to the least log loss of the rows in the ring, given the means of the leaves on both sides.

The half-width u of an edge reaches as far as the loss is within `ONE_NAT` of the least: it is the uncertainty of the
edge. After a split, parts of it that do not lower the loss of their own rows enough are taken back.
"""

import numpy as np

from evolabel.engine.compile import inner
from evolabel.stages.threshold_rules.arrays import EDGE, HALF_WIDTH, MISSING_LEFT, ThresholdArrays, Thresholds
from evolabel.stages.threshold_rules.loops.answer import leaf_of, mean_label
from evolabel.stages.threshold_rules.loops.ring import middle_of
from evolabel.stages.threshold_rules.loops.sorting import sort_by_bins
from evolabel.stages.threshold_rules.loops.structure import choose_reaching, list_below, make_leaf, refill
from evolabel.typing import FloatArray

EDGE_CLIP = 0.02  # means of leaves are cut to [0.02, 0.98] where edges are compared
TRIM_CLIP = 0.01
ONE_NAT = 1.0
SAME_LOSS = 1e-9  # nats up to which losses are the same, so that rounding decides nothing
LEAST_MOVE = 0.5  # nats by which the loss must fall before an edge moves
LEAST_VALUES = 10  # known values among the rows of a node whose edge may move


@inner
def clipped_mean(k: int, a: int, clip: float, t: ThresholdArrays) -> float:
    """Return the mean label of leaf a of tree k of `t`, cut to [clip, 1 - clip]."""
    return min(1.0 - clip, max(clip, mean_label(k, a, t)))


@inner
def fill_logs(k: int, a: int, clip: float, thresholds: Thresholds) -> None:
    """Fill `logs` of the leaves below node a of tree k of `thresholds`; their means are cut to [clip, 1 - clip]."""
    t, work = thresholds.arrays, thresholds.work
    nodes = work.nodes[1]
    for i in range(list_below(k, a, t, nodes)):
        b = nodes[i]
        if t.feature[k, b] < 0:
            p = clipped_mean(k, b, clip, t)
            work.logs[b, 0], work.logs[b, 1] = np.log(1.0 - p), np.log(p)


@inner
def fill_losses(k: int, a: int, n: int, thresholds: Thresholds) -> tuple[int, float, float]:
    """Fill `values` and `losses` for the n rows in `part`, those of node a of tree k, and order[1] with their bins.

    Return how many values are known, the loss of the rows now on the left, and that of rows whose value is missing.
    Losses are those of the left child minus those of the right one.
    """
    t, work = thresholds.arrays, thresholds.work
    j, left = t.feature[k, a], t.child[k, a]
    m, now, missing = 0, 0.0, 0.0
    fill_logs(k, a, EDGE_CLIP, thresholds)
    for r in range(n):
        place = work.part[r]
        y, on_left, on_right = t.Y[place, k], leaf_of(k, left, t.X[place], t), leaf_of(k, left + 1, t.X[place], t)
        d = work.scale[place] * t.weights[place, k] * (work.logs[on_right, y] - work.logs[on_left, y])
        value = t.X[place, j]
        if np.isnan(value):
            missing += d
        else:
            work.values[m], work.losses[m], work.order[1, m] = value, d, t.codes[place, j]
            m += 1
            if value <= t.edge[k, a, EDGE]:
                now += d
    return m, now, missing


@inner
def place_edge(edge: FloatArray, m: int, now: float, thresholds: Thresholds) -> float:
    """Move `edge` to the least loss of the m known values, now `now`; return by how much the loss has fallen.

    Of edges with the same loss it is the first. Where the loss is nearly the least, an edge stays where it is.
    """
    work = thresholds.work
    x, sums = work.values, work.g
    sort_by_bins(m, x, work.order, work.counts)
    order, c, best, at = work.order[0], 0.0, np.inf, -1
    for r in range(m):
        c += work.losses[order[r]]
        sums[r] = c
        if r + 1 < m and x[order[r + 1]] > x[order[r]] and c < best - SAME_LOSS:
            best, at = c, r
    if at < 0:
        return 0.0
    low, high = at, at + 1
    while low > 0 and (x[order[low - 1]] == x[order[low]] or sums[low - 1] < best + ONE_NAT):  # no edge in between
        low -= 1
    while high + 1 < m and (x[order[high]] == x[order[high + 1]] or sums[high] < best + ONE_NAT):
        high += 1
    edge[HALF_WIDTH] = 0.5 * x[order[high]] - 0.5 * x[order[low]]  # the difference itself may overflow
    outside = edge[EDGE] <= x[order[low]] or edge[EDGE] >= x[order[high]]
    if now - best <= LEAST_MOVE and not outside:
        return float(now - best)
    below, above = x[order[at]], x[order[at + 1]]
    edge[EDGE] = middle_of(below, above)
    if edge[EDGE] == below:  # neighbouring floats
        edge[HALF_WIDTH] = 0.0
    return float(max(now - best, ONE_NAT))


@inner
def move_edge(k: int, a: int, n: int, thresholds: Thresholds) -> float:
    """Move the edge of node a of tree k by the n rows in `part`; return by how much their loss has fallen."""
    t = thresholds.arrays
    edge = t.edge[k, a]
    if np.isinf(edge[EDGE]):  # it separates known from missing values
        return 0.0
    m, now, missing = fill_losses(k, a, n, thresholds)
    if m < LEAST_VALUES:
        return 0.0
    side, turned = (1.0 if missing < 0.0 else 0.0), 0.0
    if abs(missing) > SAME_LOSS and side != edge[MISSING_LEFT]:
        edge[MISSING_LEFT], turned = side, abs(missing)
    return place_edge(edge, m, now, thresholds) + turned


@inner
def settle_edges(k: int, a: int, n: int, rounds: int, thresholds: Thresholds) -> None:
    """Move the edges of node a of tree k and of all nodes below, top down, by the n rows in `chosen`, which reach it.

    Sums below an edge that moved are formed anew. The passes end after `rounds`, or when the loss hardly falls.
    """
    t, work = thresholds.arrays, thresholds.work
    nodes = work.nodes[0]
    for _ in range(rounds):
        moved = 0.0
        for i in range(list_below(k, a, t, nodes)):
            b = nodes[i]
            if t.feature[k, b] >= 0:
                m = choose_reaching(k, a, b, n, thresholds)
                fell = move_edge(k, b, m, thresholds)
                if fell > LEAST_MOVE:
                    moved += fell
                    refill(k, b, m, work.part, thresholds)
        if moved < ONE_NAT:
            return


@inner
def trim(k: int, a: int, n: int, least: float, thresholds: Thresholds) -> None:
    """Take back splits at and below node a of tree k that lower the loss of their own rows by less than `least`."""
    t, work = thresholds.arrays, thresholds.work
    nodes = work.nodes[0]
    for i in range(list_below(k, a, t, nodes) - 1, -1, -1):
        b = nodes[i]
        if t.feature[k, b] < 0:
            continue
        p, gain = clipped_mean(k, b, TRIM_CLIP, t), 0.0
        alone = np.log(1.0 - p), np.log(p)  # as a leaf
        fill_logs(k, b, TRIM_CLIP, thresholds)
        for r in range(choose_reaching(k, a, b, n, thresholds)):
            place = work.part[r]
            y, leaf = t.Y[place, k], leaf_of(k, b, t.X[place], t)
            gain += work.scale[place] * t.weights[place, k] * (work.logs[leaf, y] - alone[y])
        if gain < least:
            make_leaf(k, b, t, work.nodes[1])
