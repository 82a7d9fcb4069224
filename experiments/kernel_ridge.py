"""A reference point: kernel ridge regression that keeps every row and is refitted ten times.

No stream learner. Features are scaled as the package does; width and ridge of the Gaussian kernel come from the exact
leave-one-out error on the initial batch, never from what is scored.
"""

from typing import Self

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from scipy.spatial.distance import cdist

from evolabel.stages.scaling.stage import Scaler, fit_scaler
from evolabel.typing import FloatArray

WIDTHS = (0.5, 1.0, 2.0, 4.0)  # squared width in units of 2 p: the mean squared distance of two scaled rows
RIDGES = 10.0 ** np.arange(-3.0, 1.01, 0.25)
KNOTS = 16


class KernelRidge:
    """Ridge regression with a Gaussian kernel on all rows so far, `refits` times along the stream."""

    def __init__(self, refits: int = 10) -> None:
        self.refits = refits

    def fit(self, X: FloatArray, Y: FloatArray) -> Self:
        """Scaling, width and ridge, and a first solution."""
        self._scaler: Scaler = fit_scaler(X, "quantile", KNOTS)
        self._Z, self._Y = self._scaler.transform(X), Y
        found = [(_leave_one_out(self._kernel(self._Z, width), Y), width) for width in WIDTHS]
        (_, self._ridge), self._width = min(found)
        self._solve()
        return self

    def test_then_train(self, X: FloatArray, Y: FloatArray) -> FloatArray:
        """Answer block after block, each learned before the next."""
        Z, answers = self._scaler.transform(X), []
        for piece in np.array_split(np.arange(len(Z)), self.refits):
            answers.append(self._mean + self._kernel(Z[piece], self._width) @ self._weights)
            self._Z, self._Y = np.vstack([self._Z, Z[piece]]), np.vstack([self._Y, Y[piece]])
            if len(answers) < self.refits:
                self._solve()
        return np.concatenate(answers)

    def _kernel(self, Z: FloatArray, width: float) -> FloatArray:
        return np.exp(-cdist(Z, self._Z, "sqeuclidean") / (2.0 * width * 2.0 * Z.shape[1]))

    def _solve(self) -> None:
        self._mean = self._Y.mean(axis=0)
        K = self._kernel(self._Z, self._width)
        K[np.diag_indices_from(K)] += self._ridge
        self._weights = cho_solve(cho_factor(K, lower=True), self._Y - self._mean)


def _leave_one_out(K: FloatArray, Y: FloatArray) -> tuple[float, float]:
    """Least exact leave-one-out squared error over the ridges, and the ridge."""
    values, axes = np.linalg.eigh(K)
    B = axes.T @ (Y - Y.mean(axis=0))
    errors = []
    for ridge in RIDGES:
        shrink = values / (values + ridge)
        residual = axes @ ((1.0 - shrink)[:, None] * B)
        errors.append(float(((residual / (1.0 - (axes**2) @ shrink)[:, None]) ** 2).mean()))
    best = int(np.argmin(errors))
    return errors[best], float(RIDGES[best])
