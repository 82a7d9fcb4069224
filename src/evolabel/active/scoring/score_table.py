"""`ScoreTable`: the scores of some rows by all criteria."""

from collections.abc import Iterator, Sequence

import numpy as np

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
