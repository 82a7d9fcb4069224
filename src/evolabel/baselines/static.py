"""`StaticClassifier`: learns the initial batch and never again."""

import sys
from typing import Any

import numpy as np
from sklearn.base import clone

from evolabel.adapters.scikit_learn import EvolvingFuzzyClassifier
from evolabel.baselines.base import StreamLearner
from evolabel.errors import ParameterError
from evolabel.kernels.state import FloatArray


class StaticClassifier(StreamLearner):
    """A classifier that stops learning after its initial batch: what is lost if nobody updates the model.

    Later batches are checked but teach nothing; labels that appear mid-stream score 0.

    Parameters
    ----------
    base : estimator or None
        Any learner of label matrices with `fit` and `decision_function`; None for an EvolvingFuzzyClassifier.

    Examples
    --------
    >>> from evolabel.baselines import StaticClassifier
    >>> from evolabel.evaluate import partial_accuracy
    >>> from evolabel.streams import DriftingStream
    >>> X, Y = DriftingStream(seed=0).take(600)
    >>> learner = StaticClassifier().fit(X[:200], Y[:200])
    >>> print(f"{partial_accuracy(Y[200:], learner.test_then_train(X[200:], Y[200:])):.2f}")
    0.83
    """

    def __init__(self, base: Any = None) -> None:
        self.base = base

    @property
    def n_rules_(self) -> int:
        """Rules of the classifier, if it has any."""
        self._check_fitted()
        rules: int = self._model.n_rules_
        return rules

    def _check_parameters(self) -> None:
        needed = ("fit", "decision_function", "get_params")
        if self.base is not None and not all(hasattr(self.base, name) for name in needed):
            raise ParameterError(f"base={self.base!r} is not allowed; use an estimator with fit and decision_function")

    def _begin(self, rows: FloatArray, labels: FloatArray) -> None:
        learner = EvolvingFuzzyClassifier() if self.base is None else clone(self.base)
        self._model = learner.fit(rows, labels)
        self._unknown = 0

    def _grow(self, n_labels: int) -> None:
        self._unknown += n_labels - self._targets.size

    def _learn(self, rows: FloatArray, labels: FloatArray) -> None:
        pass

    def _answer(self, rows: FloatArray) -> FloatArray:
        return np.pad(self._model.decision_function(rows), ((0, 0), (0, self._unknown)))

    def _thresholds(self) -> FloatArray:
        known = getattr(self._model, "thresholds_", None)
        common = super()._thresholds()
        return common if known is None else np.append(known, common[len(known) :])

    def _rows_until_change(self) -> int:
        return sys.maxsize
