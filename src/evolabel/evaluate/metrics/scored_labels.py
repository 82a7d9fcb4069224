"""Input of a metric, checked once: labels of 0, 1 or NaN, and finite scores, in tables of one row per sample."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from evolabel.errors import DataError, DataTypeError
from evolabel.typing import BoolArray, FloatArray

# Long batches are evaluated in blocks of this many rows, so that working memory stays small and in the cache.
_BLOCK_ROWS = 1024


class ScoredLabels(NamedTuple):
    """Labels of samples and their scores; each array has the shape (n_samples, n_labels)."""

    positive: BoolArray
    annotated: BoolArray
    scores: FloatArray

    @property
    def any_annotated(self) -> BoolArray:
        """Mask of the samples with at least one annotated label."""
        return np.asarray(self.annotated.any(axis=1))

    def blocks(self) -> Iterator["ScoredLabels"]:
        """Yield the same rows in blocks."""
        for start in range(0, len(self.positive), _BLOCK_ROWS):
            block = slice(start, start + _BLOCK_ROWS)
            yield ScoredLabels(self.positive[block], self.annotated[block], self.scores[block])


def read_scored_labels(y_true: object, y_score: object) -> ScoredLabels:
    """Return `y_true` and `y_score`, one sample (K,) or several (n, K), as checked tables, or raise DataError."""
    labels, scores = _as_table(y_true, "y_true"), _as_table(y_score, "y_score")
    if labels.shape != scores.shape:
        raise DataError(
            f"y_true has the shape {labels.shape}, y_score {scores.shape}; expected one score for every label"
        )
    positive, annotated = labels == 1.0, ~np.isnan(labels)
    _refuse("y_true", labels, annotated & ~positive & (labels != 0.0), "a label is 0, 1, or NaN (not annotated)")
    _refuse("y_score", scores, ~np.isfinite(scores), "a score is a finite number")
    return ScoredLabels(positive, annotated, scores)


def _as_table(values: object, name: str) -> FloatArray:
    try:
        table = np.atleast_2d(np.asarray(values).astype(np.float64, order="C", casting="same_kind", copy=False))
    except (TypeError, ValueError):
        raise DataTypeError(
            f"{name} ({type(values).__name__}) cannot be read as numbers; pass an array (K,) or (n, K)"
        ) from None
    if table.ndim != 2 or table.shape[1] == 0:
        raise DataError(f"{name} has shape {table.shape}; expected (K,) for one sample or (n, K) for several")
    return table


def _refuse(name: str, table: FloatArray, bad: BoolArray, rule: str) -> None:
    if bad.any():
        row, label = np.argwhere(bad)[0]
        raise DataError(f"{name} is {table[row, label]:g} at row {row}, label {label}; {rule}")
