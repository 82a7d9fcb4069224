"""`Wrapper`: base class of rivals around one other learner; `StaticClassifier`: a learner that stops learning."""

import sys
from typing import Any, ClassVar

import numpy as np
from sklearn.base import clone

from evolabel.baselines.base import StreamLearner
from evolabel.classifier.estimator import EvolvingFuzzyClassifier
from evolabel.errors import DataError, ParameterError
from evolabel.typing import FloatArray


class Wrapper(StreamLearner):
    """A learner of label matrices around another one, `base`; None is an EvolvingFuzzyClassifier."""

    needed: ClassVar[tuple[str, ...]] = ("fit", "decision_function")
    """Methods that `base` must have."""

    def __init__(self, base: Any = None) -> None:
        self.base = base

    @property
    def n_rules_(self) -> int:
        """Number of rules of the wrapped learner, if it has any."""
        self._check_fitted()
        rules: int = self._model.n_rules_
        return rules

    def _check_parameters(self) -> None:
        if self.base is not None and not all(hasattr(self.base, name) for name in (*self.needed, "get_params")):
            methods = ", ".join(self.needed)
            raise ParameterError(f"base={self.base!r} is not allowed; use an estimator with {methods}")

    def _fit_initial(self, rows: FloatArray, labels: FloatArray) -> None:
        learner = EvolvingFuzzyClassifier() if self.base is None else clone(self.base)
        self._model = learner.fit(rows, labels)

    def _grow_labels(self, n_labels: int) -> None:
        """Nothing to do: labels that the wrapped learner does not score get 0."""

    def _score_rows(self, rows: FloatArray) -> FloatArray:
        scores = np.asarray(self._model.decision_function(rows))
        known, missing = scores.shape[1], self._targets.size - scores.shape[1]
        if missing < 0:
            raise DataError(
                f"the learner inside scores {known} labels, {known + missing} were expected; "
                "use one that scores the labels it was fitted on"
            )
        return np.pad(scores, ((0, 0), (0, missing)))

    def _thresholds(self) -> FloatArray:
        known = getattr(self._model, "thresholds_", None)
        common = super()._thresholds()
        return common if known is None else np.append(known, common[len(known) :])


class StaticClassifier(Wrapper):
    """A classifier that stops learning after its initial batch, to measure what updates are worth.

    Later batches are checked but not learned; labels that appear mid-stream score 0.

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

    def _learn_rows(self, rows: FloatArray, labels: FloatArray) -> None:
        pass

    def _rows_until_change(self) -> int:
        return sys.maxsize
