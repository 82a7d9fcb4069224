"""Learners of the study that are not settings of the classifier: other initial centres of rules, rules that are split.

All of them are the package's own model with one step replaced, behind `fit` and `test_then_train`.
"""

from collections.abc import Callable
from typing import Any, Self

import numpy as np
import studied

from evolabel.core.rows import Batch
from evolabel.model.pipeline import StreamModel
from evolabel.model.start.batch_phase import initialise
from evolabel.stages.rules import inverses
from evolabel.stages.rules.loops.moments import derive_inverse_variance
from evolabel.stages.rules.stage import RuleBase
from evolabel.typing import FloatArray

Seeds = Callable[[FloatArray, int, int], FloatArray]  # scaled rows, how many, random seed -> centres


class Changed:
    """A stream model with its two phases, where a variant replaces one step."""

    def __init__(self, seed: int = 0, **parameters: Any) -> None:
        self.seed = seed
        self.options = studied.options(**parameters)

    def fit(self, X: FloatArray, Y: FloatArray) -> Self:
        """Batch phase."""
        self.model = StreamModel(X.shape[1], Y.shape[1], self.options)
        initialise(self.model, Batch(X, Y))
        self._batch(self.model.trained(), self.model.scale(X), Y)
        return self

    def test_then_train(self, X: FloatArray, Y: FloatArray) -> FloatArray:
        """Answer every row, then learn it; without an initial batch the first `warm_up` rows are one, answered by 0."""
        out = np.zeros(Y.shape)
        if not hasattr(self, "model"):
            first = self.options.warm_up
            self.fit(X[:first], Y[:first])
            out[first:] = self.test_then_train(X[first:], Y[first:])
            return out
        self.model.learn(Batch(X, Y, outputs=out))
        return out

    def _batch(self, rules: RuleBase, Z: FloatArray, Y: FloatArray) -> None:
        rules.learn(Batch(Z, Y), consequents=False)
        rules.learn(Batch(Z, Y), structure=False)


class SinglePass(Changed):
    """Consequents learn the initial batch while the rules are still moving."""

    def _batch(self, rules: RuleBase, Z: FloatArray, Y: FloatArray) -> None:
        rules.learn(Batch(Z, Y))


class TwiceMoved(Changed):
    """The rules see the initial batch twice before the consequents do."""

    def _batch(self, rules: RuleBase, Z: FloatArray, Y: FloatArray) -> None:
        rules.learn(Batch(Z, Y), consequents=False)
        super()._batch(rules, Z, Y)


class Seeded(Changed):
    """Rules start at chosen centres instead of the first samples that come."""

    def __init__(self, seeds: Seeds, seed: int = 0, **parameters: Any) -> None:
        super().__init__(seed, **parameters)
        self.seeds = seeds

    def _batch(self, rules: RuleBase, Z: FloatArray, Y: FloatArray) -> None:
        for centre in self.seeds(Z, min(rules.settings.max_rules, len(Z)), self.seed):
            rules._create_rule(centre, 1.0)
        super()._batch(rules, Z, Y)


def k_means(Z: FloatArray, count: int, seed: int) -> FloatArray:
    """Centres of k-means on the initial batch."""
    from sklearn.cluster import KMeans

    return np.asarray(KMeans(count, n_init=3, random_state=seed).fit(Z).cluster_centers_)


def k_means_plus_plus(Z: FloatArray, count: int, seed: int) -> FloatArray:
    """Samples drawn by their squared distance to those drawn before."""
    from sklearn.cluster import kmeans_plusplus

    return np.asarray(kmeans_plusplus(Z, count, random_state=seed)[0])


def farthest_first(Z: FloatArray, count: int, seed: int) -> FloatArray:
    """The first sample, then always the one farthest from all chosen."""
    chosen = [0]
    gap = ((Z - Z[0]) ** 2).sum(axis=1)
    while len(chosen) < count:
        chosen.append(int(gap.argmax()))
        gap = np.minimum(gap, ((Z - Z[chosen[-1]]) ** 2).sum(axis=1))
    return Z[chosen]


class Splitting(Changed):
    """Every `every` rows the closest pair is merged and the rule with most support split along its main axis."""

    def __init__(self, every: int, most: float, seed: int = 0, **parameters: Any) -> None:
        super().__init__(seed, **parameters)
        self.every, self.most = every, most

    def test_then_train(self, X: FloatArray, Y: FloatArray) -> FloatArray:
        """Answer every row, then learn it; split now and then."""
        parts = []
        for start in range(0, len(X), self.every):
            piece = slice(start, start + self.every)
            parts.append(super().test_then_train(X[piece], Y[piece]))
            split_largest(self.model.trained(), self.most)
        return np.concatenate(parts)


def split_largest(rules: RuleBase, most: float) -> None:
    """Split the best supported rule if it has `most` times the mean support; a slot is freed by merging."""
    support = rules.arrays.k[1 : rules.n_rules + 1]
    if support.max() < most * support.mean():
        return
    rules.shrink_to(rules.settings.max_rules - 1)
    a, p = rules.arrays, rules.n_features
    slot = 1 + int(a.k[1 : rules.n_rules + 1].argmax())
    inverses.apply_pending(slot, a)
    rules.copy_rule(rules, slot)
    a, twin = rules.arrays, rules.n_rules
    H = rules.hessian(slot)
    mean = H[-1, :-1] / H[-1, -1]
    values, axes = np.linalg.eigh(H[:-1, :-1] / H[-1, -1] - np.outer(mean, mean))
    step = np.sqrt(2.0 / np.pi * max(values[-1], 0.0)) * axes[:, -1]  # mean of half a Gaussian
    for place, sign in ((slot, -1.0), (twin, 1.0)):
        for array in (a.H, a.G, a.M, a.n, a.k):
            array[place] *= 0.5
        a.c[place, :p] += sign * step
        a.M[place, :p] = np.maximum(a.M[place, :p] - a.n[place, :p] * step**2, 0.0)
        derive_inverse_variance(place, a, rules.settings)
        inverses.derive_inverse(place, a, rules.settings)
