"""Learners that do not look at features: the share of each label so far, and the last answer to each label."""

import numpy as np

from evolabel.baselines.base import LabelCounts, StreamLearner
from evolabel.typing import FloatArray


class RunningPrior(StreamLearner):
    """Scores every row with the share of each label among its annotations so far: a lower bound for other learners.

    Examples
    --------
    >>> from evolabel.baselines import RunningPrior
    >>> from evolabel.evaluate import partial_accuracy
    >>> from evolabel.streams import DriftingStream
    >>> X, Y = DriftingStream(seed=0).take(600)
    >>> learner = RunningPrior().fit(X[:200], Y[:200])
    >>> print(f"{partial_accuracy(Y[200:], learner.test_then_train(X[200:], Y[200:])):.2f}")
    0.56
    """

    def _fit_initial(self, rows: FloatArray, labels: FloatArray) -> None:
        self._counts = LabelCounts(labels.shape[1])
        self._counts.add(labels)

    def _grow_labels(self, n_labels: int) -> None:
        self._counts.grow(n_labels)

    def _learn_rows(self, rows: FloatArray, labels: FloatArray) -> None:
        self._counts.add(labels)

    def _score_rows(self, rows: FloatArray) -> FloatArray:
        return np.tile(self._counts.shares, (len(rows), 1))


class NoChange(StreamLearner):
    """Scores every row with the last answer to each label: hard to beat where labels persist.

    A label without any answer scores 0.

    Examples
    --------
    >>> import numpy as np
    >>> from evolabel.baselines import NoChange
    >>> from evolabel.evaluate import partial_accuracy
    >>> X, Y = np.zeros((600, 1)), (np.arange(600) // 50 % 2)[:, None]  # states of 50 rows
    >>> learner = NoChange().fit(X[:200], Y[:200])
    >>> print(f"{partial_accuracy(Y[200:], learner.test_then_train(X[200:], Y[200:])):.2f}")
    0.98
    """

    def _fit_initial(self, rows: FloatArray, labels: FloatArray) -> None:
        self._last = np.zeros(labels.shape[1])
        self._learn_rows(rows, labels)

    def _grow_labels(self, n_labels: int) -> None:
        self._last = np.pad(self._last, (0, n_labels - len(self._last)))

    def _learn_rows(self, rows: FloatArray, labels: FloatArray) -> None:
        for answers in labels:
            self._last = np.where(np.isnan(answers), self._last, answers)

    def _score_rows(self, rows: FloatArray) -> FloatArray:
        return np.tile(self._last, (len(rows), 1))
