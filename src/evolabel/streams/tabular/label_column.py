"""`LabelColumn`: one column of a table that holds the labels of each row by their names."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from evolabel.errors import DataError
from evolabel.typing import FloatArray

SEPARATOR = ";"
"""Separates the labels in a cell."""
_MAX_LABELS = 1000


@dataclass(frozen=True)
class LabelColumn:
    """A column of texts with the labels of each row, such as "leak;bearing"; each name becomes a label of 0 and 1.

    Parameters
    ----------
    name : str
        Name of the column.
    one_per_row : bool
        Whether the whole text is a single label, the class of the row. An empty cell then is a missing value; in a
        list of labels it means that the row has none of them, and so does the word none.

    Examples
    --------
    >>> LabelColumn("tags").read(["leak;bearing", "none", None, "leak"])
    (('bearing', 'leak'), array([[ 1.,  1.],
           [ 0.,  0.],
           [nan, nan],
           [ 0.,  1.]]))
    """

    name: str
    one_per_row: bool = False

    def read(self, texts: Sequence[str | None]) -> tuple[tuple[str, ...], FloatArray]:
        """Return the names of the labels in `texts`, sorted, and a 0/1 column for each; NaN where a text is None."""
        rows = [self._labels(text) for text in texts]
        names = tuple(sorted({label for row in rows if row is not None for label in row}))
        if not names:
            raise DataError(f"column {self.name!r} has no label in any row; expected names, as in leak;bearing")
        if len(names) > _MAX_LABELS:
            raise DataError(
                f"column {self.name!r} has {len(names)} different labels ({', '.join(names[:3])} ...), at most "
                f"{_MAX_LABELS} can be learned; check the column, and that semicolons separate the labels in it"
            )
        return names, rows_of_labels(rows, names)

    def _labels(self, text: str | None) -> list[str] | None:
        """Return the labels in `text`; None where they are missing."""
        if self.one_per_row:
            return [text] if text else None
        if text is None or text.lower() == "none":
            return None if text is None else []
        return [part.strip() for part in text.split(SEPARATOR) if part.strip()]


def rows_of_labels(rows: Sequence[Sequence[str] | None], names: Sequence[str]) -> FloatArray:
    """Return a 0/1 column for each of `names` from the labels in `rows`; a row that is None is NaN."""
    place = {label: column for column, label in enumerate(names)}
    Y = np.zeros((len(rows), len(names)))
    for row, labels in enumerate(rows):
        if labels is None:
            Y[row] = np.nan
        else:
            Y[row, [place[label] for label in labels]] = 1.0
    return Y
