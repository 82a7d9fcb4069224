"""Measures of prediction sets: how often they hold the truth, and how large they are.

Sets are those of `predict_set`: of labels (n, K, 2), whether each may be off, may be on; of classes (n, K). Streaming
metrics take sets of labels as scores (n, K): 0 for {off}, 1 for {on}, 0.5 for {off, on} (`sets_as_scores`).
"""

import numpy as np

from evolabel.errors import DataError
from evolabel.evaluate.metrics.base import Metric, ratio_statistics
from evolabel.evaluate.metrics.scored_labels import ScoredLabels, read_scored_labels
from evolabel.typing import BoolArray, FloatArray

_BOTH = 0.5  # score of a set with both values


def set_coverage(y_true: object, sets: BoolArray) -> float:
    """Return the share of the truth that `sets` hold, NaN if nothing is annotated.

    Parameters
    ----------
    y_true : array of shape (n, K)
        Labels: 0, 1 or NaN (not annotated); for classes, one-hot rows.
    sets : bool array of shape (n, K, 2) or (n, K)
        Of labels: the share of the annotated (sample, label) pairs whose value is in its set. Of classes: the share of
        the samples whose class is in their set.

    Examples
    --------
    >>> import numpy as np
    >>> from evolabel.evaluate import set_coverage, set_size
    >>> sets = np.array([[[True, False], [True, True]], [[False, True], [True, False]]])
    >>> set_coverage([[0, 1], [1, 1]], sets), set_size(sets)
    (0.75, 1.25)
    """
    found = covered(y_true, sets)
    known = found[~np.isnan(found)]
    return float(known.mean()) if known.size else float("nan")


def covered(y_true: object, sets: BoolArray) -> FloatArray:
    """Return 1 where `sets` hold the truth `y_true`, 0 where not, NaN where it is not annotated: (n, K), or (n,)."""
    values = _read_sets(sets)
    rows = read_scored_labels(y_true, values[..., -1] if values.ndim == 3 else values)
    if values.ndim == 3:
        return np.where(rows.annotated, np.where(rows.positive, values[..., 1], values[..., 0]), np.nan)
    return np.where(rows.annotated.all(axis=1), (rows.positive & values).any(axis=1), np.nan)


def set_size(sets: BoolArray) -> float:
    """Return the mean number of values in `sets`: for labels from 1 to 2, for classes from 1 to their number."""
    return float(_read_sets(sets).sum(axis=-1).mean())


def sets_as_scores(sets: object) -> FloatArray:
    """Return `sets` of labels, (n, K, 2), as scores (n, K): 0 for {off}, 1 for {on}, 0.5 for {off, on}."""
    values = _read_sets(np.asarray(sets))
    if values.ndim != 3:
        raise DataError(f"sets have the shape {values.shape}; streaming metrics take those of labels, (n, K, 2)")
    return np.where(values.all(axis=2), _BOTH, values[..., 1].astype(np.float64))


class SetCoverage(Metric):
    """Share of the annotated (sample, label) pairs whose value is in its prediction set.

    Scores are sets, as `sets_as_scores` returns them; other scores count as {on} above 0.5, as {off} below.

    Examples
    --------
    >>> from evolabel.evaluate.metrics import SetCoverage
    >>> SetCoverage().update([[0, 1], [1, 1]], [[0, 0.5], [1, 0]]).get()
    0.75
    """

    name = "set coverage"
    takes_sets = True

    def statistics(self, rows: ScoredLabels) -> FloatArray:
        """Return pairs that are covered, and annotated pairs, for `rows`."""
        is_covered = (rows.scores == _BOTH) | ((rows.scores > _BOTH) == rows.positive)
        counts = np.asarray(rows.annotated.any(axis=1))
        return ratio_statistics(counts, (is_covered & rows.annotated).sum(axis=1), rows.annotated.sum(axis=1))


class SetSize(Metric):
    """Mean number of values in the prediction set of an annotated (sample, label) pair: from 1 to 2.

    Scores are sets, as `sets_as_scores` returns them.

    Examples
    --------
    >>> from evolabel.evaluate.metrics import SetSize
    >>> SetSize().update([[0, 1], [1, 1]], [[0, 0.5], [1, 0]]).get()
    1.25
    """

    name = "set size"
    bigger_is_better = False
    takes_sets = True

    def statistics(self, rows: ScoredLabels) -> FloatArray:
        """Return values in sets, and annotated pairs, for `rows`."""
        n, both = rows.annotated.sum(axis=1), (rows.scores == _BOTH) & rows.annotated
        return ratio_statistics(np.asarray(n > 0), n + both.sum(axis=1), n)


def _read_sets(sets: BoolArray) -> BoolArray:
    """Return `sets` as an array, or raise DataError if they are not those of labels or classes."""
    values = np.asarray(sets)
    if values.dtype != np.bool_ or values.ndim not in (2, 3) or (values.ndim == 3 and values.shape[2] != 2):
        raise DataError(f"sets have the shape {values.shape} and hold {values.dtype}; pass the result of predict_set")
    return values
