"""`Batch`: rows with their labels and weights, checked, as everything between classifier and kernels takes them."""

from typing import NamedTuple

import numpy as np

from evolabel.typing import BoolArray, FloatArray, IntArray

NO_WEIGHTS = np.empty(0)
NOT_GIVEN = np.empty((0, 0))


class Batch(NamedTuple):
    """Checked rows on their way through the model. Empty arrays: not given."""

    X: FloatArray
    """Features, (n, p), raw or scaled; NaN: missing."""
    Y: FloatArray
    """Labels, (n, K): 0, 1, NaN (not annotated)."""
    weights: FloatArray = NO_WEIGHTS
    """Sample weights, (n,) or (0,)."""
    confidences: FloatArray = NOT_GIVEN
    """Confidence of each label, (n, K) in [0, 1] or (0, 0)."""
    outputs: FloatArray = NOT_GIVEN
    """Receives the output for each row before the row is learned, (n, K) or (0, 0)."""
    decisions: FloatArray = NOT_GIVEN
    """Receives the decisions before each row, 0 or 1, where a model learns how to decide, (n, K) or (0, 0)."""
    raw: FloatArray = NOT_GIVEN
    """Raw features where `X` is scaled, (n, p) or (0, 0); members beside the rules read them."""
    read: FloatArray = NOT_GIVEN
    """Receives the raw features with sensors corrected, as each row was read, (n, p) or (0, 0)."""
    probabilities: FloatArray = NOT_GIVEN
    """Receives the probabilities of the labels before each row, (n, K) or (0, 0)."""
    coverages: FloatArray = NO_WEIGHTS
    """Coverage of the prediction set asked for each row, (n,) or (0,)."""
    set_limits: FloatArray = NOT_GIVEN
    """Receives the thresholds of the prediction sets at `coverages` before each row, (n, K) or (0, 0)."""

    def rows(self, part: slice | BoolArray | IntArray) -> "Batch":
        """Return the rows in `part`; for a slice, arrays are views, so that outputs reach the whole batch."""
        return Batch(*(array[part] if len(array) else array for array in self))

    def labelled(self) -> BoolArray:
        """Return which rows are learned from, (n,): those of a weight above 0 with an annotated label."""
        annotated = np.asarray(~np.isnan(self.Y).all(axis=1))
        return annotated & (self.weights > 0.0) if len(self.weights) else annotated

    def answer_weights(self) -> FloatArray:
        """Return the weight of each label, (n, K) in [0, 1]: its confidence, times the sample weight if below 1."""
        sure = self.confidences if len(self.confidences) else np.ones(self.Y.shape)
        return sure * np.minimum(self.weights, 1.0)[:, None] if len(self.weights) else sure


class Memberships(NamedTuple):
    """Position of rows among the rules, both arrays (n, C)."""

    psi: FloatArray
    """Normalised memberships, eq. (2)."""
    D: FloatArray
    """Mean squared distances."""
