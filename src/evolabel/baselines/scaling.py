"""Min-max scaling by the initial batch, for simple learners; later values outside its range are not clipped."""

from dataclasses import dataclass
from typing import Self

import numpy as np

from evolabel.typing import FloatArray

MAX_SCALED = 1e6  # scaled values are clipped here, so that a broken sensor causes no overflow
_MIN_WIDTH = 1e-150  # a feature with a smaller range counts as constant: dividing by its width would overflow


@dataclass(frozen=True)
class MinMaxScaling:
    """Maps the smallest value of the initial batch to 0, the largest to 1; a constant feature is only shifted to 0.

    `mean` is the mean of the scaled feature, which replaces missing values.
    """

    low: FloatArray
    width: FloatArray
    mean: FloatArray

    @classmethod
    def of(cls, X: FloatArray) -> Self:
        """Return the scaling of the initial batch `X`; a feature without any value there is not scaled."""
        seen = ~np.isnan(X)
        known = seen.any(axis=0)
        low = np.where(known, np.min(X, axis=0, initial=np.inf, where=seen), 0.0)
        width = np.where(known, np.max(X, axis=0, initial=-np.inf, where=seen), 0.0) - low
        without_mean = cls(low, np.where(width > _MIN_WIDTH, width, 1.0), np.zeros(X.shape[1]))
        total = np.sum(without_mean.transform(X), axis=0, where=seen)
        return cls(without_mean.low, without_mean.width, total / np.maximum(seen.sum(axis=0), 1))

    def transform(self, X: FloatArray) -> FloatArray:
        """Return the scaled rows `X`; NaN stays NaN."""
        return np.clip((X - self.low) / self.width, -MAX_SCALED, MAX_SCALED)

    def complete(self, X: FloatArray) -> FloatArray:
        """Return the scaled rows `X` with the mean in place of NaN."""
        Z = self.transform(X)
        return np.where(np.isnan(Z), self.mean, Z)
