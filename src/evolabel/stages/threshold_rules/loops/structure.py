"""Nodes of a tree: which are below a node, splitting a leaf, taking splits back, sums from the rows of the ring."""

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
    ThresholdArrays,
    Thresholds,
)
from evolabel.stages.threshold_rules.loops.answer import goes_left
from evolabel.stages.threshold_rules.loops.learn import add_to_sums
from evolabel.typing import IntArray

FIRST_WAIT = 20.0  # rows of a new leaf before its first trial


@inner
def list_below(k: int, a: int, t: ThresholdArrays, nodes: IntArray) -> int:
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
def make_leaf(k: int, a: int, t: ThresholdArrays, nodes: IntArray) -> None:
    """Take back all splits at and below node a of tree k of `t`; `nodes` is scratch."""
    for i in range(list_below(k, a, t, nodes)):
        t.feature[k, nodes[i]] = FREE
    t.feature[k, a] = LEAF
    t.number[k, a] = -1


@inner
def split(k: int, a: int, j: int, edge: float, missing_left: float, t: ThresholdArrays) -> bool:
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
def choose_reaching(k: int, a: int, b: int, n: int, thresholds: Thresholds) -> int:
    """Fill `part` with those of the n places in `chosen`, rows of node a of tree k, that reach b; return how many."""
    t, work = thresholds.arrays, thresholds.work
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
def refill(k: int, a: int, n: int, places: IntArray, thresholds: Thresholds) -> None:
    """Form the sums of all nodes below node a of tree k of `thresholds` from the n rows in `places`, which reach it."""
    t, work = thresholds.arrays, thresholds.work
    nodes = work.nodes[1]
    for i in range(1, list_below(k, a, t, nodes)):
        t.sums[k, nodes[i]] = 0.0
    for r in range(n):
        place = places[r]
        b, w = a, work.scale[place] * t.weights[place, k]
        while t.feature[k, b] >= 0:
            b = t.child[k, b] + (0 if goes_left(t.X[place, t.feature[k, b]], t.edge[k, b]) else 1)
            add_to_sums(t.sums[k, b], t.F[place, k], float(t.Y[place, k]), w)
