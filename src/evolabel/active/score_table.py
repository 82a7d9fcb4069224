"""`ScoreTable`: the scores of some rows by all criteria."""

from collections.abc import Iterator, Sequence

import numpy as np

from evolabel.kernels.state import FloatArray, IntArray


class ScoreTable:
    """Scores of n rows by all criteria: one (n,) or (n, K) array per criterion, and all of them side by side.

    Parameters
    ----------
    table : array (n, S)
        Scores of all criteria side by side, C-contiguous float64.
    sizes : int array
        How many columns each criterion has.
    by_label : sequence of bool
        Whether each criterion scores label by label.
    """

    def __init__(self, table: FloatArray, sizes: IntArray, by_label: Sequence[bool]) -> None:
        self.table = table
        self.sizes = sizes
        self.by_label = by_label

    @classmethod
    def of(cls, columns: Sequence[FloatArray]) -> "ScoreTable":
        """The scores in `columns`, (n,) or (n, K) each."""
        tables = [np.asarray(column, np.float64).reshape(len(column), -1) for column in columns]
        sizes = np.array([table.shape[1] for table in tables], np.int64)
        return cls(np.hstack(tables), sizes, [column.ndim == 2 for column in columns])

    def __len__(self) -> int:
        """Number of rows."""
        return len(self.table)

    def __iter__(self) -> Iterator[FloatArray]:
        """Scores by each criterion, (n,) or (n, K)."""
        at = 0
        for size, by_label in zip(self.sizes.tolist(), self.by_label, strict=True):
            yield self.table[:, at : at + size] if by_label else self.table[:, at]
            at += size
