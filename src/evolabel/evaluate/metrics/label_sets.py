"""Metrics of the predicted sets of labels: accuracies, Hamming loss, three kinds of F1.

A sample costs O(K). A label is predicted if its score is at least the threshold. F1 is twice the hits over predicted
plus positive labels; where no label is positive and none predicted it is 0, scikit-learn's `zero_division=0`.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from evolabel.errors import DataError, ParameterError
from evolabel.evaluate.metrics.base import MIN_SUM, Metric, mean_statistics, ratio_statistics
from evolabel.evaluate.metrics.scored_labels import ScoredLabels
from evolabel.typing import BoolArray, FloatArray, IntArray

DEFAULT_THRESHOLD = 0.5
"""Threshold of scores for learners without their own. A metric with another one ignores the decisions of learners."""


class LabelSetMetric(Metric):
    """Base class of metrics of predicted labels.

    Parameters
    ----------
    threshold : float or sequence of float
        A label is predicted if its score is at least this, eq. (4); one number for all labels or one for each.
    """

    def __init__(self, threshold: float | Sequence[float] = DEFAULT_THRESHOLD) -> None:
        super().__init__()
        self._thresholds = _read_threshold(threshold)
        self.takes_decisions = bool(self._thresholds.ndim == 0 and self._thresholds == DEFAULT_THRESHOLD)

    @property
    def threshold(self) -> float | list[float]:
        """The threshold of all labels, or one per label."""
        thresholds: float | list[float] = self._thresholds.tolist()
        return thresholds

    @property
    def settings(self) -> dict[str, Any]:
        """Parameters of the constructor."""
        return {"threshold": self.threshold}

    def predicted(self, rows: ScoredLabels) -> BoolArray:
        """Return the mask of the annotated labels of `rows` that are predicted."""
        n_labels = rows.scores.shape[1]
        if self._thresholds.ndim and len(self._thresholds) < n_labels:
            raise DataError(
                f"got {n_labels} labels, but {self!r} has {len(self._thresholds)} thresholds; "
                "give one per label, or one for all"
            )
        thresholds = self._thresholds[:n_labels] if self._thresholds.ndim else self._thresholds
        return np.asarray((rows.scores >= thresholds) & rows.annotated)


def _read_threshold(threshold: float | Sequence[float]) -> FloatArray:
    try:
        thresholds = np.array(threshold, np.float64)
    except (TypeError, ValueError):
        thresholds = np.array(np.nan)
    if thresholds.ndim > 1 or thresholds.size == 0 or not np.isfinite(thresholds).all():
        raise ParameterError(f"threshold={threshold!r} is not allowed; use a finite number, or one for each label")
    return thresholds


class HammingLoss(LabelSetMetric):
    """Share of the (sample, label) pairs predicted wrongly. 0 is perfect.

    Parameters
    ----------
    threshold : float or sequence of float
        A label is predicted if its score is at least this; one number for all labels or one for each.

    Examples
    --------
    >>> from evolabel.evaluate.metrics import HammingLoss
    >>> HammingLoss().update([1, 0, 1, 0], [0.9, 0.6, 0.7, 0.1]).get()
    0.25
    """

    name = "Hamming loss"
    bigger_is_better = False

    def statistics(self, rows: ScoredLabels) -> FloatArray:
        """Return, for each sample of `rows`: (1 if it counts, wrong labels, annotated labels)."""
        wrong = (self.predicted(rows) != rows.positive).sum(axis=1)
        return ratio_statistics(rows.any_annotated, wrong, rows.annotated.sum(axis=1))


class PartialAccuracy(LabelSetMetric):
    """Partial accuracy, eq. (34): share of the (sample, label) pairs predicted correctly; 1 minus the Hamming loss.

    Parameters
    ----------
    threshold : float or sequence of float
        A label is predicted if its score is at least this; one number for all labels or one for each.

    Notes
    -----
    The sums kept are the recursion of eq. (36). With labels that are not annotated it is a mean over pairs, not over
    samples.

    Examples
    --------
    >>> from evolabel.evaluate.metrics import PartialAccuracy
    >>> metric = PartialAccuracy()
    >>> metric.update([1, 0, 1, 0], [0.9, 0.6, 0.7, 0.1]).get()
    0.75
    >>> metric.update([float("nan"), 0, 1, 0], [0.9, 0.6, 0.7, 0.1]).get()
    0.714
    """

    name = "PA"

    def statistics(self, rows: ScoredLabels) -> FloatArray:
        """Return, for each sample of `rows`: (1 if it counts, correct labels, annotated labels)."""
        correct = ((self.predicted(rows) == rows.positive) & rows.annotated).sum(axis=1)
        return ratio_statistics(rows.any_annotated, correct, rows.annotated.sum(axis=1))


class SubsetAccuracy(LabelSetMetric):
    """Share of the samples whose annotated labels are all predicted correctly. 1 is perfect.

    Parameters
    ----------
    threshold : float or sequence of float
        A label is predicted if its score is at least this; one number for all labels or one for each.

    Examples
    --------
    >>> from evolabel.evaluate.metrics import SubsetAccuracy
    >>> SubsetAccuracy().update([[1, 0, 1], [0, 1, 0]], [[0.9, 0.1, 0.7], [0.9, 0.6, 0.1]]).get()
    0.5
    """

    name = "subset accuracy"

    def statistics(self, rows: ScoredLabels) -> FloatArray:
        """Return, for each sample of `rows`: (1 if it counts, 1 if all labels are correct, 1)."""
        return mean_statistics(rows.any_annotated, (self.predicted(rows) == rows.positive).all(axis=1))


def partial_accuracy(Y: FloatArray, scores: FloatArray, threshold: float = DEFAULT_THRESHOLD) -> float:
    """Return the partial accuracy of eq. (34): the share of (sample, label) pairs predicted correctly.

    Parameters
    ----------
    Y : array of shape (n, K)
        Labels: 0, 1 or NaN (not annotated, left out).
    scores : array of shape (n, K)
        Scores, finite.
    threshold : float
        A label is predicted if its score is at least this.

    Examples
    --------
    >>> from evolabel.evaluate import partial_accuracy
    >>> partial_accuracy([[1, 0], [0, 1]], [[0.9, 0.2], [0.7, 0.6]])
    0.75
    """
    return PartialAccuracy(threshold).update(Y, scores).get()


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


class BalancedAccuracy(LabelSetMetric):
    """Mean of the recall of a label and of the recall of its absence, mean over the labels. 1 is perfect.

    A recall that is not defined is left out: of a label that never occurred, of the absence of one that always did. A
    label without any annotation yet is left out, too.

    Parameters
    ----------
    threshold : float or sequence of float
        A label is predicted if its score is at least this; one number for all labels or one for each.

    Examples
    --------
    >>> from evolabel.evaluate.metrics import BalancedAccuracy
    >>> BalancedAccuracy().update([[1], [1], [0], [0]], [[0.9], [0.2], [0.1], [0.3]]).get()
    0.75
    """

    name = "balanced accuracy"

    def statistics(self, rows: ScoredLabels) -> FloatArray:
        """Return, for each sample of `rows`, 1 if it counts, and for each label (on, found, off, not predicted)."""
        on, off = rows.positive, rows.annotated & ~rows.positive
        labels = np.array((on, on & self.predicted(rows), off, off & ~self.predicted(rows)), np.float64)
        return np.column_stack((rows.any_annotated, np.moveaxis(labels, 0, 2).reshape(len(on), -1)))

    def value(self, sums: FloatArray) -> float:
        """Return the mean recall of the annotated labels from `sums`, the sum of the statistics."""
        whole, right = np.moveaxis(sums[1:].reshape(-1, 2, 2), 2, 0)
        recall = np.divide(right, whole, out=np.zeros_like(right), where=whole > MIN_SUM)
        n_defined = (whole > MIN_SUM).sum(axis=1)
        return float((recall.sum(axis=1)[n_defined > 0] / n_defined[n_defined > 0]).mean())
