"""Several classifiers together, to measure the effect of random seeds and of parameters chosen on the stream.

They cost as much as their number; they are reference points, not candidates for a default.
"""

from typing import Any, Self

import numpy as np
import studied

from evolabel.typing import FloatArray


class Bag:
    """The mean of several classifiers whose rules are seeded by different orders of the initial batch."""

    def __init__(self, size: int, seed: int = 0) -> None:
        self.size, self.seed = size, seed

    def fit(self, X: FloatArray, Y: FloatArray) -> Self:
        """Batch phase of each, in its own order; the first keeps the order given."""
        rng = np.random.default_rng(self.seed)
        orders = [np.arange(len(X)), *(rng.permutation(len(X)) for _ in range(self.size - 1))]
        self.members = [studied.classifier().fit(X[order], Y[order]) for order in orders]
        return self

    def test_then_train(self, X: FloatArray, Y: FloatArray) -> FloatArray:
        """Mean of the answers."""
        return np.asarray(np.mean([member.test_then_train(X, Y) for member in self.members], axis=0))


class Committee:
    """The default and others with other parameters: their mean, or the one with the least squared error so far."""

    def __init__(self, *changes: dict[str, Any], leader: bool) -> None:
        self.changes, self.leader = ({}, *changes), leader

    def fit(self, X: FloatArray, Y: FloatArray) -> Self:
        """Batch phase of each."""
        self.members = [studied.classifier(**change).fit(X, Y) for change in self.changes]
        return self

    def test_then_train(self, X: FloatArray, Y: FloatArray) -> FloatArray:
        """The mean, or the leader's answer; the default leads at first."""
        answers = np.stack([member.test_then_train(X, Y) for member in self.members])
        if not self.leader:
            return np.asarray(answers.mean(axis=0))
        losses = np.cumsum(((answers - Y) ** 2).sum(axis=2), axis=1)
        before = np.pad(losses[:, :-1], ((0, 0), (1, 0)))
        return np.asarray(answers[before.argmin(axis=0), np.arange(len(Y))])
