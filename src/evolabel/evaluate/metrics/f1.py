"""F1 of samples, of all pairs, and of labels: twice the hits over predicted plus positive labels, O(K) per sample.

Where no label is positive and none predicted F1 is 0, scikit-learn's `zero_division=0`.
"""

import numpy as np

from evolabel.evaluate.metrics.base import MIN_SUM, mean_statistics, ratio_statistics
from evolabel.evaluate.metrics.label_sets import LabelSetMetric
from evolabel.evaluate.metrics.scored_labels import ScoredLabels
from evolabel.typing import BoolArray, FloatArray, IntArray


def _hits_and_sizes(predicted: BoolArray, positive: BoolArray) -> tuple[IntArray, IntArray]:
    """For each sample: twice the labels both predicted and positive; the predicted plus the positive ones."""
    return 2 * (predicted & positive).sum(axis=1), predicted.sum(axis=1) + positive.sum(axis=1)


class ExampleF1(LabelSetMetric):
    """F1 of each sample's labels, mean over the samples. 1 is perfect.

    Parameters
    ----------
    threshold : float or sequence of float
        A label is predicted if its score is at least this; one number for all labels or one for each.

    Examples
    --------
    >>> from evolabel.evaluate.metrics import ExampleF1
    >>> ExampleF1().update([[1, 0, 1], [1, 0, 0]], [[0.9, 0.6, 0.7], [0.8, 0.1, 0.2]]).get()
    0.9
    """

    name = "example F1"

    def statistics(self, rows: ScoredLabels) -> FloatArray:
        """Return, for each sample of `rows`: (1 if it counts, F1 of the sample, 1)."""
        hits, sizes = _hits_and_sizes(self.predicted(rows), rows.positive)
        return mean_statistics(rows.any_annotated, hits / np.maximum(sizes, 1))


class MicroF1(LabelSetMetric):
    """F1 of all (sample, label) pairs together: frequent labels count most. 1 is perfect.

    Parameters
    ----------
    threshold : float or sequence of float
        A label is predicted if its score is at least this; one number for all labels or one for each.

    Examples
    --------
    >>> from evolabel.evaluate.metrics import MicroF1
    >>> MicroF1().update([[1, 0, 1], [1, 0, 0]], [[0.9, 0.6, 0.7], [0.8, 0.1, 0.2]]).get()
    0.857
    """

    name = "micro F1"

    def statistics(self, rows: ScoredLabels) -> FloatArray:
        """Return, for each sample of `rows`: (1 if it counts, twice the hits, predicted plus positive labels)."""
        return ratio_statistics(rows.any_annotated, *_hits_and_sizes(self.predicted(rows), rows.positive))


class MacroF1(LabelSetMetric):
    """F1 of each label over all samples, mean over the labels with equal weights. 1 is perfect.

    A label that is neither positive nor predicted anywhere counts as 0; a label without any annotation yet is left out.

    Parameters
    ----------
    threshold : float or sequence of float
        A label is predicted if its score is at least this; one number for all labels or one for each.

    Examples
    --------
    >>> from evolabel.evaluate.metrics import MacroF1
    >>> MacroF1().update([[1, 0, 1], [1, 0, 0]], [[0.9, 0.6, 0.7], [0.8, 0.1, 0.2]]).get()
    0.667
    """

    name = "macro F1"

    def statistics(self, rows: ScoredLabels) -> FloatArray:
        """Return, for each sample of `rows`, 1 if it counts, and for each label (annotated, twice a hit, size).

        The size is 1 for a predicted plus 1 for a positive label.
        """
        predicted, positive = self.predicted(rows), rows.positive
        labels = np.array((rows.annotated, 2.0 * (predicted & positive), 1.0 * predicted + positive), np.float64)
        return np.column_stack((rows.any_annotated, np.moveaxis(labels, 0, 2).reshape(len(positive), -1)))

    def value(self, sums: FloatArray) -> float:
        """Return the mean F1 of the annotated labels from `sums`, the sum of the statistics."""
        annotated, hits, sizes = sums[1:].reshape(-1, 3).T
        f1 = np.divide(hits, sizes, out=np.zeros_like(hits), where=sizes > MIN_SUM)
        return float(f1[annotated > MIN_SUM].mean())
