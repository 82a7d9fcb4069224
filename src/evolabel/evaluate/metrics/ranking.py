"""Metrics of how labels are ranked by their scores: average precision, ranking loss, one-error, coverage.

Labels are sorted once per sample, so a sample costs O(K log K). Ties always count against the scores: labels of the
same score all take the largest rank of the tie, whatever their order.
"""

import warnings
from typing import Any, NamedTuple

import numpy as np

from evolabel.evaluate.metrics.base import Metric, mean_statistics
from evolabel.evaluate.metrics.scored_labels import ScoredLabels
from evolabel.typing import BoolArray, FloatArray, IntArray

ONE_LABEL = "one label has no ranking among others; ROC-AUC and PR-AUC of the label show more"


class _RankedLabels(NamedTuple):
    """Labels by decreasing score, those not annotated at the end; arrays of shape (n_samples, n_labels).

    `rank` is the number of labels that score at least as much as this one, `hits` how many of these are positive.
    """

    positive: BoolArray
    rank: IntArray
    hits: IntArray

    @property
    def n_positive(self) -> IntArray:
        """Number of positive labels of each sample."""
        return self.hits[:, -1]


def _rank_labels(rows: ScoredLabels) -> _RankedLabels:
    """Sort the labels of each sample."""
    scores = np.where(rows.annotated, rows.scores, -np.inf)
    order = np.argsort(-scores, axis=1)
    scores, positive = np.take_along_axis(scores, order, axis=1), np.take_along_axis(rows.positive, order, axis=1)
    last = _ends_of_ties(scores)
    return _RankedLabels(positive, last + 1, np.take_along_axis(positive.cumsum(axis=1), last, axis=1))


def _ends_of_ties(scores: FloatArray) -> IntArray:
    """For each position of the sorted rows, the last position with the same score."""
    n_labels = scores.shape[1]
    ends = np.full(scores.shape, n_labels - 1)
    ends[:, :-1] = np.where(scores[:, :-1] != scores[:, 1:], np.arange(n_labels - 1), n_labels - 1)
    return np.minimum.accumulate(ends[:, ::-1], axis=1)[:, ::-1]


class AveragePrecision(Metric):
    """Average precision, eq. (33): how well the positive labels of a sample are ranked above the others.

    For every positive label, the share of positive labels among those that score at least as much; mean over the
    labels, then over the samples. 1 is perfect. A sample without positive labels has nothing to rank and is skipped.

    Parameters
    ----------
    count_empty : bool
        Count samples without positive labels as 1, the convention of scikit-learn's
        `label_ranking_average_precision_score`.

    Notes
    -----
    Deviation: tied scores take the largest rank of the tie; by position in the sorted list, as printed, the precision
    can exceed 1. The sums kept are the recursion of eq. (35).

    Examples
    --------
    >>> from evolabel.evaluate.metrics import AveragePrecision
    >>> metric = AveragePrecision()
    >>> metric.update([1, 0, 1], [0.9, 0.6, 0.3]).get()
    0.833
    >>> metric.update([0, 0, 0], [0.1, 0.2, 0.3]).n_skipped
    1
    """

    name = "AP"

    def __init__(self, count_empty: bool = False) -> None:
        super().__init__()
        self.count_empty = count_empty

    @property
    def settings(self) -> dict[str, Any]:
        """Parameters of the constructor."""
        return {"count_empty": self.count_empty}

    def statistics(self, rows: ScoredLabels) -> FloatArray:
        """Return, for each sample of `rows`: (1 if it counts, average precision of the sample, 1)."""
        ranked = _rank_labels(rows)
        precisions = ranked.positive * ranked.hits / ranked.rank
        precision = precisions.sum(axis=1) / np.maximum(ranked.n_positive, 1)
        if self.count_empty:
            return mean_statistics(rows.any_annotated, np.where(ranked.n_positive > 0, precision, 1.0))
        return mean_statistics(ranked.n_positive > 0, precision)


class RankingLoss(Metric):
    """Share of pairs of a positive and a negative label in which the negative one scores at least as much.

    The mean over samples; 0 is perfect. The conventions are those of scikit-learn's `label_ranking_loss`: a tie is a
    wrong pair, and a sample without any pair (all labels positive, or none) has a loss of 0.

    Examples
    --------
    >>> from evolabel.evaluate.metrics import RankingLoss
    >>> RankingLoss().update([1, 0, 1], [0.9, 0.6, 0.3]).get()
    0.5
    """

    name = "ranking loss"
    bigger_is_better = False

    def statistics(self, rows: ScoredLabels) -> FloatArray:
        """Return, for each sample of `rows`: (1 if it counts, share of wrong pairs in the sample, 1)."""
        ranked = _rank_labels(rows)
        pairs = ranked.n_positive * (rows.annotated.sum(axis=1) - ranked.n_positive)
        wrong = (ranked.positive * (ranked.rank - ranked.hits)).sum(axis=1)
        return mean_statistics(rows.any_annotated, wrong / np.maximum(pairs, 1))


class OneError(Metric):
    """Share of the samples whose top label is negative. 0 is perfect.

    If several labels share the top score, all of them must be positive. A sample without positive labels is skipped:
    its top label could not be right.

    Examples
    --------
    >>> from evolabel.evaluate.metrics import OneError
    >>> OneError().update([[1, 0, 1], [0, 1, 0]], [[0.9, 0.6, 0.3], [0.9, 0.6, 0.3]]).get()
    0.5
    """

    name = "one-error"
    bigger_is_better = False

    def statistics(self, rows: ScoredLabels) -> FloatArray:
        """Return, for each sample of `rows`: (1 if it counts, 1 if a top label is negative, 1)."""
        ranked = _rank_labels(rows)
        return mean_statistics(ranked.n_positive > 0, ranked.hits[:, 0] < ranked.rank[:, 0])


class Coverage(Metric):
    """Mean rank of the lowest-ranked positive label of a sample. Smaller is better.

    Ranks start at 1, as in scikit-learn's `coverage_error`; much of the literature starts at 0. A sample without
    positive labels has a coverage of 0.

    Examples
    --------
    >>> from evolabel.evaluate.metrics import Coverage
    >>> Coverage().update([[1, 0, 1], [1, 0, 0]], [[0.9, 0.6, 0.3], [0.9, 0.6, 0.3]]).get()
    2.0
    """

    name = "coverage"
    bigger_is_better = False

    def statistics(self, rows: ScoredLabels) -> FloatArray:
        """Return, for each sample of `rows`: (1 if it counts, the largest rank of a positive label, 1)."""
        ranked = _rank_labels(rows)
        return mean_statistics(rows.any_annotated, (ranked.positive * ranked.rank).max(axis=1))


def average_precision(Y: FloatArray, scores: FloatArray) -> float:
    """Return the average precision of eq. (33): the mean over samples of how well their labels are ranked.

    Parameters
    ----------
    Y : array of shape (n, K)
        Labels: 0, 1 or NaN (not annotated, left out). Samples without positive labels are left out.
    scores : array of shape (n, K)
        Scores, finite.

    Warns
    -----
    UserWarning
        If there is one label: it has no ranking, and the average precision is 1 whatever the scores.

    Examples
    --------
    >>> from evolabel.evaluate import average_precision
    >>> average_precision([[1, 0, 1], [0, 1, 0]], [[0.9, 0.6, 0.3], [0.1, 0.8, 0.2]])
    0.917
    """
    if np.ndim(Y) == 2 and np.shape(Y)[1] == 1:
        warnings.warn(f"AP is 1 here: {ONE_LABEL}; see label_scores", UserWarning, stacklevel=2)
    return AveragePrecision().update(Y, scores).get()
