"""Learners on a budget, for the harness: all labels are there, but they only learn those they ask for."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from functools import partial
from typing import Any, Self

import numpy as np
from sklearn.base import clone

from evolabel.active import ActiveLearner
from evolabel.adapters.scikit_learn import EvolvingFuzzyClassifier
from evolabel.kernels.state import FloatArray

Teacher = Callable[[FloatArray], None]
"""Takes all labels of the row in question, and teaches those that were asked for."""


class LearnerOnBudget(ABC):
    """Learns the initial batch, then answers every row, asks about some, and learns what it has asked for.

    Parameters
    ----------
    classifier : EvolvingFuzzyClassifier
        Stays as it is; a copy of it learns.
    budget : float
        Share of the stream that may be asked for.
    """

    def __init__(self, classifier: EvolvingFuzzyClassifier, budget: float) -> None:
        self.classifier = classifier
        self.budget = budget

    def fit(self, X: FloatArray, Y: FloatArray) -> Self:
        """Learn the initial batch with all its labels."""
        self._taught: EvolvingFuzzyClassifier = clone(self.classifier).fit(X, Y)
        self._begin()
        return self

    def partial_fit(self, X: FloatArray, Y: FloatArray) -> Self:
        """Walk along rows, and learn the answers to what is asked."""
        self.test_then_train(X, Y)
        return self

    def decision_function(self, X: FloatArray) -> FloatArray:
        """Continuous outputs."""
        return self._taught.decision_function(X)

    def test_then_train(self, X: FloatArray, Y: FloatArray) -> FloatArray:
        """Outputs of every row from before anything was learned from it."""
        scores, done = np.empty(Y.shape), 0
        while done < len(X):
            passed, teach = self._ask(X[done:])
            end = done + passed + (teach is not None)
            scores[done:end] = self.decision_function(X[done:end])  # nothing is learned between these rows
            if teach is not None:
                teach(Y[end - 1])
            done = end
        return scores

    @property
    def n_rules_(self) -> int:
        """Rules there are now."""
        return self._taught.n_rules_

    @property
    @abstractmethod
    def share_used_(self) -> float:
        """Share of the samples, or labels, that were asked for so far."""

    @abstractmethod
    def _begin(self) -> None:
        """The initial batch is learned; the stream begins."""

    @abstractmethod
    def _ask(self, X: FloatArray) -> tuple[int, Teacher | None]:
        """How many rows are passed by, and how the next one is taught; None if there is none to ask about."""


class AskingLearner(LearnerOnBudget):
    """Asks where an `ActiveLearner` would; `options` are its further parameters."""

    def __init__(self, classifier: EvolvingFuzzyClassifier, budget: float, per: str, **options: Any) -> None:
        super().__init__(classifier, budget)
        self.per = per
        self.options = options

    @property
    def share_used_(self) -> float:
        """Share of the samples, or labels, that were asked for so far."""
        return self._learner.bucket.share

    def _begin(self) -> None:
        self._learner = ActiveLearner(self._taught, self.budget, self.per, **self.options)

    def _ask(self, X: FloatArray) -> tuple[int, Teacher | None]:
        query, passed = self._learner.watch(X)
        if query is None:
            return passed, None
        return passed, lambda y: self._learner.update(query, np.where(query.labels, y, np.nan))


class ChanceLearner(LearnerOnBudget):
    """Asks about every sample with the same chance, and for all its labels."""

    def __init__(self, classifier: EvolvingFuzzyClassifier, budget: float, seed: int = 0) -> None:
        super().__init__(classifier, budget)
        self.seed = seed

    @property
    def share_used_(self) -> float:
        """Share of the samples that were asked for so far."""
        return self._asked / max(self._seen, 1)

    def _begin(self) -> None:
        self._chance = np.random.default_rng(self.seed)
        self._seen = self._asked = 0

    def _ask(self, X: FloatArray) -> tuple[int, Teacher | None]:
        for passed in range(len(X)):
            self._seen += 1
            if self._chance.random() < self.budget:
                self._asked += 1
                return passed, partial(self._teach, X[passed])
        return len(X), None

    def _teach(self, x: FloatArray, y: FloatArray) -> None:
        self._taught.partial_fit(x[None], y[None])
