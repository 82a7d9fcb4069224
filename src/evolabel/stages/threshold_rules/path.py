"""The path of one sample through the tree of a label, and the rule at its end."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from evolabel.stages.threshold_rules.arrays import EDGE, HALF_WIDTH, MISSING_LEFT, TREE_WEIGHT, TreeArrays
from evolabel.stages.threshold_rules.read_trees import TreeReader
from evolabel.stages.threshold_rules.words import FULL_WEIGHT, ThresholdRule, weight_text
from evolabel.typing import FloatArray
from evolabel.words.sections import Style

_HALF = 0.5  # weight of the threshold rules from which on they decide
_SURE = 0.95  # share of a leaf in the answer below which it is printed


@dataclass(frozen=True)
class PathStep:
    """A question of the tree: the `value` of `feature` is "below" or "above" the `edge`, or "missing" (None)."""

    feature: str
    value: float | None
    edge: float | None
    side: str


class PathEdge(NamedTuple):
    """A feature that the path asks about, by its number, with the edge and its half-width."""

    feature: int
    edge: float
    width: float


@dataclass(frozen=True)
class ThresholdPath:
    """How the threshold rules answer one sample for one label.

    Attributes
    ----------
    rule : ThresholdRule
        The rule of the leaf with the largest share.
    share : float
        Share of that leaf in the answer; less than 1 near an edge.
    weight : float
        Weight of the threshold rules in the output of the label.
    steps : tuple of PathStep
        From the root to the leaf, in the units that sensors read now.
    edges : tuple of PathEdge
        The same edges by numbers, in corrected units, for those who move a feature across.
    """

    rule: ThresholdRule
    share: float
    weight: float
    steps: tuple[PathStep, ...]
    edges: tuple[PathEdge, ...]

    def words(self, style: Style) -> str:
        """Return which rule decided, with names from users in this `style`."""
        if self.weight < _HALF:
            return f"threshold rule, which counts {weight_text(self.weight)}: {self.rule.words(style)}"
        part = "" if self.share >= _SURE else f" to {weight_text(self.share)}"
        counts = "" if self.weight >= FULL_WEIGHT else f"; threshold rules count {weight_text(self.weight)}"
        return f"decided{part} by: {self.rule.words(style)}{counts}"

    def to_dict(self) -> dict[str, Any]:
        """Return the path as values that JSON can hold."""
        return {
            "rule": self.rule.to_dict(),
            "share": self.share,
            "weight": self.weight,
            "steps": [asdict(step) for step in self.steps],
        }


def threshold_paths(
    trees: TreeReader | None, x: FloatArray, decided: Sequence[object] = ()
) -> tuple[ThresholdPath | None, ...]:
    """Return for each label the path of the corrected sample `x` through its tree; None where no tree is used.

    Two classes share one tree, so both have its path. Labels for which `decided`, if it is not empty, has a written
    rule have no path. Empty without `trees`.
    """
    if trees is None:
        return ()
    found = {k: _path(trees, k, x) for k in trees.open_labels}
    free = [not decided or decided[c] is None for c in range(len(trees.labels))]
    return tuple(found[k] if free[c] and (k := trees.tree_of(c)) is not None else None for c in range(len(free)))


def _path(trees: TreeReader, k: int, x: FloatArray) -> ThresholdPath:
    """Return the path of `x` through tree `k` to the leaf with the largest share."""
    t = trees.arrays
    leaf, share = max(_leaf_shares(t, k, x).items(), key=lambda pair: pair[1])
    nodes = [leaf]
    while t.parent[k, nodes[0]] >= 0:
        nodes.insert(0, int(t.parent[k, nodes[0]]))
    steps = tuple(_step(trees, k, a, b, x) for a, b in pairwise(nodes))
    edges = tuple(
        PathEdge(int(t.feature[k, a]), float(t.edge[k, a, EDGE]), float(t.edge[k, a, HALF_WIDTH])) for a in nodes[:-1]
    )
    return ThresholdPath(_rule_of(trees, k, leaf, x), share, float(t.gate[k, TREE_WEIGHT]), steps, edges)


def _rule_of(trees: TreeReader, k: int, leaf: int, x: FloatArray) -> ThresholdRule:
    """Return the rule of a `leaf` of tree `k`; where that is none of its own, the one that holds for `x`."""
    boxes = trees.boxes(k)
    own = next(box for box in boxes if box.leaf == leaf)
    for box in (own, *(box for box in boxes if box.holds(x))):
        if (rule := trees.rule(k, box)) is not None:
            return rule
    return ThresholdRule(trees.labels[k], None, (), own.share, own.support)  # two texts of one column at once


def _step(trees: TreeReader, k: int, a: int, below: int, x: FloatArray) -> PathStep:
    """Return the step of `x` from node `a` of tree `k` to the node `below` it."""
    t = trees.arrays
    j, edge = int(t.feature[k, a]), float(t.edge[k, a, EDGE])
    known, limit = not np.isnan(x[j]), trees.as_read(j, edge) if np.isfinite(edge) else None
    side = ("below" if below == t.child[k, a] else "above") if known else "missing"
    return PathStep(trees.features[j], trees.as_read(j, float(x[j])) if known else None, limit, side)


def _leaf_shares(t: TreeArrays, k: int, x: FloatArray) -> dict[int, float]:
    """Return the membership of the row `x` in the leaves of tree `k` that it reaches."""
    leaves, waiting = {}, [(0, 1.0)]
    while waiting:
        a, share = waiting.pop()
        j = int(t.feature[k, a])
        if j < 0:
            leaves[a] = share
            continue
        left = _share_of_left(float(x[j]), t.edge[k, a])
        child = int(t.child[k, a])
        waiting += [(b, share * part) for b, part in ((child, left), (child + 1, 1.0 - left)) if part > 0.0]
    return leaves


def _share_of_left(x: float, edge: FloatArray) -> float:
    """Return the membership of the value `x` in the left side of `edge`, as the loop of the same name does."""
    if np.isnan(x):
        return float(edge[MISSING_LEFT] > 0.5)
    if edge[HALF_WIDTH] <= 0.0:
        return float(x <= edge[EDGE])
    return float(min(1.0, max(0.0, 0.5 + (edge[EDGE] - x) / (2.0 * edge[HALF_WIDTH]))))
