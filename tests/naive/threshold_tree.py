"""Twin of the trees of `stages.threshold_rules.loops`: a node is an object with its parent and its children."""

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from evolabel.typing import FloatArray


def clip(value: float, low: float, high: float) -> float:
    """The value, cut to [low, high]."""
    return float(min(high, max(low, value)))


@dataclass(eq=False)
class Node:
    """A leaf, or a step with two children; `place` is its number in the arrays of the kernels."""

    place: int
    up: "Node | None" = None
    feature: int = -1
    edge: float = 0.0
    width: float = 0.0
    missing_left: bool = False
    children: "tuple[Node, ...]" = ()
    sums: FloatArray = field(default_factory=lambda: np.zeros(5))  # of 1, f, f f, y, f y
    since: float = 0.0  # rows since the last trial
    wait: float = 20.0  # rows until the next one
    gains: FloatArray = field(default_factory=lambda: np.zeros(3))  # of the subtree: sum, squares, rows

    def below(self) -> "list[Node]":
        """This node and all below, parents first."""
        return [self, *(node for child in self.children for node in child.below())]

    def root(self) -> "Node":
        """The top of the tree."""
        return self if self.up is None else self.up.root()

    def goes_left(self, x: FloatArray) -> bool:
        """Which child a row reaches."""
        value = x[self.feature]
        return self.missing_left if np.isnan(value) else bool(value <= self.edge)

    def path(self, x: FloatArray) -> "Iterator[Node]":
        """The nodes that a row reaches, from here down to a leaf."""
        yield self
        if self.children:
            yield from self.children[0 if self.goes_left(x) else 1].path(x)

    def leaf(self, x: FloatArray) -> "Node":
        """The leaf that a row reaches."""
        return list(self.path(x))[-1]

    def mean(self) -> float:
        """Mean label, shrunk by one row to the mean of the parent, or to one half."""
        prior = 0.5
        if self.up is not None and self.up.sums[0] > 0.0:
            prior = self.up.sums[3] / self.up.sums[0]
        return clip((self.sums[3] + prior) / (self.sums[0] + 1.0), 0.0, 1.0)

    def slope(self) -> float:
        """cov(f, y) / (var f + 1 / n), cut to [0, 1]."""
        n = self.sums[0]
        if n <= 2.0:
            return 0.0
        f, ff, y, fy = self.sums[1:] / n
        return clip((fy - f * y) / (max(0.0, ff - f * f) + 1.0 / n), 0.0, 1.0)

    def answer(self, f: float) -> float:
        """Answer as a leaf to a row whose output was f."""
        b = self.slope()
        return clip(self.mean() + (b * (f - self.sums[1] / self.sums[0]) if b > 0.0 else 0.0), 0.0, 1.0)

    def soft_answer(self, x: FloatArray, f: float) -> float:
        """Answer of the tree below; between edge - width and edge + width both children answer."""
        if not self.children:
            return self.answer(f)
        value = x[self.feature]
        left = float(self.goes_left(x))
        if self.width > 0.0 and not np.isnan(value):
            left = float(np.interp(value, [self.edge - self.width, self.edge + self.width], [1.0, 0.0]))
        parts = zip((left, 1.0 - left), self.children, strict=True)
        return sum(part * child.soft_answer(x, f) for part, child in parts if part > 0.0)

    def split(self, feature: int, edge: float, *, missing_left: bool) -> bool:
        """Two new leaves in the first free places; False if there are 48 leaves."""
        used = {node.place for node in self.root().below()}
        left = next((place for place in range(1, 95, 2) if place not in used), None)
        if left is None:
            return False
        self.feature, self.edge, self.width, self.missing_left = feature, edge, 0.0, missing_left
        self.children, self.gains = (Node(left, self), Node(left + 1, self)), np.zeros(3)
        return True

    def become_leaf(self) -> None:
        """Take back all splits from here on."""
        self.feature, self.children = -1, ()
