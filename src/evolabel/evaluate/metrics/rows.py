"""What a metric is told, checked once: labels of 0, 1 or NaN, and finite scores, in tables of one row per sample."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from evolabel.errors import DataError, DataTypeError
from evolabel.typing import BoolArray, FloatArray

# Long batches are judged in blocks of so many rows: working memory stays small and in the cache.
BLOCK = 1024


class ScoredRows(NamedTuple):
    """Samples and their scores; each array has the shape (n_samples, n_labels)."""

    on: BoolArray
    known: BoolArray
    scores: FloatArray

    @property
    def annotated(self) -> BoolArray:
        """Samples with at least one annotated label."""
        return np.asarray(self.known.any(axis=1))

    def blocks(self) -> Iterator["ScoredRows"]:
        """The same rows, a few at a time."""
        for start in range(0, len(self.on), BLOCK):
            block = slice(start, start + BLOCK)
            yield ScoredRows(self.on[block], self.known[block], self.scores[block])


def read_rows(y_true: object, y_score: object) -> ScoredRows:
    """One sample (K,) or several (n, K), made into rows; anything else is refused."""
    labels, scores = _as_table(y_true, "y_true"), _as_table(y_score, "y_score")
    if labels.shape != scores.shape:
        raise DataError(
            f"y_true holds {labels.shape} rows and labels, y_score {scores.shape}; give every label one score"
        )
    on, known = labels == 1.0, ~np.isnan(labels)
    _refuse("y_true", labels, known & ~on & (labels != 0.0), "a label is 0, 1, or NaN (not annotated)")
    _refuse("y_score", scores, ~np.isfinite(scores), "a score is a finite number")
    return ScoredRows(on, known, scores)


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
