"""`NoChange`: the last answer to each label, without regard to the features."""

import numpy as np

from evolabel.baselines.base import StreamLearner
from evolabel.typing import FloatArray


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
