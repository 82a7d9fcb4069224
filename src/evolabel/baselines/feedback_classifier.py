"""`EchoingClassifier`: a learner whose recent errors correct its next answers, as far as errors repeat."""

from typing import ClassVar

import numpy as np

from evolabel.baselines.label_counts import LabelCounts
from evolabel.baselines.wrapper import Wrapper
from evolabel.classifier.estimator import EvolvingFuzzyClassifier
from evolabel.core.batch import Batch
from evolabel.core.members.feedback.error_feedback import ErrorFeedback, feedback_of
from evolabel.errors import DataError
from evolabel.typing import FloatArray


class EchoingClassifier(Wrapper):
    """Any learner, its outputs corrected by the echo of its recent errors (`docs/active-learning.md`).

    For streams that are a course of events, in their order, with answers that come before the next sample does. Where
    rows were shuffled the echo is none. The learner inside never knows of it.

    Parameters
    ----------
    base : estimator or None
        Any learner of label matrices with `fit`, `test_then_train` and `decision_function`; None for an
        EvolvingFuzzyClassifier, which also tells whether errors repeated in its initial batch.

    Examples
    --------
    >>> import numpy as np
    >>> from evolabel import EvolvingFuzzyClassifier
    >>> from evolabel.baselines import EchoingClassifier
    >>> from evolabel.evaluate import partial_accuracy
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(600, 4))
    >>> wave = np.sin(np.arange(600) / 15)[:, None]  # nobody measures it
    >>> Y = (X[:, :2] + 1.5 * wave > 0).astype(float)
    >>> for learner in (EvolvingFuzzyClassifier(), EchoingClassifier()):
    ...     scores = learner.fit(X[:200], Y[:200]).test_then_train(X[200:], Y[200:])
    ...     print(f"{partial_accuracy(Y[200:], scores):.2f}")
    0.68
    0.81
    """

    needed: ClassVar[tuple[str, ...]] = ("fit", "test_then_train", "decision_function")

    @property
    def gains_(self) -> FloatArray:
        """The part of its mean recent error that each label is expected to repeat, in [0, 1]."""
        self._check_fitted()
        return self._echo.gains.copy() if self._warm_up is None else np.zeros(self._targets.size)

    def _begin(self, rows: FloatArray, labels: FloatArray) -> None:
        super()._begin(rows, labels)
        if self._is_ours:
            self._echo = feedback_of(self._model._model)
            return
        counts = LabelCounts(labels.shape[1])
        counts.add(labels)
        self._echo = ErrorFeedback(0, counts.annotated, counts.positive)

    @property
    def _is_ours(self) -> bool:
        return isinstance(self._model, EvolvingFuzzyClassifier)

    def _comparable(self, rows: FloatArray) -> FloatArray:
        """Features that samples can be compared by: only our own learner knows how they are scaled."""
        return self._model._model.standardise(rows) if self._is_ours else rows[:, :0]

    def _learn(self, rows: FloatArray, labels: FloatArray) -> None:
        self._answer_and_learn(rows, labels)

    def _answer(self, rows: FloatArray) -> FloatArray:
        scores = super()._answer(rows)
        return self._echo.answer(Batch(self._comparable(rows), scores), scores)

    def _answer_and_learn(self, rows: FloatArray, labels: FloatArray) -> FloatArray:
        scores = np.array(self._model.test_then_train(rows, labels), np.float64, order="C")
        if scores.shape != labels.shape:
            raise DataError(
                f"the learner inside gave scores of shape {scores.shape}, expected {labels.shape}; "
                "use one that scores every label of every row"
            )
        self._echo.answer_and_learn(Batch(self._comparable(rows), labels), scores)
        return scores
