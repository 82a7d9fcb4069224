"""F1 of samples, of all pairs, and of labels: twice the hits over predicted plus true labels, O(K) per sample.

Where nothing is true and nothing predicted F1 is 0, scikit-learn's `zero_division=0`.
"""

import numpy as np

from evolabel.evaluate.metrics.base import FADED, mean_of, part_of_whole
from evolabel.evaluate.metrics.label_sets import LabelSetMetric
from evolabel.evaluate.metrics.rows import ScoredRows
from evolabel.typing import BoolArray, FloatArray, IntArray


def hits_and_sizes(predicted: BoolArray, on: BoolArray) -> tuple[IntArray, IntArray]:
    """Of each sample: twice the labels both predicted and on; the predicted ones plus those that are on."""
    return 2 * (predicted & on).sum(axis=1), predicted.sum(axis=1) + on.sum(axis=1)


class ExampleF1(LabelSetMetric):
    """F1 of each sample's labels, mean over the samples. 1 is perfect.

    Parameters
    ----------
    threshold : float or sequence of float
        Labels are predicted where the score is at least this much; one number for all labels or one for each.

    Examples
    --------
    >>> from evolabel.evaluate.metrics import ExampleF1
    >>> ExampleF1().update([[1, 0, 1], [1, 0, 0]], [[0.9, 0.6, 0.7], [0.8, 0.1, 0.2]]).get()
    0.9
    """

    name = "example F1"

    def statistics(self, rows: ScoredRows) -> FloatArray:
        """(judged, F1 of the sample, 1)."""
        hits, sizes = hits_and_sizes(self.predicted(rows), rows.on)
        return mean_of(rows.annotated, hits / np.maximum(sizes, 1))


class MicroF1(LabelSetMetric):
    """F1 of all (sample, label) pairs together: frequent labels count most. 1 is perfect.

    Parameters
    ----------
    threshold : float or sequence of float
        Labels are predicted where the score is at least this much; one number for all labels or one for each.

    Examples
    --------
    >>> from evolabel.evaluate.metrics import MicroF1
    >>> MicroF1().update([[1, 0, 1], [1, 0, 0]], [[0.9, 0.6, 0.7], [0.8, 0.1, 0.2]]).get()
    0.857
    """

    name = "micro F1"

    def statistics(self, rows: ScoredRows) -> FloatArray:
        """(judged, twice the hits, predicted and true labels)."""
        return part_of_whole(rows.annotated, *hits_and_sizes(self.predicted(rows), rows.on))


class MacroF1(LabelSetMetric):
    """F1 of each label over all samples, mean over the labels: all labels count alike. 1 is perfect.

    A label that is neither true nor predicted anywhere counts as 0; a label nobody has annotated yet does not count.

    Parameters
    ----------
    threshold : float or sequence of float
        Labels are predicted where the score is at least this much; one number for all labels or one for each.

    Examples
    --------
    >>> from evolabel.evaluate.metrics import MacroF1
    >>> MacroF1().update([[1, 0, 1], [1, 0, 0]], [[0.9, 0.6, 0.7], [0.8, 0.1, 0.2]]).get()
    0.667
    """

    name = "macro F1"

    def statistics(self, rows: ScoredRows) -> FloatArray:
        """1 if judged, then for each label: annotated, twice a hit, predicted plus true."""
        predicted, on = self.predicted(rows), rows.on
        labels = np.array((rows.known, 2.0 * (predicted & on), 1.0 * predicted + on), np.float64)
        return np.column_stack((rows.annotated, np.moveaxis(labels, 0, 2).reshape(len(on), -1)))

    def value(self, sums: FloatArray) -> float:
        """Mean of the labels' F1."""
        annotated, hits, sizes = sums[1:].reshape(-1, 3).T
        f1 = np.divide(hits, sizes, out=np.zeros_like(hits), where=sizes > FADED)
        return float(f1[annotated > FADED].mean())
