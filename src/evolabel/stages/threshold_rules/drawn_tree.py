"""The tree of a label as it is drawn: questions, answers in words, and the printed rules as leaves."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from evolabel.stages.threshold_rules.arrays import EDGE, HALF_WIDTH
from evolabel.stages.threshold_rules.edge_strips import joined_edges
from evolabel.stages.threshold_rules.leaves import EVERYWHERE, Side, cut_side
from evolabel.stages.threshold_rules.read_trees import TreeReader
from evolabel.stages.threshold_rules.words import ThresholdRule, edge_text
from evolabel.typing import FloatArray
from evolabel.words.text_columns import value_words


class Branch(NamedTuple):
    """An `answer` to the question of a node, and the node below."""

    answer: str
    node: "DrawnNode"


@dataclass(frozen=True)
class DrawnNode:
    """A `question` with its two branches, or a leaf with its `rule`; `support` counts the samples of all leaves below.

    `edge` is the place of the edge with its uncertainty, in words; empty for categories and missing values.
    """

    question: str = ""
    edge: str = ""
    branches: tuple[Branch, ...] = ()
    rule: ThresholdRule | None = None

    @property
    def leaves(self) -> "list[DrawnNode]":
        """The leaves below, from left to right; the node itself if it is one."""
        return [leaf for branch in self.branches for leaf in branch.node.leaves] if self.branches else [self]

    @property
    def support(self) -> float:
        """Samples of the rules below."""
        return sum(leaf.rule.support for leaf in self.leaves if leaf.rule is not None)

    @property
    def depth(self) -> int:
        """Questions on the longest path below."""
        return 1 + max(branch.node.depth for branch in self.branches) if self.branches else 0


def drawn_tree(trees: TreeReader, k: int) -> DrawnNode:
    """Return tree `k` of `trees` as it is drawn: without strips, and without questions that have one answer only."""
    found = _Drawing(trees, k).node(0, {})
    assert found is not None  # some leaf holds any row
    return found


class _Drawing:
    """Reads tree `k` of `trees` from its root on."""

    def __init__(self, trees: TreeReader, k: int) -> None:
        self._trees, self._k = trees, k
        self._edge = joined_edges(trees.arrays, k, trees.gaps)
        self._rules = {box.leaf: trees.rule(k, box) for box in trees.boxes(k)}

    def node(self, a: int, sides: dict[int, Side]) -> DrawnNode | None:
        """Return node `a`, which features in the ranges `sides` reach; None if no row can be below."""
        t = self._trees.arrays
        j, child = int(t.feature[self._k, a]), int(t.child[self._k, a])
        if j < 0:
            rule = self._rules[a]
            return None if rule is None else DrawnNode(rule=rule)
        here, branches = sides.get(j, EVERYWHERE), []
        for below, left in ((child, True), (child + 1, False)):
            side = cut_side(here, a, self._edge[a], left=left)
            node = self.node(below, {**sides, j: side})
            if node is not None:
                branches.append(Branch(self._answer(j, here, side, left=left), node))
        if len(branches) < 2:
            return branches[0].node if branches else None
        return DrawnNode(*self._question(j, self._edge[a], branches), tuple(branches))

    def _question(self, j: int, edge: FloatArray, branches: list[Branch]) -> tuple[str, str]:
        """Return the feature or column that is asked about, and its edge where the answers need one."""
        if j in self._trees.column_of:
            return self._trees.column_of[j], ""
        name = self._trees.features[j]
        if not any(branch.answer.startswith(("below", "above")) for branch in branches):
            return name, ""
        width = self._trees.width_as_read(j, float(edge[HALF_WIDTH]))
        return name, edge_text(self._trees.as_read(j, float(edge[EDGE])), width) + (
            f" ± {width:.1g}" if width > 0.0 else ""
        )

    def _answer(self, j: int, before: Side, after: Side, *, left: bool) -> str:
        """Return in words the part `after` of the range `before` of feature `j` on one side of its edge."""
        if after.only_missing:
            return "missing"
        if j in self._trees.column_of:
            known = value_words(self._trees.features[j], on=not left)[1]
        elif (after.low, after.high) == (before.low, before.high):
            known = "known"
        else:
            known = "below" if left else "above"
        return f"missing or {known}" if after.missing and bool(np.asarray(self._trees.gaps)[j]) else known
