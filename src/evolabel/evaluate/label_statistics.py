"""`LabelStatistics`: what the table and the curves of each label are computed from; counts, so memory does not grow.

Scores are counted in bins of 0.001 from -0.5 to 1.5; ROC and PR curves treat scores in the same bin as ties.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from typing import Any, NamedTuple, Self

import numpy as np

from evolabel.errors import DataError
from evolabel.evaluate.metrics.label_sets import DEFAULT_THRESHOLD
from evolabel.evaluate.metrics.scored_labels import read_scored_labels
from evolabel.typing import AnyArray, FloatArray

_LOWEST, _BINS, _PER_UNIT = -0.5, 2000, 1000
CALIBRATION_BINS = 15  # of equal width, as in the usual definition of the calibration error

LABEL_COLUMNS = ("label", "support", "predicted", "precision", "recall", "F1", "PR-AUC", "ROC-AUC", "Brier")
"""Heads of a table of labels."""


@dataclass(frozen=True)
class LabelScores:
    """Results of one label.

    Parameters
    ----------
    label : str
        Name of the label.
    known : int
        Samples in which the label was annotated; nothing else counts.
    support : int
        Those of them that have the label.
    predicted : int
        Those for which it was predicted.
    precision, recall, f1 : float
        Of the predicted labels. NaN where they are not defined: the precision of a label that was never predicted, the
        recall of one that never occurred.
    pr_auc, roc_auc : float
        Of the scores: average precision, as scikit-learn's `average_precision_score`, and area under the ROC curve.
        NaN where only one value occurred. Guessing has a PR-AUC of the label's share and a ROC-AUC of 0.5.
    brier : float
        Mean squared error of the probabilities; NaN where the learner returned none.
    """

    label: str
    known: int
    support: int
    predicted: int
    precision: float
    recall: float
    f1: float
    pr_auc: float
    roc_auc: float
    brier: float


class Curve(NamedTuple):
    """Points of a curve: places `x` and heights `y`."""

    x: FloatArray
    y: FloatArray


class CalibrationCurve(NamedTuple):
    """Mean probability, share of true labels and number of pairs in each bin of probabilities that is not empty."""

    promised: FloatArray
    found: FloatArray
    pairs: FloatArray

    @property
    def error(self) -> float:
        """The expected calibration error: mean distance between promised and found, by pairs."""
        return float(np.abs(self.promised - self.found) @ self.pairs / self.pairs.sum())


class LabelStatistics:
    """Counts of every label along a stream.

    Parameters
    ----------
    names : sequence of str
        Names of the labels.
    """

    def __init__(self, names: Sequence[str]) -> None:
        self.names = list(names)
        K = len(self.names)
        self.without, self.having = (np.zeros((K, _BINS), np.int32) for _ in range(2))  # samples by score
        self.predicted, self.hits = np.zeros(K, np.int64), np.zeros(K, np.int64)
        self.promised, self.found, self.pairs = (np.zeros((K, CALIBRATION_BINS)) for _ in range(3))
        self.squares = np.zeros(K)

    def update(self, y_true: object, y_score: object, decisions: object = None, probabilities: object = None) -> Self:
        """Add samples.

        Parameters
        ----------
        y_true, y_score : array of shape (n, K)
            Labels of 0, 1 and NaN (not annotated), and their scores.
        decisions : array of shape (n, K), optional
            Predicted labels; scores of at least 0.5 if not given.
        probabilities : array of shape (n, K), optional
            Probabilities of the labels, for the Brier score and the calibration.
        """
        rows = read_scored_labels(y_true, y_score)
        if rows.scores.shape[1] != len(self.names):
            raise DataError(f"got {rows.scores.shape[1]} labels, expected {len(self.names)}: {', '.join(self.names)}")
        at, columns = np.nonzero(rows.annotated)
        on = rows.positive[at, columns]
        place = np.clip(np.floor((rows.scores[at, columns] - _LOWEST) * _PER_UNIT), 0, _BINS - 1).astype(np.int64)
        np.add.at(self.having, (columns[on], place[on]), 1)
        np.add.at(self.without, (columns[~on], place[~on]), 1)
        chosen = rows.scores >= DEFAULT_THRESHOLD if decisions is None else np.asarray(decisions) > 0
        self.predicted += (chosen & rows.annotated).sum(axis=0)
        self.hits += (chosen & rows.positive).sum(axis=0)
        if probabilities is not None:
            self._count_probabilities(columns, on, np.asarray(probabilities, np.float64)[at, columns])
        return self

    def _count_probabilities(self, columns: AnyArray, on: AnyArray, p: FloatArray) -> None:
        """Count the probabilities `p` of pairs, with the `columns` of their labels and whether these are `on`."""
        place = np.clip(p * CALIBRATION_BINS, 0, CALIBRATION_BINS - 1).astype(np.int64)
        np.add.at(self.pairs, (columns, place), 1.0)
        np.add.at(self.promised, (columns, place), p)
        np.add.at(self.found, (columns, place), on)
        np.add.at(self.squares, columns, (p - on) ** 2)

    def add(self, other: "LabelStatistics") -> Self:
        """Add the counts of `other`, a run with the same labels."""
        for name, counts in vars(other).items():
            if name != "names":
                getattr(self, name).__iadd__(counts)
        return self

    def rows(self) -> list[LabelScores]:
        """Return the results of every label."""
        return [self._row(k) for k in range(len(self.names))]

    def _row(self, k: int) -> LabelScores:
        support, others = int(self.having[k].sum()), int(self.without[k].sum())
        predicted, hits = int(self.predicted[k]), int(self.hits[k])
        both = support > 0 and others > 0
        recall, precision = self.pr_curve(k)
        roc = self.roc_curve(k)
        return LabelScores(
            label=self.names[k],
            known=support + others,
            support=support,
            predicted=predicted,
            precision=_ratio(hits, predicted),
            recall=_ratio(hits, support),
            f1=_ratio(2 * hits, predicted + support),
            pr_auc=float(np.diff(recall) @ precision[1:]) if both else np.nan,
            roc_auc=float(np.diff(roc.x) @ (roc.y[1:] + roc.y[:-1]) / 2) if both else np.nan,
            brier=_ratio(float(self.squares[k]), float(self.pairs[k].sum())),
        )

    def roc_curve(self, k: int) -> Curve:
        """Return label `k`'s share of false alarms, and of the samples with the label that are found, from (0, 0)."""
        hits, alarms = _from_the_top(self.having[k]), _from_the_top(self.without[k])
        return _thinned(Curve(alarms / max(alarms[-1], 1), hits / max(hits[-1], 1)))

    def pr_curve(self, k: int) -> Curve:
        """Return the recall of label `k`, rising from 0, and the precision at each."""
        hits, alarms = _from_the_top(self.having[k]), _from_the_top(self.without[k])
        precision = hits / np.maximum(hits + alarms, 1)
        precision[0] = 1.0
        return _thinned(Curve(hits / max(hits[-1], 1), precision))

    def calibration(self) -> CalibrationCurve | None:
        """Return how often labels of each probability were true, all labels together; None without probabilities."""
        pairs = self.pairs.sum(axis=0)
        used = pairs > 0
        if not used.any():
            return None
        promised, found = (sums.sum(axis=0)[used] / pairs[used] for sums in (self.promised, self.found))
        return CalibrationCurve(promised, found, pairs[used])


def label_scores(
    y_true: object,
    y_score: object,
    *,
    decisions: object = None,
    probabilities: object = None,
    labels: Iterable[str] | None = None,
) -> list[LabelScores]:
    """Return support, precision, recall, F1, PR-AUC, ROC-AUC and Brier score of every label.

    Parameters
    ----------
    y_true, y_score : array of shape (n, K)
        Labels of 0, 1 and NaN (not annotated), and their scores.
    decisions : array of shape (n, K), optional
        Predicted labels; scores of at least 0.5 if not given.
    probabilities : array of shape (n, K), optional
        Probabilities of the labels, for the Brier score.
    labels : iterable of str, optional
        Names of the labels.

    Examples
    --------
    >>> from evolabel.evaluate import label_scores
    >>> leak = label_scores([[1], [0], [1], [0]], [[0.9], [0.2], [0.4], [0.1]], labels=["leak"])[0]
    >>> leak.support, leak.precision, leak.recall, leak.pr_auc
    (2, 1.0, 0.5, 1.0)
    """
    n_labels = np.shape(np.atleast_2d(np.asarray(y_true)))[1]
    names = [f"label{k}" for k in range(n_labels)] if labels is None else list(labels)
    return LabelStatistics(names).update(y_true, y_score, decisions, probabilities).rows()


def label_cells(row: LabelScores) -> list[str]:
    """Return the cells of `row` under `LABEL_COLUMNS`, empty where a measure is not defined."""
    measures = row.precision, row.recall, row.f1, row.pr_auc, row.roc_auc, row.brier
    numbers = ["" if value != value else f"{value:.3f}".replace("0.", ".", 1) for value in measures]
    return [row.label, f"{row.support:,}", f"{row.predicted:,}", *numbers]


def pooled_scores(runs: Sequence[Sequence[LabelScores]]) -> list[LabelScores]:
    """Return the results of each label over several `runs`: sums of samples, means of what is defined in a run."""
    return [_pooled([run[k] for run in runs]) for k in range(len(runs[0]))]


def _pooled(rows: Sequence[LabelScores]) -> LabelScores:
    pooled: dict[str, Any] = {}
    for name in [field.name for field in fields(LabelScores) if field.name != "label"]:
        values = [getattr(row, name) for row in rows]
        defined = [value for value in values if value == value]
        pooled[name] = sum(values) if isinstance(values[0], int) else _ratio(sum(defined), len(defined))
    return LabelScores(rows[0].label, **pooled)


def _ratio(part: float, whole: float) -> float:
    return part / whole if whole else float("nan")


def _from_the_top(counts: AnyArray) -> FloatArray:
    """Sums of `counts` from the highest bin down, 0 first."""
    return np.concatenate([[0.0], np.cumsum(counts[::-1], dtype=np.float64)])


def _thinned(curve: Curve) -> Curve:
    """The points of `curve` that differ from the one before."""
    new = np.concatenate([[True], (np.diff(curve.x) != 0.0) | (np.diff(curve.y) != 0.0)])
    return Curve(curve.x[new], curve.y[new])
