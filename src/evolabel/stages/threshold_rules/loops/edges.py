"""Nodes and edges of a tree: leaves are split, splits taken back, and edges moved where they fit the rows better.

Edges move to the least log loss of the rows in the ring, given the means of the leaves on both sides. The half-width u
of an edge reaches as far as the loss is within `ONE_NAT` of the least: it is the uncertainty of the edge. After a
split, parts of it that do not lower the loss of their own rows enough are taken back.
"""

import numpy as np

from evolabel.engine.compile import inner
from evolabel.stages.threshold_rules.arrays import (
    EDGE,
    FREE,
    HALF_WIDTH,
    LEAF,
    MISSING_LEFT,
    SUBTREE_GAIN,
    TO_WAIT,
    TreeArrays,
    Trees,
)
from evolabel.stages.threshold_rules.loops.answer import goes_left, leaf_of, mean_label
from evolabel.stages.threshold_rules.loops.learn import add_to_sums
from evolabel.stages.threshold_rules.loops.ring import middle_of, sort_by_bins
from evolabel.typing import FloatArray, IntArray

FIRST_WAIT = 20.0  # rows of a new leaf before its first trial


@inner
def list_below(k: int, a: int, t: TreeArrays, nodes: IntArray) -> int:
    """Fill `nodes` with node a of tree k of `t` and all nodes below it, parents first; return how many there are."""
    nodes[0] = a
    n, i = 1, 0
    while i < n:
        b = nodes[i]
        i += 1
        if t.feature[k, b] >= 0:
            nodes[n], nodes[n + 1] = t.child[k, b], t.child[k, b] + 1
            n += 2
    return n


@inner
def make_leaf(k: int, a: int, t: TreeArrays, nodes: IntArray) -> None:
    """Take back all splits at and below node a of tree k of `t`; `nodes` is scratch."""
    for i in range(list_below(k, a, t, nodes)):
        t.feature[k, nodes[i]] = FREE
    t.feature[k, a] = LEAF
    t.number[k, a] = -1


@inner
def split(k: int, a: int, j: int, edge: float, missing_left: float, t: TreeArrays) -> bool:
    """Split leaf a of tree k at this `edge` of feature j; return False if the tree has no place for two more nodes."""
    for left in range(1, t.feature.shape[1] - 1, 2):
        if t.feature[k, left] == FREE:
            t.feature[k, a] = j
            t.child[k, a] = left
            t.edge[k, a, EDGE], t.edge[k, a, HALF_WIDTH], t.edge[k, a, MISSING_LEFT] = edge, 0.0, missing_left
            t.visits[k, a, SUBTREE_GAIN:] = 0.0
            t.number[k, a] = -1
            t.logged[k, a] = np.nan
            for b in range(left, left + 2):
                t.feature[k, b] = LEAF
                t.parent[k, b] = a
                t.number[k, b] = -1
                t.sums[k, b] = 0.0
                t.visits[k, b] = 0.0
                t.visits[k, b, TO_WAIT] = FIRST_WAIT
            return True
    return False


@inner
def choose_reaching(k: int, a: int, b: int, n: int, trees: Trees) -> int:
    """Fill `part` with those of the n places in `chosen`, rows of node a of tree k, that reach b; return how many."""
    t, work = trees.arrays, trees.work
    m = 0
    for r in range(n):
        x = t.X[work.chosen[r]]
        c = b  # from b upwards: the path is short
        inside = True
        while c != a:
            up = t.parent[k, c]
            inside &= goes_left(x[t.feature[k, up]], t.edge[k, up]) == (c == t.child[k, up])
            c = up
        work.part[m] = work.chosen[r]
        m += 1 if inside else 0
    return m


@inner
def refill(k: int, a: int, n: int, places: IntArray, trees: Trees) -> None:
    """Form the sums of all nodes below node a of tree k of `trees` from the n rows in `places`, which reach it."""
    t, work = trees.arrays, trees.work
    nodes = work.nodes[1]
    for i in range(1, list_below(k, a, t, nodes)):
        t.sums[k, nodes[i]] = 0.0
    for r in range(n):
        place = places[r]
        b, w = a, work.scale[place] * t.weights[place, k]
        while t.feature[k, b] >= 0:
            b = t.child[k, b] + (0 if goes_left(t.X[place, t.feature[k, b]], t.edge[k, b]) else 1)
            add_to_sums(t.sums[k, b], t.F[place, k], float(t.Y[place, k]), w)


EDGE_CLIP = 0.02  # means of leaves are cut to [0.02, 0.98] where edges are compared
TRIM_CLIP = 0.01
ONE_NAT = 1.0
SAME_LOSS = 1e-9  # nats up to which losses are the same, so that rounding decides nothing
LEAST_MOVE = 0.5  # nats by which the loss must fall before an edge moves
LEAST_VALUES = 10  # known values among the rows of a node whose edge may move


@inner
def clipped_mean(k: int, a: int, clip: float, t: TreeArrays) -> float:
    """Return the mean label of leaf a of tree k of `t`, cut to [clip, 1 - clip]."""
    return min(1.0 - clip, max(clip, mean_label(k, a, t)))


@inner
def fill_logs(k: int, a: int, clip: float, trees: Trees) -> None:
    """Fill `logs` of the leaves below node a of tree k of `trees`; their means are cut to [clip, 1 - clip]."""
    t, work = trees.arrays, trees.work
    nodes = work.nodes[1]
    for i in range(list_below(k, a, t, nodes)):
        b = nodes[i]
        if t.feature[k, b] < 0:
            p = clipped_mean(k, b, clip, t)
            work.logs[b, 0], work.logs[b, 1] = np.log(1.0 - p), np.log(p)


@inner
def fill_losses(k: int, a: int, n: int, trees: Trees) -> tuple[int, float, float]:
    """Fill `values` and `losses` for the n rows in `part`, those of node a of tree k, and order[1] with their bins.

    Return how many values are known, the loss of the rows now on the left, and that of rows whose value is missing.
    Losses are those of the left child minus those of the right one.
    """
    t, work = trees.arrays, trees.work
    j, left = t.feature[k, a], t.child[k, a]
    m, now, missing = 0, 0.0, 0.0
    fill_logs(k, a, EDGE_CLIP, trees)
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
def place_edge(edge: FloatArray, m: int, now: float, trees: Trees) -> float:
    """Move `edge` to the least loss of the m known values, now `now`; return by how much the loss has fallen.

    Of edges with the same loss it is the first. Where the loss is nearly the least, an edge stays where it is.
    """
    work = trees.work
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
def move_edge(k: int, a: int, n: int, trees: Trees) -> float:
    """Move the edge of node a of tree k by the n rows in `part`; return by how much their loss has fallen."""
    t = trees.arrays
    edge = t.edge[k, a]
    if np.isinf(edge[EDGE]):  # it separates known from missing values
        return 0.0
    m, now, missing = fill_losses(k, a, n, trees)
    if m < LEAST_VALUES:
        return 0.0
    side, turned = (1.0 if missing < 0.0 else 0.0), 0.0
    if abs(missing) > SAME_LOSS and side != edge[MISSING_LEFT]:
        edge[MISSING_LEFT], turned = side, abs(missing)
    return place_edge(edge, m, now, trees) + turned


@inner
def move_edges_below(k: int, a: int, n: int, rounds: int, trees: Trees) -> None:
    """Move the edges of node a of tree k and of all nodes below, top down, by the n rows in `chosen`, which reach it.

    Sums below an edge that moved are formed anew. The passes end after `rounds`, or when the loss hardly falls.
    """
    t, work = trees.arrays, trees.work
    nodes = work.nodes[0]
    for _ in range(rounds):
        moved = 0.0
        for i in range(list_below(k, a, t, nodes)):
            b = nodes[i]
            if t.feature[k, b] >= 0:
                m = choose_reaching(k, a, b, n, trees)
                fell = move_edge(k, b, m, trees)
                if fell > LEAST_MOVE:
                    moved += fell
                    refill(k, b, m, work.part, trees)
        if moved < ONE_NAT:
            return


@inner
def trim(k: int, a: int, n: int, least: float, trees: Trees) -> None:
    """Take back splits at and below node a of tree k that lower the loss of their own rows by less than `least`."""
    t, work = trees.arrays, trees.work
    nodes = work.nodes[0]
    for i in range(list_below(k, a, t, nodes) - 1, -1, -1):
        b = nodes[i]
        if t.feature[k, b] < 0:
            continue
        p, gain = clipped_mean(k, b, TRIM_CLIP, t), 0.0
        alone = np.log(1.0 - p), np.log(p)  # as a leaf
        fill_logs(k, b, TRIM_CLIP, trees)
        for r in range(choose_reaching(k, a, b, n, trees)):
            place = work.part[r]
            y, leaf = t.Y[place, k], leaf_of(k, b, t.X[place], t)
            gain += work.scale[place] * t.weights[place, k] * (work.logs[leaf, y] - alone[y])
        if gain < least:
            make_leaf(k, b, t, work.nodes[1])
