"""Rivals around one other learner: `StaticClassifier` stops learning, `FeedbackClassifier` corrects by its errors."""

import sys
from typing import Any, ClassVar, TypeVar

import numpy as np
from sklearn.base import clone

from evolabel.baselines.base import LabelCounts, StreamLearner
from evolabel.classifier.estimator import EvolvingFuzzyClassifier
from evolabel.core.rows import Batch
from evolabel.errors import DataError, ParameterError
from evolabel.stages.feedback.stage import ErrorFeedback, feedback_of
from evolabel.typing import FloatArray

L = TypeVar("L")


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
        self._model = self._untrained().fit(rows, labels)

    def _untrained(self) -> Any:
        """Return the learner to wrap, which has learned nothing."""
        return EvolvingFuzzyClassifier() if self.base is None else clone(self.base)

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


class FeedbackClassifier(Wrapper):
    """Any learner, its outputs corrected by its recent errors (`docs/explanations/questions.md`).

    For streams in their natural order whose labels arrive before the next sample. For shuffled rows the correction is
    0. The wrapped learner is trained as without the correction; an EvolvingFuzzyClassifier has no `memory`, whose last
    answers would correct by the same errors once more.

    Parameters
    ----------
    base : estimator or None
        Any learner of label matrices with `fit`, `test_then_train` and `decision_function`; None for an
        EvolvingFuzzyClassifier, which also estimates from its initial batch whether errors repeat.

    Examples
    --------
    >>> import numpy as np
    >>> from evolabel import EvolvingFuzzyClassifier
    >>> from evolabel.baselines import FeedbackClassifier
    >>> from evolabel.evaluate import partial_accuracy
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(600, 4))
    >>> wave = np.sin(np.arange(600) / 15)[:, None]  # not among the features
    >>> Y = (X[:, :2] + 1.5 * wave > 0).astype(float)
    >>> for learner in (EvolvingFuzzyClassifier(memory=None), FeedbackClassifier()):
    ...     scores = learner.fit(X[:200], Y[:200]).test_then_train(X[200:], Y[200:])
    ...     print(f"{partial_accuracy(Y[200:], scores):.2f}")
    0.67
    0.82
    """

    needed: ClassVar[tuple[str, ...]] = ("fit", "test_then_train", "decision_function")

    @property
    def gains_(self) -> FloatArray:
        """Part of the mean recent error that is expected to repeat, for each label, in [0, 1]."""
        self._check_fitted()
        return self._feedback.gains.copy() if self._warm_up is None else np.zeros(self._targets.size)

    def _untrained(self) -> Any:
        return without_memory(super()._untrained())

    def _fit_initial(self, rows: FloatArray, labels: FloatArray) -> None:
        super()._fit_initial(rows, labels)
        if self._is_evolving:
            self._feedback = feedback_of(self._model.inner.model)
            return
        counts = LabelCounts(labels.shape[1])
        counts.add(labels)
        self._feedback = ErrorFeedback(0, counts.annotated, counts.positive)

    @property
    def _is_evolving(self) -> bool:
        return isinstance(self._model, EvolvingFuzzyClassifier)

    def _comparable(self, rows: FloatArray) -> FloatArray:
        """Scaled features by which samples are compared; none for a learner whose scaling is not known."""
        return self._model.inner.model.standardise(rows) if self._is_evolving else rows[:, :0]

    def _learn_rows(self, rows: FloatArray, labels: FloatArray) -> None:
        self._score_and_learn(rows, labels)

    def _score_rows(self, rows: FloatArray) -> FloatArray:
        scores = super()._score_rows(rows)
        return self._feedback.answer(Batch(self._comparable(rows), scores), scores)

    def _score_and_learn(self, rows: FloatArray, labels: FloatArray) -> FloatArray:
        scores = np.array(self._model.test_then_train(rows, labels), np.float64, order="C")
        if scores.shape != labels.shape:
            raise DataError(
                f"the learner inside returned scores of shape {scores.shape}, expected {labels.shape}; "
                "use one that scores every label of every row"
            )
        self._feedback.answer_and_learn(Batch(self._comparable(rows), labels), scores)
        return scores


def without_memory(learner: L) -> L:
    """Return `learner`, which has learned nothing, with its parameter `memory`, if it has one, set to None.

    For learners around it whose `decision_function` has no `follows`, or that correct by recent errors themselves.
    """
    if isinstance(learner, EvolvingFuzzyClassifier) and learner.memory is not None:
        learner.set_params(memory=None)
    return learner
