"""`ScoreTable`: the scores of some rows by all criteria."""

from collections.abc import Iterator, Sequence

import numpy as np

from evolabel.typing import FloatArray, IntArray


class ScoreTable:
    """Scores of n rows by all criteria: one (n,) or (n, K) array per criterion, and all of them side by side.

    Parameters
    ----------
    table : array (n, S)
        Scores of all criteria side by side, C-contiguous float64.
    sizes : int array
        How many columns each criterion has.
    places : sequence of int or slice
        The column of each criterion, or its columns if it scores label by label.
    """

    def __init__(self, table: FloatArray, sizes: IntArray, places: Sequence[int | slice]) -> None:
        self.table = table
        self.sizes = sizes
        self.places = places

    @classmethod
    def of(cls, columns: Sequence[FloatArray]) -> "ScoreTable":
        """The scores in `columns`, (n,) or (n, K) each."""
        tables = [np.asarray(column, np.float64).reshape(len(column), -1) for column in columns]
        sizes = np.array([table.shape[1] for table in tables], np.int64)
        return cls(np.hstack(tables), sizes, places_of(sizes, [column.ndim == 2 for column in columns]))

    def __len__(self) -> int:
        """Number of rows."""
        return len(self.table)

    def __iter__(self) -> Iterator[FloatArray]:
        """Scores by each criterion, (n,) or (n, K)."""
        return (self.table[:, place] for place in self.places)

    def of_row(self, row: int) -> list[FloatArray]:
        """Scores of one row by each criterion: a number, or (K,)."""
        scores = self.table[row]
        return [scores[place] for place in self.places]


def places_of(sizes: IntArray, by_label: Sequence[bool]) -> list[int | slice]:
    """Where the scores of each criterion stand in a table; `by_label`: whether it scores label by label."""
    ends = np.cumsum(sizes).tolist()
    starts = [end - size for end, size in zip(ends, sizes.tolist(), strict=True)]
    bounds = zip(starts, ends, by_label, strict=True)
    return [slice(start, end) if labels else start for start, end, labels in bounds]
