"""`LabelColumn`: one column of a table that holds the labels of each row by their names."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite

import numpy as np

from evolabel._utils.notes import note
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
        if doubt := self._doubt([text for text in texts if text]):
            note(doubt)
        rows = [self._labels(text) for text in texts]
        names = tuple(sorted({label for row in rows if row is not None for label in row}))
        if not names:
            raise DataError(f"column {self.name!r} has no label in any row; expected names, as in leak;bearing")
        if len(names) > _MAX_LABELS:
            raise DataError(
                f"column {self.name!r} has {len(names)} different labels ({', '.join(names[:3])} ...), at most "
                f"{_MAX_LABELS} can be learned; check the column, and that semicolons separate the labels of "
                "--label-list; --labels is for columns of 0 and 1, --class-column for one class in each row"
            )
        return names, rows_of_labels(rows, names)

    def _doubt(self, texts: Sequence[str]) -> str:
        """Return a sentence if `texts` look as if another option were meant, or an empty text."""
        name, numbers = self.name, [_number(text) for text in texts]
        if not self.one_per_row:
            if None in numbers or not numbers:
                return ""
            meant = "--labels" if set(numbers) <= {0.0, 1.0} else "--class-column"
            return f"column {name!r} holds one number in each row, no lists of labels; use {meant} {name} instead"
        if listed := next((text for text in texts if SEPARATOR in text), None):
            return (
                f"column {name!r} holds lists ({listed!r}), read as one class each; for labels use --label-list {name}"
            )
        if fraction := next((x for x in numbers if x is not None and not x.is_integer()), None):
            return (
                f"column {name!r} holds fractional numbers ({fraction:g}), each of which becomes a class; if they are "
                "measured values, use --class-column or --labels with another column"
            )
        return ""

    def _labels(self, text: str | None) -> list[str] | None:
        """Return the labels in `text`; None where they are missing."""
        if self.one_per_row:
            return [text] if text else None
        if text is None or text.lower() == "none":
            return None if text is None else []
        return [part.strip() for part in text.split(SEPARATOR) if part.strip()]


def _number(text: str) -> float | None:
    """Return the finite number in `text`, None if there is none."""
    try:
        number = float(text)
    except ValueError:
        return None
    return number if isfinite(number) else None


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
