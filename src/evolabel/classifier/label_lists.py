"""Targets as lists of labels by name, one list per row, as `MultiLabelBinarizer` of scikit-learn takes them."""

from collections.abc import Sequence
from typing import Any

import narwhals as nw
import numpy as np

from evolabel._utils.notes import note
from evolabel._utils.text import counted
from evolabel.streams.tabular.label_column import rows_of_labels
from evolabel.typing import FloatArray

LabelLists = list[list[str] | None]
"""Names of the labels of each row; None for a row that is not annotated."""
_SEPARATORS = ";|,"
_FEW_UNKNOWN, _SHARE_UNKNOWN = 10, 0.1  # rows that are not annotated without a note


def as_label_lists(target: Any) -> LabelLists | None:
    """Return the labels of each row if `target`, a list or series, holds lists, tuples or sets of texts; else None.

    Empty texts are no labels. A DataWarning is given where many rows hold nothing at all and count as not annotated.
    """
    if isinstance(target, np.ndarray):
        values = target.tolist() if target.dtype == object and target.ndim == 1 else []
    elif nw.dependencies.is_into_series(target):
        series: Any = nw.from_native(target, series_only=True)
        values = series.to_list() if series.dtype in (nw.List, nw.Object) else []
    else:
        values = list(target) if isinstance(target, list | tuple) else []
    if not any(_is_list(value) for value in values):
        return None
    rows: LabelLists = []
    for value in values:
        if not _is_list(value):
            if not _is_missing(value):
                return None
            rows.append(None)
        elif all(isinstance(label, str) for label in value):
            rows.append([label for label in value if label])  # "".split(";") gives an empty text
        else:
            return None
    unknown = sum(row is None for row in rows)
    if unknown > max(_FEW_UNKNOWN, _SHARE_UNKNOWN * len(rows)):
        note(
            f"{counted(unknown, 'row')} of y hold no list and count as not annotated; where there is no label, pass an "
            'empty list: y.fillna("").str.split(";")'
        )
    return rows


def read_label_lists(
    lists: LabelLists, known: Sequence[str], *, streaming: bool
) -> tuple[FloatArray, list[str], list[int]]:
    """Return rows of 0, 1 and NaN of these `lists`, the names of their columns, and the first row of each new label.

    The `known` names come first. New labels are sorted; when `streaming` they come in the order in which they appear,
    and are NaN before.
    """
    first: dict[str, int] = {}
    for row, labels in enumerate(lists):
        for label in labels or ():
            first.setdefault(label, row)
    new = [label for label in (first if streaming else sorted(first)) if label not in set(known)]
    names = [*known, *new]
    Y = rows_of_labels(lists, names)
    if streaming:
        for column, label in enumerate(new, len(known)):
            Y[: first[label], column] = np.nan
    return Y, names, [first[label] for label in new] if streaming else []


def note_joined_labels(classes: Sequence[object]) -> None:
    """Warn if `classes` look like several labels in one text: the texts split into no more parts than there are."""
    texts = [text for text in classes if isinstance(text, str)]
    for mark in _SEPARATORS:
        joined_text = next((text for text in texts if mark in text.strip(mark)), None)
        parts = {part.strip() for text in texts for part in text.split(mark) if part.strip()}
        if joined_text is not None and len(parts) <= len(texts):
            note(
                f"y looks like several labels per row ({joined_text!r}), but is learned as {len(texts)} classes; pass "
                f"a list per row for {len(parts)} labels: y.str.split({mark!r}) or [text.split({mark!r}) for text in y]"
            )
            return


def _is_list(value: object) -> bool:
    return isinstance(value, list | tuple | set | frozenset)


def _is_missing(value: Any) -> bool:
    return value is None or (isinstance(value, float) and value != value)
