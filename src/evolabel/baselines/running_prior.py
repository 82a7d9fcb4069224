"""`RunningPrior`: the share of each label so far, without regard to the features; `LabelCounts`, which it needs."""

import numpy as np

from evolabel.baselines.base import StreamLearner
from evolabel.typing import FloatArray


class LabelCounts:
    """Annotations and positives per label; rows can also be taken back."""

    def __init__(self, n_labels: int) -> None:
        self.positive = np.zeros(n_labels)
        self.annotated = np.zeros(n_labels)

    def add(self, labels: FloatArray, sign: float = 1.0) -> None:
        """Count rows of 0, 1 and NaN (not annotated); `sign` -1 takes them back."""
        self.positive += sign * (labels == 1.0).sum(axis=0)
        self.annotated += sign * (~np.isnan(labels)).sum(axis=0)

    def grow(self, n_labels: int) -> None:
        """New labels have no annotation yet."""
        extra = n_labels - len(self.positive)
        self.positive, self.annotated = np.pad(self.positive, (0, extra)), np.pad(self.annotated, (0, extra))

    @property
    def shares(self) -> FloatArray:
        """Share of each label among its annotations; 0 for a label without any."""
        return np.asarray(self.positive / np.maximum(self.annotated, 1.0))


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
