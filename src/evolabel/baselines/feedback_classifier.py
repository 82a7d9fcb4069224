"""`FeedbackClassifier`: a learner whose outputs are corrected by its recent errors, as far as errors repeat."""

from typing import ClassVar

import numpy as np

from evolabel.baselines.label_counts import LabelCounts
from evolabel.baselines.wrapper import Wrapper
from evolabel.classifier.estimator import EvolvingFuzzyClassifier
from evolabel.core.batch import Batch
from evolabel.core.members.feedback.error_feedback import ErrorFeedback, feedback_of
from evolabel.errors import DataError
from evolabel.typing import FloatArray


class FeedbackClassifier(Wrapper):
    """Any learner, its outputs corrected by its recent errors (`docs/active-learning.md`).

    For streams in their natural order whose labels arrive before the next sample. For shuffled rows the correction is
    0. The wrapped learner is trained as without the correction.

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
    >>> for learner in (EvolvingFuzzyClassifier(), FeedbackClassifier()):
    ...     scores = learner.fit(X[:200], Y[:200]).test_then_train(X[200:], Y[200:])
    ...     print(f"{partial_accuracy(Y[200:], scores):.2f}")
    0.68
    0.81
    """

    needed: ClassVar[tuple[str, ...]] = ("fit", "test_then_train", "decision_function")

    @property
    def gains_(self) -> FloatArray:
        """Part of the mean recent error that is expected to repeat, for each label, in [0, 1]."""
        self._check_fitted()
        return self._feedback.gains.copy() if self._warm_up is None else np.zeros(self._targets.size)

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
