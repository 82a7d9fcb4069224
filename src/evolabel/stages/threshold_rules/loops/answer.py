"""What a tree answers: the mean label of the leaf that a row reaches, corrected by the output of the members.

| symbol | meaning                                                                                              |
|--------|------------------------------------------------------------------------------------------------------|
| k, a   | label, node of its tree                                                                              |
| f      | output of the members for the row and label, in [-1, 2]                                              |
| s      | sums of a node: n, sum f, sum f^2, sum y, sum f y                                                    |
| e, u   | edge of a node and its half-width; between e - u and e + u both children answer                      |
| g      | answer of the tree                                                                                   |
| w      | weight of g: out = f + w (g - f)                                                                     |

A leaf answers its mean label, shrunk by one row to the mean of its parent, plus b (f - mean f), with b = cov(f, y) /
(var f + 1 / n) cut to [0, 1]: it follows the members as far as they still separate its rows.
"""

import numpy as np

from evolabel.engine.compile import inner, kernel
from evolabel.stages.threshold_rules.arrays import (
    EDGE,
    HALF_WIDTH,
    IS_OPEN,
    LEAF,
    MISSING_LEFT,
    SUM_1,
    SUM_F,
    SUM_FF,
    SUM_FY,
    SUM_Y,
    TREE_WEIGHT,
    TreeArrays,
    Trees,
)
from evolabel.typing import FloatArray

LOWEST_OUTPUT, HIGHEST_OUTPUT = (
    -1.0,
    2.0,
)  # outputs of the members beyond are cut: one wild output must not spoil the sums
SLOPE_RIDGE = 1.0  # added to n var f
SLOPE_FROM = 2.0  # rows above which the slope on f is used


@inner
def cut_output(f: float) -> float:
    """Return the output f of the members, cut to the range that sums can hold; NaN counts as one half."""
    return 0.5 if np.isnan(f) else min(HIGHEST_OUTPUT, max(LOWEST_OUTPUT, f))


@inner
def mean_label(k: int, a: int, t: TreeArrays) -> float:
    """Return the mean label of node a of tree k of `t`, shrunk by one row to the mean of its parent."""
    s, up = t.sums[k, a], t.parent[k, a]
    prior = 0.5
    if up >= 0 and t.sums[k, up, SUM_1] > 0.0:
        prior = t.sums[k, up, SUM_Y] / t.sums[k, up, SUM_1]
    return float(min(1.0, max(0.0, (s[SUM_Y] + prior) / (s[SUM_1] + 1.0))))


@inner
def slope(k: int, a: int, t: TreeArrays) -> float:
    """Return the slope b of the label on f among the rows of node a of tree k of `t`, cut to [0, 1]."""
    s = t.sums[k, a]
    n = s[SUM_1]
    if n <= SLOPE_FROM:
        return 0.0
    variance = max(0.0, s[SUM_FF] - s[SUM_F] * s[SUM_F] / n)
    covariance = s[SUM_FY] - s[SUM_F] * s[SUM_Y] / n
    return float(min(1.0, max(0.0, covariance / (variance + SLOPE_RIDGE))))


@inner
def leaf_answer(k: int, a: int, f: float, t: TreeArrays) -> float:
    """Return the answer of leaf a of tree k of `t` for a row whose output was f."""
    b = slope(k, a, t)
    shift = b * (f - t.sums[k, a, SUM_F] / t.sums[k, a, SUM_1]) if b > 0.0 else 0.0
    return float(min(1.0, max(0.0, mean_label(k, a, t) + shift)))


@inner
def goes_left(x: float, edge: FloatArray) -> bool:
    """Return whether the value x, maybe missing, is on the left of `edge`."""
    return bool(edge[MISSING_LEFT] > 0.5) if np.isnan(x) else bool(x <= edge[EDGE])


@inner
def share_of_left(x: float, edge: FloatArray) -> float:
    """Return the membership of the value x, maybe missing, in the left child of `edge`."""
    if np.isnan(x) or edge[HALF_WIDTH] <= 0.0:
        return 1.0 if goes_left(x, edge) else 0.0
    return float(min(1.0, max(0.0, 0.5 + 0.5 * ((edge[EDGE] - x) / edge[HALF_WIDTH]))))


@inner
def leaf_of(k: int, a: int, x: FloatArray, t: TreeArrays) -> int:
    """Return the leaf below node a of tree k of `t` that the row x reaches."""
    while t.feature[k, a] >= 0:
        a = t.child[k, a] + (0 if goes_left(x[t.feature[k, a]], t.edge[k, a]) else 1)
    return a


@inner
def tree_answer(k: int, x: FloatArray, f: float, trees: Trees) -> float:
    """Return the answer of tree k of `trees` to the row x, whose output was f; near an edge both sides answer."""
    t, nodes, shares = trees.arrays, trees.work.nodes[0], trees.work.shares
    nodes[0], shares[0] = 0, 1.0
    waiting, g = 1, 0.0
    while waiting > 0:
        waiting -= 1
        a, share = nodes[waiting], shares[waiting]
        if t.feature[k, a] == LEAF:
            g += share * leaf_answer(k, a, f, t)
            continue
        left = share_of_left(x[t.feature[k, a]], t.edge[k, a])
        for side, part in ((0, left), (1, 1.0 - left)):
            if part > 0.0:
                nodes[waiting], shares[waiting] = t.child[k, a] + side, share * part
                waiting += 1
    return g


@inner
def is_grown(k: int, t: TreeArrays) -> bool:
    """Return whether the tree of label k of `t` has more than one leaf."""
    return bool(t.feature[k, 0] >= 0)


@inner
def replace_output(k: int, f: float, g: float, out: FloatArray, trees: Trees) -> None:
    """Replace the output of label k in `out`, f after the cut, by the answer g, as far as the gate lets it.

    The gate is that of `trees`.
    """
    refined = f + trees.arrays.gate[k, TREE_WEIGHT] * (g - f)
    if trees.first == 1:  # two classes: the other one answers the rest
        out[0] += out[k] - refined
    out[k] = refined


@kernel
def refine_rows(trees: Trees, X: FloatArray, out: FloatArray) -> None:
    """Replace the outputs `out` of the members for the rows X as far as the gates are open; nothing else changes.

    X has the features with sensors corrected.
    """
    t = trees.arrays
    for k in range(trees.first, out.shape[1]):
        if t.gate[k, IS_OPEN] > 0.0 and is_grown(k, t):
            for i in range(X.shape[0]):
                f = cut_output(out[i, k])
                replace_output(k, f, tree_answer(k, X[i], f, trees), out[i], trees)
