"""`RunningPrior`: the share of each label so far, without regard to the features."""

import numpy as np

from evolabel.baselines.base import StreamLearner
from evolabel.baselines.label_counts import LabelCounts
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
