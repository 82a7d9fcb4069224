"""Min-max scaling by the initial batch, as simple learners want it: nothing is cut that could be real."""

from dataclasses import dataclass
from typing import Self

import numpy as np

from evolabel.typing import FloatArray

FARTHEST = 1e6  # scaled values are cut here, so that a sensor gone wild overflows nothing
NARROWEST = 1e-150  # a feature that spreads less never varied: dividing by its width would overflow


@dataclass(frozen=True)
class MinMaxScaling:
    """Smallest value of the initial batch to 0, largest to 1; a feature that never varied is only shifted to 0.

    `mean` is the mean of the scaled feature, which stands in for missing values.
    """

    low: FloatArray
    width: FloatArray
    mean: FloatArray

    @classmethod
    def of(cls, X: FloatArray) -> Self:
        """Learn from an initial batch; a feature nobody has seen yet is taken as it comes."""
        seen = ~np.isnan(X)
        known = seen.any(axis=0)
        low = np.where(known, np.min(X, axis=0, initial=np.inf, where=seen), 0.0)
        width = np.where(known, np.max(X, axis=0, initial=-np.inf, where=seen), 0.0) - low
        unmeant = cls(low, np.where(width > NARROWEST, width, 1.0), np.zeros(X.shape[1]))
        total = np.sum(unmeant.transform(X), axis=0, where=seen)
        return cls(unmeant.low, unmeant.width, total / np.maximum(seen.sum(axis=0), 1))

    def transform(self, X: FloatArray) -> FloatArray:
        """Scaled rows; NaN stays NaN."""
        return np.clip((X - self.low) / self.width, -FARTHEST, FARTHEST)

    def complete(self, X: FloatArray) -> FloatArray:
        """Scaled rows; the mean stands in for NaN."""
        Z = self.transform(X)
        return np.where(np.isnan(Z), self.mean, Z)
