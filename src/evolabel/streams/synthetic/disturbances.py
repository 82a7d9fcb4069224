"""What goes wrong between a process and its record: outliers, lost values, labels nobody annotated."""

import numpy as np

from evolabel.typing import FloatArray

OUTLIER_DISTANCE = 20.0


class Disturbances:
    """Spoils samples, one after the other.

    Each disturbance draws from a generator of its own, so that one can be switched on without changing what the
    others do, and none changes which samples come.

    Parameters
    ----------
    outliers : float
        Share of samples of which every feature is thrown 20 up or down, about nine standard deviations.
    missing_features : float
        Share of values that are lost (NaN); a sample always keeps one.
    missing_labels : float
        Share of labels nobody annotated (NaN); a sample may lose all.
    seed : int
    """

    def __init__(self, *, outliers: float, missing_features: float, missing_labels: float, seed: int) -> None:
        self.outliers = outliers
        self.missing_features = missing_features
        self.missing_labels = missing_labels
        seeds = np.random.SeedSequence(seed).spawn(3)
        self._outlier_rng, self._feature_rng, self._label_rng = map(np.random.default_rng, seeds)

    def spoil(self, x: FloatArray, y: FloatArray) -> tuple[FloatArray, FloatArray]:
        """The next sample as it is recorded; the arrays given are left alone."""
        if self.outliers:
            x = self._thrown(x)
        if self.missing_features:
            x = self._with_lost_features(x)
        if self.missing_labels:
            y = self._with_lost_labels(y)
        return x, y

    def _thrown(self, x: FloatArray) -> FloatArray:
        if self._outlier_rng.random() >= self.outliers:
            return x
        throw: FloatArray = self._outlier_rng.choice([-OUTLIER_DISTANCE, OUTLIER_DISTANCE], size=x.shape)
        return x + throw

    def _with_lost_features(self, x: FloatArray) -> FloatArray:
        draws = self._feature_rng.random(x.shape)
        lost = draws < self.missing_features
        lost[draws.argmax()] = False  # spares one value only where all were lost
        return np.where(lost, np.nan, x)

    def _with_lost_labels(self, y: FloatArray) -> FloatArray:
        return np.where(self._label_rng.random(y.shape) < self.missing_labels, np.nan, y)
