"""`GlobalRLS`: one linear model per label by recursive least squares."""

import numpy as np

from evolabel._utils.validation import check_number
from evolabel.baselines.base import StreamLearner
from evolabel.baselines.scaling import MinMaxScaling
from evolabel.typing import BoolArray, FloatArray

MAX_VARIANCE_GROWTH = 1e6  # bound of the diagonal of P, as a multiple of its value at the start


class GlobalRLS(StreamLearner):
    """Global recursive least squares with intercept on features scaled to [0, 1] by the initial batch.

    After N rows the weights are the ridge regression on all of them (forgetting 1). All labels share one P: a label
    that is not annotated keeps its weights, the others make their full step, and P is updated with the share of labels
    annotated. A label that appears mid-stream starts with zero weights, as if it had been 0 in all rows so far.

    Parameters
    ----------
    ridge : float
        P starts at I / ridge.
    forgetting : float
        Factor on the weight of all earlier rows with every row; 1 never forgets.

    Examples
    --------
    >>> from evolabel.baselines import GlobalRLS
    >>> from evolabel.evaluate import partial_accuracy
    >>> from evolabel.streams import DriftingStream
    >>> X, Y = DriftingStream(seed=0).take(600)
    >>> learner = GlobalRLS().fit(X[:200], Y[:200])
    >>> print(f"{partial_accuracy(Y[200:], learner.test_then_train(X[200:], Y[200:])):.2f}")
    0.67
    """

    def __init__(self, *, ridge: float = 1.0, forgetting: float = 1.0) -> None:
        self.ridge = ridge
        self.forgetting = forgetting

    def _check_parameters(self) -> None:
        check_number("ridge", self.ridge, 0, open_low=True)
        check_number("forgetting", self.forgetting, 0, 1, open_low=True)

    def _fit_initial(self, rows: FloatArray, labels: FloatArray) -> None:
        self._scaling = MinMaxScaling.of(rows)
        width = rows.shape[1] + 1
        self._P = np.eye(width) / self.ridge
        self._W = np.zeros((width, labels.shape[1]))
        self._learn_rows(rows, labels)

    def _grow_labels(self, n_labels: int) -> None:
        self._W = np.pad(self._W, ((0, 0), (0, n_labels - self._W.shape[1])))

    def _learn_rows(self, rows: FloatArray, labels: FloatArray) -> None:
        for r, y in zip(self._regressors(rows), labels, strict=True):
            known = ~np.isnan(y)
            if known.any():
                self._step(r, y, known)

    def _score_rows(self, rows: FloatArray) -> FloatArray:
        return self._regressors(rows) @ self._W

    def _regressors(self, rows: FloatArray) -> FloatArray:
        return np.column_stack([self._scaling.complete(rows), np.ones(len(rows))])

    def _step(self, r: FloatArray, y: FloatArray, known: BoolArray) -> None:
        """Update weights and P by one row: eqs. (25)-(27) with membership 1, and with forgetting."""
        u = self._P @ r
        q, share = float(r @ u), float(known.mean())
        self._W[:, known] += np.outer(u / (self.forgetting + q), y[known] - r @ self._W[:, known])
        v = u * np.sqrt(share / (self.forgetting + share * q))
        self._P -= np.outer(v, v)
        if self.forgetting < 1.0:
            self._P /= self.forgetting
            self._bound_variance()

    def _bound_variance(self) -> None:
        """Bound the diagonal of P, which forgetting would let grow without end in directions without data."""
        excess = self._P.diagonal() * (self.ridge / MAX_VARIANCE_GROWTH)
        if (excess > 1.0).any():
            shrink = 1.0 / np.sqrt(np.maximum(excess, 1.0))
            self._P *= np.outer(shrink, shrink)
