"""`LabelCounts`: annotations and positives of labels."""

import numpy as np

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
