"""Disturbances of samples: outliers, missing values, missing labels."""

import numpy as np

from evolabel.typing import FloatArray

OUTLIER_DISTANCE = 20.0  # about nine standard deviations of a feature


class Disturbances:
    """Adds outliers and missing values to samples, one after the other.

    Each disturbance has a random generator of its own. So one can be switched on without changing the others, and none
    changes the samples that are drawn.

    Parameters
    ----------
    outliers : float
        Share of samples of which every feature is moved by 20 up or down, about nine standard deviations.
    missing_features : float
        Share of values that become NaN; every sample keeps at least one.
    missing_labels : float
        Share of labels that become NaN; a sample may lose all.
    seed : int
        Seed of the random generators.
    """

    def __init__(self, *, outliers: float, missing_features: float, missing_labels: float, seed: int) -> None:
        self.outliers = outliers
        self.missing_features = missing_features
        self.missing_labels = missing_labels
        seeds = np.random.SeedSequence(seed).spawn(3)
        self._outlier_rng, self._feature_rng, self._label_rng = map(np.random.default_rng, seeds)

    def apply(self, x: FloatArray, y: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the next sample with disturbances; `x` and `y` themselves are not changed."""
        if self.outliers:
            x = self._with_outliers(x)
        if self.missing_features:
            x = self._with_missing_features(x)
        if self.missing_labels:
            y = self._with_missing_labels(y)
        return x, y

    def _with_outliers(self, x: FloatArray) -> FloatArray:
        if self._outlier_rng.random() >= self.outliers:
            return x
        offsets: FloatArray = self._outlier_rng.choice([-OUTLIER_DISTANCE, OUTLIER_DISTANCE], size=x.shape)
        return x + offsets

    def _with_missing_features(self, x: FloatArray) -> FloatArray:
        draws = self._feature_rng.random(x.shape)
        missing = draws < self.missing_features
        missing[draws.argmax()] = False  # has an effect only if all were missing
        return np.where(missing, np.nan, x)

    def _with_missing_labels(self, y: FloatArray) -> FloatArray:
        return np.where(self._label_rng.random(y.shape) < self.missing_labels, np.nan, y)
