"""`ScoreTable`: scores of rows by all criteria; `ScoredRows`: rows with them; `RowsAhead`: until when they hold."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from evolabel.active.scoring.model_version import ModelVersion
from evolabel.typing import FloatArray, IntArray


class ScoreTable:
    """Scores of n rows by all criteria: one (n,) or (n, K) array per criterion, side by side in one table.

    Parameters
    ----------
    table : array (n, S)
        Scores of all criteria side by side, C-contiguous float64.
    sizes : int array
        Number of columns of each criterion.
    columns : sequence of int or slice
        The column of each criterion, or its columns if it scores label by label.
    """

    def __init__(self, table: FloatArray, sizes: IntArray, columns: Sequence[int | slice]) -> None:
        self.table = table
        self.sizes = sizes
        self.columns = columns

    @classmethod
    def of(cls, scores: Sequence[FloatArray]) -> "ScoreTable":
        """The table of `scores`, one (n,) or (n, K) array per criterion."""
        tables = [np.asarray(score, np.float64).reshape(len(score), -1) for score in scores]
        sizes = np.array([table.shape[1] for table in tables], np.int64)
        return cls(np.hstack(tables), sizes, columns_of(sizes, [score.ndim == 2 for score in scores]))

    def __len__(self) -> int:
        """Number of rows."""
        return len(self.table)

    def __iter__(self) -> Iterator[FloatArray]:
        """Scores by each criterion, (n,) or (n, K)."""
        return (self.table[:, column] for column in self.columns)

    def of_row(self, row: int) -> list[FloatArray]:
        """Scores of one `row` by each criterion: a number, or (K,)."""
        scores = self.table[row].copy()
        return [scores[column] for column in self.columns]


def columns_of(sizes: IntArray, by_label: Sequence[bool]) -> list[int | slice]:
    """The column or columns of each criterion, from the `sizes` and from whether it scores `by_label`."""
    ends = np.cumsum(sizes).tolist()
    starts = [end - size for end, size in zip(ends, sizes.tolist(), strict=True)]
    bounds = zip(starts, ends, by_label, strict=True)
    return [slice(start, end) if labels else start for start, end, labels in bounds]


class ScoredRows(NamedTuple):
    """Consecutive rows of the stream, scored by one version of the model."""

    rows: FloatArray
    outputs: FloatArray
    scores: ScoreTable
    values: FloatArray
    """What the selector compares the rows by, see `Selector.values`."""


class ScoringContext(NamedTuple):
    """What scores depend on beside the model: priorities on `budget`, `retired` labels and those `to_confirm`."""

    changes: int
    """`QueryContext.changes`."""
    budget: float
    retired: frozenset[str]
    to_confirm: bytes
    """`labels_to_confirm`, which pending questions change."""


class RowsAhead(NamedTuple):
    """Rows that were scored together; those from index `first` on have not been counted yet."""

    version: ModelVersion
    number: int
    """Number of the first scored row in the stream."""
    context: ScoringContext
    """What the scores depend on beside the model."""
    scored: ScoredRows
    first: int = 0

    def holds_for(self, rows: FloatArray, version: ModelVersion, number: int, context: ScoringContext) -> bool:
        """Whether the scores are those of `rows`, the next of the stream.

        They are if the rows are the same bits, the first of them has the `number` given, and neither the `version` of
        the model nor the `context` differ.
        """
        known = self.scored.rows[self.first : self.first + len(rows)]
        moved = self.number + self.first != number or self.context != context
        if len(known) < len(rows) or moved or not self.version.same(version):
            return False
        return np.array_equal(known.view(np.int64), rows.view(np.int64))  # as bits: NaN equals NaN
