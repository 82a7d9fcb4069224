"""`threshold_tree`: the tree of thresholds of one label as it is drawn, from its first question to its rules."""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from evolabel._utils.text import samples
from evolabel.stages.threshold_rules.arrays import EDGE, HALF_WIDTH
from evolabel.stages.threshold_rules.figures.figure_data import TreeDrawable
from evolabel.stages.threshold_rules.leaves import EVERYWHERE, Side, cut_side, joined_edges
from evolabel.stages.threshold_rules.read_trees import TreeReader
from evolabel.stages.threshold_rules.words import (
    FULL_WEIGHT,
    LIKELY_FROM,
    ThresholdRule,
    edge_text,
    percent,
    weight_text,
)
from evolabel.typing import FloatArray
from evolabel.words.figures import canvas
from evolabel.words.figures.canvas import Axes
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


_STEP = 2.3  # inches from a question to the next
_ROW = 0.42  # inches from a rule to the next
_TURN = 0.33  # of a step, behind a question: where its branches part
_DARKEST = 0.9  # share of the colour of rules that all their samples agree with
_BRANCH = "#c9d3dc"
_THICKEST, _THINNEST = 5.0, 0.7  # points of a branch


def threshold_tree(classifier: TreeDrawable, label: int | str | None = None, *, ax: "Axes | None" = None) -> "Axes":
    """Draw the tree of a label: its questions, and at the right its rules with their shares and numbers of samples.

    Questions have the edge and its uncertainty. A branch is the wider, the more samples go through it; a rule is the
    darker, the more of its samples have the label. Rules are those that are printed: strips beside an edge are joined.

    Parameters
    ----------
    classifier : EvolvingFuzzyClassifier
    label : name or column number, optional
        A label for which threshold rules are used; by default the first.
    ax : matplotlib Axes, optional
        Axes to draw on; a new figure by default.
    """
    data = classifier.figure_data()
    trees, k = data.tree_of_label(label)
    root = drawn_tree(trees, k)
    n, depth = len(root.leaves), root.depth
    ax = ax if ax is not None else canvas.new_axes(_STEP * depth + 2.8, _ROW * n + 0.7)
    heights = {id(leaf): float(row) for row, leaf in enumerate(root.leaves)}
    _draw_node(ax, root, 0.0, _Frame(data.label_names[k], heights, depth, root.support))
    ax.set(xlim=(-0.28, depth + 0.95), ylim=(n - 0.4, -0.75))
    ax.set_axis_off()
    weight = trees.label_rules(k).weight
    counts = "" if weight >= FULL_WEIGHT else f" (they count {weight_text(weight)})"
    ax.set_title(f"Threshold rules for {canvas.plain(data.label_names[k])}{counts}", loc="left", fontsize=10)
    return ax


class _Frame(NamedTuple):
    """The `label` of a tree, the `heights` of its leaves, their column `depth`, and the `total` of its samples."""

    label: str
    heights: dict[int, float]
    depth: int
    total: float


def _draw_node(ax: "Axes", node: DrawnNode, x: float, frame: _Frame) -> float:
    """Draw `node` at the place `x` of the `frame` with all below it, and return its height."""
    if not node.branches:
        assert node.rule is not None
        _draw_rule(ax, node.rule, float(frame.depth), frame.heights[id(node)], label=frame.label)
        return frame.heights[id(node)]
    below = [_draw_node(ax, branch.node, x + 1.0, frame) for branch in node.branches]
    y = float(np.mean(below))
    for branch, height in zip(node.branches, below, strict=True):
        width = _THINNEST + (_THICKEST - _THINNEST) * float(np.sqrt(branch.node.support / max(frame.total, 1e-300)))
        end = x + 1.0 if branch.node.branches else frame.depth - 0.2
        ax.plot([x, x + _TURN, x + _TURN, end], [y, y, height, height], color=_BRANCH, lw=width, zorder=1)
        answer = canvas.short(branch.answer)
        ax.text(x + _TURN + 0.04, height - 0.09, answer, fontsize=7.5, va="bottom", color="#444444", zorder=3)
    name, edge = canvas.short(node.question), f"\n{node.edge}" if node.edge else ""
    box = {"boxstyle": "round,pad=0.3", "facecolor": "white", "edgecolor": canvas.GREY, "linewidth": 0.8}
    ax.text(x, y, f"{name}{edge}", fontsize=8, ha="center", va="center", bbox=box, linespacing=1.15, zorder=2)
    return y


def _draw_rule(ax: "Axes", rule: ThresholdRule, x: float, y: float, *, label: str) -> None:
    """Draw a `rule` at `x`, `y`: its share on a shade, then its samples and its number.

    The name of its label is added if it is another one than `label`, which the tree is for.
    """
    blue = np.array([int(canvas.BLUE[i : i + 2], 16) / 255.0 for i in (1, 3, 5)])
    shade = tuple(1.0 - _DARKEST * _share_of(rule, label) * (1.0 - blue))
    ax.barh(y, 0.36, 0.6, x - 0.2, color=[shade], edgecolor=canvas.BLUE, linewidth=0.8, zorder=2)
    dark = _share_of(rule, label) >= LIKELY_FROM
    text: dict[str, Any] = {"fontsize": 8, "va": "center", "zorder": 3}
    ax.text(x - 0.02, y, percent(rule.share), ha="center", color="white" if dark else "black", **text)
    name = "" if rule.label == label else f"{canvas.short(rule.label)}, "
    number = "" if rule.number is None else f", rule {rule.number}"
    ax.text(x + 0.21, y, f"{name}{samples(rule.support)}{number}", **text)


def _share_of(rule: ThresholdRule, label: str) -> float:
    """Return the share of `label` among the samples of `rule`, which may be for the other one of two classes."""
    return rule.share if rule.label == label else 1.0 - rule.share
