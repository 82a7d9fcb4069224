"""Twin of `stages.first_tree.loops`: nodes are objects, every split is tried on the rows themselves."""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from evolabel.typing import FloatArray

LEVELS, FEWEST, FITS = 4, 2, (10, 13, 16, 20, 25, 31, 39, 49, 61, 76, 95, 119, 149, 186)
LAST = 232


@dataclass
class Leaf:
    """A node that answers."""

    answer: FloatArray

    def of(self, _: FloatArray) -> FloatArray:
        """The answer to a row."""
        return self.answer


@dataclass
class Split:
    """A node that asks about a feature."""

    feature: int
    edge: float
    missing_left: bool
    left: "Leaf | Split"
    right: "Leaf | Split"

    def of(self, x: FloatArray) -> FloatArray:
        """The answer to a row."""
        return (self.left if goes_left(x[self.feature], self.edge, self.missing_left) else self.right).of(x)


def goes_left(value: float, edge: float, missing_left: bool) -> bool:
    """Which side a value is on."""
    return missing_left if np.isnan(value) else bool(value <= edge)


def squares(Y: FloatArray, W: FloatArray) -> FloatArray:
    """By label, the squared error of rows around their weighted mean."""
    total = W.sum(axis=0)
    mean = np.where(total > 0.0, (W * Y).sum(axis=0) / np.where(total > 0.0, total, 1.0), 0.0)
    return (W * (Y - mean) ** 2).sum(axis=0)


def marks(X: FloatArray) -> list[tuple[float, float]]:
    """Range of each feature, and the sum of i x_i, values from 0 to 1."""
    found = []
    for x in X.T:
        known = x[~np.isnan(x)]
        spread = np.ptp(known) if len(known) else 0.0
        places = np.nan_to_num((x - known.min()) / spread) if spread > 0.0 else np.zeros(len(x))
        found.append((spread, np.arange(1, len(x) + 1) @ places))
    return found


def best_split(
    X: FloatArray, Y: FloatArray, W: FloatArray, of_features: list[tuple[float, float]]
) -> tuple[int, float, bool] | None:
    """The split after which the squared error is smallest, of equal ones that of the widest gap; None: no split."""
    best, found = [1e-9, np.inf, np.inf], None
    for j, (spread, mark) in enumerate(of_features):
        for missing_left in (False, True) if np.isnan(X[:, j]).any() else (False,):
            values = np.where(np.isnan(X[:, j]), -np.inf if missing_left else np.inf, X[:, j])
            for low, high in pairwise(np.unique(values)):
                left = values <= low
                if min(left.sum(), (~left).sum()) < FEWEST:
                    continue
                known = (W[left].sum(axis=0) > 1e-9) & (W[~left].sum(axis=0) > 1e-9)
                gain = squares(Y, W) - squares(Y[left], W[left]) - squares(Y[~left], W[~left])
                infinite = [end for end in (low, high) if np.isinf(end)]
                split = [gain[known].sum(), 0.0 if infinite else (high - low) / spread, mark]
                differing = [(u, v) for u, v in zip(split, best, strict=True) if not np.isclose(u, v, 1e-9, 0.0)]
                if differing and differing[0][0] > differing[0][1]:
                    best, found = split, (j, infinite[0] if infinite else (low + high) / 2.0, missing_left)
    return found


def grown(
    X: FloatArray,
    Y: FloatArray,
    W: FloatArray,
    level: int = 0,
    prior: FloatArray | None = None,
    of_features: list[tuple[float, float]] | None = None,
) -> Leaf | Split:
    """A tree of the rows; leaves are drawn by one row to the answer of the node above."""
    prior = np.where(W.any(axis=0), 0.5, np.nan) if prior is None else prior
    of_features = marks(X) if of_features is None else of_features
    answer = ((W * Y).sum(axis=0) + prior) / (W.sum(axis=0) + 1.0)
    split = best_split(X, Y, W, of_features) if level < LEVELS and len(X) >= 2 * FEWEST else None
    if split is None:
        return Leaf(answer)
    left = np.array([goes_left(value, *split[1:]) for value in X[:, split[0]]])
    return Split(*split, *(grown(X[side], Y[side], W[side], level + 1, answer, of_features) for side in (left, ~left)))


class NaiveFirstTree:
    """All rows in lists; the tree and the mean losses of the last rows."""

    def __init__(self) -> None:
        self.rows: list[tuple[FloatArray, FloatArray, FloatArray]] = []
        self.tree: Leaf | Split | None = None
        self.losses = np.zeros(2)
        self.seen = 0.0

    @property
    def weight(self) -> float:
        """Weight of the tree."""
        if self.seen == 0.0:
            return 0.0
        of_outputs, of_tree = self.losses[0], self.losses[1] * 1.1 * (1.0 + 3.0 / self.seen)
        least = min(of_outputs, of_tree)
        say = np.exp(-10.0 * (np.array([of_outputs, of_tree]) - least) / (least + 0.001))
        return float(say[1] / say.sum())

    def answer(self, x: FloatArray, f: FloatArray) -> FloatArray:
        """The outputs f of a row, mixed with those of the tree."""
        if self.tree is None:
            return f
        g = self.tree.of(x)
        return np.where(np.isnan(g), f, f + self.weight * (g - f))

    def learn(self, x: FloatArray, y: FloatArray, w: FloatArray, f: FloatArray) -> FloatArray:
        """Answer a row with the outputs f, then learn its labels y of the weights w; the answer is returned."""
        if len(self.rows) >= LAST:
            return f
        out = self.answer(x, f)
        if not w.any():
            return out
        if self.tree is not None:
            cut, tree = np.clip(f, 0.0, 1.0), self.tree.of(x)
            errors = [(cut - y) ** 2, (np.where(np.isnan(tree), cut, tree) - y) ** 2]
            self.seen = min(self.seen + w.max(), 50.0)
            for member in range(2):
                loss = np.average(errors[member][w > 0.0], weights=w[w > 0.0])
                self.losses[member] += w.max() / self.seen * (loss - self.losses[member])
        self.rows.append((x, np.where(w > 0.0, y, 0.0), w))
        if len(self.rows) in FITS:
            self.tree = grown(*(np.array(part) for part in zip(*self.rows, strict=True)))
        return out
