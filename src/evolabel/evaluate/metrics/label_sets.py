"""Metrics of the predicted sets of labels, pair by pair or as a whole: partial accuracy, Hamming loss, subset accuracy.

A sample costs O(K). A label is predicted if its score reaches the threshold.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from evolabel.errors import DataError, ParameterError
from evolabel.evaluate.metrics.base import Metric, mean_of, part_of_whole
from evolabel.evaluate.metrics.rows import ScoredRows
from evolabel.typing import BoolArray, FloatArray

DEFAULT = 0.5  # a metric with another threshold means the scores, whatever learners decide


class LabelSetMetric(Metric):
    """A metric that sees predicted labels instead of scores.

    Parameters
    ----------
    threshold : float or sequence of float
        Labels are predicted where the score is at least this much, eq. (4); one number for all labels or one for each.
    """

    def __init__(self, threshold: float | Sequence[float] = DEFAULT) -> None:
        super().__init__()
        self._limits = _read_threshold(threshold)
        self.takes_decisions = bool(self._limits.ndim == 0 and self._limits == DEFAULT)

    @property
    def threshold(self) -> float | list[float]:
        """The threshold of all labels, or of each."""
        limits: float | list[float] = self._limits.tolist()
        return limits

    @property
    def settings(self) -> dict[str, Any]:
        """Parameters of the constructor."""
        return {"threshold": self.threshold}

    def predicted(self, rows: ScoredRows) -> BoolArray:
        """Which annotated labels are predicted."""
        n_labels = rows.scores.shape[1]
        if self._limits.ndim and len(self._limits) < n_labels:
            raise DataError(
                f"{n_labels} labels came, but {self!r} has {len(self._limits)} thresholds; give one per label, or one"
            )
        limits = self._limits[:n_labels] if self._limits.ndim else self._limits
        return np.asarray((rows.scores >= limits) & rows.known)


def _read_threshold(threshold: float | Sequence[float]) -> FloatArray:
    try:
        limits = np.array(threshold, np.float64)
    except (TypeError, ValueError):
        limits = np.array(np.nan)
    if limits.ndim > 1 or limits.size == 0 or not np.isfinite(limits).all():
        raise ParameterError(f"threshold={threshold!r} is not allowed; use a finite number, or one for each label")
    return limits


class HammingLoss(LabelSetMetric):
    """Share of the (sample, label) pairs predicted wrongly. 0 is perfect.

    Parameters
    ----------
    threshold : float or sequence of float
        Labels are predicted where the score is at least this much; one number for all labels or one for each.

    Examples
    --------
    >>> from evolabel.evaluate.metrics import HammingLoss
    >>> HammingLoss().update([1, 0, 1, 0], [0.9, 0.6, 0.7, 0.1]).get()
    0.25
    """

    name = "Hamming loss"
    bigger_is_better = False

    def statistics(self, rows: ScoredRows) -> FloatArray:
        """(judged, wrong labels, annotated labels)."""
        wrong = (self.predicted(rows) != rows.on).sum(axis=1)
        return part_of_whole(rows.annotated, wrong, rows.known.sum(axis=1))


class PartialAccuracy(LabelSetMetric):
    """Partial accuracy, eq. (34): share of the (sample, label) pairs predicted rightly; 1 minus the Hamming loss.

    Parameters
    ----------
    threshold : float or sequence of float
        Labels are predicted where the score is at least this much; one number for all labels or one for each.

    Notes
    -----
    The sums kept are the recursion of eq. (36). With labels nobody annotated it is a mean over pairs, not over samples.

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

    def statistics(self, rows: ScoredRows) -> FloatArray:
        """(judged, right labels, annotated labels)."""
        right = ((self.predicted(rows) == rows.on) & rows.known).sum(axis=1)
        return part_of_whole(rows.annotated, right, rows.known.sum(axis=1))


class SubsetAccuracy(LabelSetMetric):
    """Share of the samples whose annotated labels are all predicted rightly. 1 is perfect.

    Parameters
    ----------
    threshold : float or sequence of float
        Labels are predicted where the score is at least this much; one number for all labels or one for each.

    Examples
    --------
    >>> from evolabel.evaluate.metrics import SubsetAccuracy
    >>> SubsetAccuracy().update([[1, 0, 1], [0, 1, 0]], [[0.9, 0.1, 0.7], [0.9, 0.6, 0.1]]).get()
    0.5
    """

    name = "subset accuracy"

    def statistics(self, rows: ScoredRows) -> FloatArray:
        """(judged, 1 if all is right, 1)."""
        return mean_of(rows.annotated, (self.predicted(rows) == rows.on).all(axis=1))
