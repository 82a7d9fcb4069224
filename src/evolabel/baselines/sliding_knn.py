"""`SlidingKNN`: nearest neighbours among the last rows."""

import numpy as np

from evolabel._utils.validation import check_number
from evolabel.baselines.base import LabelCounts, StreamLearner
from evolabel.baselines.scaling import MinMaxScaling
from evolabel.typing import FloatArray

_MIN_DISTANCE = 1e-6  # added to distances, so that an equal row has a large but finite weight
_TIE_BREAK = 1e-6  # weight of the label shares of the window in a score: ties are ranked by how common a label is


class SlidingKNN(StreamLearner):
    """k nearest neighbours in a sliding window, weighted by 1 / distance, features scaled by the initial batch.

    A label's score is its weighted share among the neighbours with an annotation of it; without any, its share in the
    window. Rows without any annotation do not enter the window. A missing feature is replaced by the mean of the
    initial batch.

    Parameters
    ----------
    k : int
        Number of neighbours.
    window : int
        Number of rows stored, the initial batch included.

    Examples
    --------
    >>> from evolabel.baselines import SlidingKNN
    >>> from evolabel.evaluate import partial_accuracy
    >>> from evolabel.streams import DriftingStream
    >>> X, Y = DriftingStream(seed=0).take(600)
    >>> learner = SlidingKNN().fit(X[:200], Y[:200])
    >>> print(f"{partial_accuracy(Y[200:], learner.test_then_train(X[200:], Y[200:])):.2f}")
    0.81
    """

    def __init__(self, *, k: int = 10, window: int = 1000) -> None:
        self.k = k
        self.window = window

    def _check_parameters(self) -> None:
        check_number("k", self.k, 1, whole=True)
        check_number("window", self.window, 1, whole=True)

    def _fit_initial(self, rows: FloatArray, labels: FloatArray) -> None:
        self._scaling = MinMaxScaling.of(rows)
        size, n_labels = int(self.window), labels.shape[1]
        self._Z = np.empty((size, rows.shape[1]))
        self._Y = np.full((size, n_labels), np.nan)
        self._counts = LabelCounts(n_labels)
        self._entered = 0
        self._learn_rows(rows, labels)

    def _grow_labels(self, n_labels: int) -> None:
        extra = n_labels - self._Y.shape[1]
        self._Y = np.pad(self._Y, ((0, 0), (0, extra)), constant_values=np.nan)
        self._counts.grow(n_labels)

    def _learn_rows(self, rows: FloatArray, labels: FloatArray) -> None:
        for z, y in zip(self._scaling.complete(rows), labels, strict=True):
            if not np.isnan(y).all():
                self._store(z, y)

    def _store(self, z: FloatArray, y: FloatArray) -> None:
        """Replace the oldest row of the window."""
        place = self._entered % len(self._Z)
        self._counts.add(self._Y[[place]], -1.0)  # an empty place holds only NaN
        self._Z[place], self._Y[place] = z, y
        self._counts.add(self._Y[[place]])
        self._entered += 1

    def _score_rows(self, rows: FloatArray) -> FloatArray:
        filled = min(self._entered, len(self._Z))
        common = self._counts.shares
        scores = [self._vote(z, self._Z[:filled], common) for z in self._scaling.complete(rows)]
        return np.array(scores) + _TIE_BREAK * common

    def _vote(self, z: FloatArray, window: FloatArray, common: FloatArray) -> FloatArray:
        """Weighted label shares among the neighbours of one row; `common` where none of them is annotated."""
        gap = window - z
        distance = np.sqrt(np.einsum("ij,ij->i", gap, gap))
        k = min(int(self.k), len(window))
        near = np.argpartition(distance, k - 1)[:k]
        Y = self._Y[near]
        weight = (1.0 / (distance[near] + _MIN_DISTANCE))[:, None] * ~np.isnan(Y)
        total = weight.sum(axis=0)
        share = np.sum(weight * (Y == 1.0), axis=0) / np.where(total > 0.0, total, 1.0)
        return np.where(total > 0.0, share, common)
