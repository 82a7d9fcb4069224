"""Metrics of how labels are ranked by their scores: average precision, ranking loss, one-error, coverage.

Labels are sorted once per sample, so a sample costs O(K log K). Ties always count against the scores: labels of the
same score all take the largest rank of the tie, whatever their order.
"""

from typing import Any, NamedTuple

import numpy as np

from evolabel.evaluate.metrics.base import Metric, mean_of
from evolabel.evaluate.metrics.rows import ScoredRows
from evolabel.typing import BoolArray, FloatArray, IntArray


class Ranking(NamedTuple):
    """Labels in the order of falling scores, those not annotated at the end; arrays of shape (n_samples, n_labels).

    `rank` is the number of labels that score at least as much as this one, `hits` how many of these are on.
    """

    on: BoolArray
    rank: IntArray
    hits: IntArray

    @property
    def n_on(self) -> IntArray:
        """Labels of each sample that are on."""
        return self.hits[:, -1]


def rank_labels(rows: ScoredRows) -> Ranking:
    """Sort the labels of each sample."""
    scores = np.where(rows.known, rows.scores, -np.inf)
    order = np.argsort(-scores, axis=1)
    scores, on = np.take_along_axis(scores, order, axis=1), np.take_along_axis(rows.on, order, axis=1)
    last = _ends_of_ties(scores)
    return Ranking(on, last + 1, np.take_along_axis(on.cumsum(axis=1), last, axis=1))


def _ends_of_ties(scores: FloatArray) -> IntArray:
    """Place of the last of the equal scores around each place of the sorted rows."""
    n_labels = scores.shape[1]
    ends = np.full(scores.shape, n_labels - 1)
    ends[:, :-1] = np.where(scores[:, :-1] != scores[:, 1:], np.arange(n_labels - 1), n_labels - 1)
    return np.minimum.accumulate(ends[:, ::-1], axis=1)[:, ::-1]


class AveragePrecision(Metric):
    """Average precision, eq. (33): how well the labels of a sample are ranked above the others.

    For every label that is on, the share of labels that are on among those that score at least as much; mean over the
    labels, then over the samples. 1 is perfect. Every sample without labels is skipped, as it has nothing to rank.

    Parameters
    ----------
    count_empty : bool
        Count samples without labels as 1, the convention of scikit-learn's `label_ranking_average_precision_score`.

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

    def statistics(self, rows: ScoredRows) -> FloatArray:
        """(judged, average precision of the sample, 1)."""
        ranking = rank_labels(rows)
        precisions = ranking.on * ranking.hits / ranking.rank
        precision = precisions.sum(axis=1) / np.maximum(ranking.n_on, 1)
        if self.count_empty:
            return mean_of(rows.annotated, np.where(ranking.n_on > 0, precision, 1.0))
        return mean_of(ranking.n_on > 0, precision)


class RankingLoss(Metric):
    """Share of the pairs of an on and an off label in which the off label scores at least as much; mean over samples.

    0 is perfect. The conventions are those of scikit-learn's `label_ranking_loss`: a tie is a wrong pair, and a sample
    without any pair (all labels on, or none) loses nothing.

    Examples
    --------
    >>> from evolabel.evaluate.metrics import RankingLoss
    >>> RankingLoss().update([1, 0, 1], [0.9, 0.6, 0.3]).get()
    0.5
    """

    name = "ranking loss"
    bigger_is_better = False

    def statistics(self, rows: ScoredRows) -> FloatArray:
        """(judged, share of wrong pairs in the sample, 1)."""
        ranking = rank_labels(rows)
        pairs = ranking.n_on * (rows.known.sum(axis=1) - ranking.n_on)
        wrong = (ranking.on * (ranking.rank - ranking.hits)).sum(axis=1)
        return mean_of(rows.annotated, wrong / np.maximum(pairs, 1))


class OneError(Metric):
    """Share of the samples whose top label is off. 0 is perfect.

    If several labels share the top score, all of them must be on. A sample without labels is skipped: its top label
    could not be right.

    Examples
    --------
    >>> from evolabel.evaluate.metrics import OneError
    >>> OneError().update([[1, 0, 1], [0, 1, 0]], [[0.9, 0.6, 0.3], [0.9, 0.6, 0.3]]).get()
    0.5
    """

    name = "one-error"
    bigger_is_better = False

    def statistics(self, rows: ScoredRows) -> FloatArray:
        """(judged, 1 if a top label is off, 1)."""
        ranking = rank_labels(rows)
        return mean_of(ranking.n_on > 0, ranking.hits[:, 0] < ranking.rank[:, 0])


class Coverage(Metric):
    """How far one must go down the ranking to meet all labels of a sample, on average. Smaller is better.

    Counted from 1, as in scikit-learn's `coverage_error`; much of the literature counts from 0. A sample without labels
    has a coverage of 0.

    Examples
    --------
    >>> from evolabel.evaluate.metrics import Coverage
    >>> Coverage().update([[1, 0, 1], [1, 0, 0]], [[0.9, 0.6, 0.3], [0.9, 0.6, 0.3]]).get()
    2.0
    """

    name = "coverage"
    bigger_is_better = False

    def statistics(self, rows: ScoredRows) -> FloatArray:
        """(judged, the largest rank of a label that is on, 1)."""
        ranking = rank_labels(rows)
        return mean_of(rows.annotated, (ranking.on * ranking.rank).max(axis=1))
