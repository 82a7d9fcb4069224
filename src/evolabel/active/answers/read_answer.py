"""Answers as people give them: in part, by one annotator or several, with new labels, by name or by order."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from evolabel._utils.text import counted
from evolabel.active.answers.annotators import AnnotatorPool, read_names
from evolabel.active.query import Query
from evolabel.classifier.samples import as_array, as_matrix, column_names
from evolabel.classifier.targets import LABEL, are_generated, checked_labels
from evolabel.errors import DataError
from evolabel.typing import AnyArray, BoolArray, FloatArray


class Answer(NamedTuple):
    """Checked rows of 0, 1 and NaN, one per annotator, a column per label; names of the annotators, if any.

    The last columns are those of `new_labels`, names of labels that the classifier does not have yet.
    """

    rows: FloatArray
    names: tuple[str, ...]
    new_labels: tuple[str, ...] = ()

    @property
    def answered(self) -> BoolArray:
        """Labels that any annotator has answered."""
        missing = np.isnan(self.rows)
        return np.logical_not(missing[0] if len(missing) == 1 else missing.all(axis=0))

    def settle(self, pool: AnnotatorPool) -> tuple[FloatArray, FloatArray | None]:
        """One answer and the confidence of its labels, by the votes of `pool`, which also counts the agreements."""
        if not self.names:
            return self.rows[0], None
        y, confidence = pool.vote(self.rows, self.names)
        return np.where(confidence > 0.0, y, np.nan), confidence


def read_answer(
    y: object, annotator: str | Sequence[str] | None, query: Query, label_names: Sequence[str]
) -> Answer | None:
    """The answer `y` to a `query`, checked; None if it answers no label.

    `annotator`: name or names of those who have answered; `label_names`: names of all labels known by now.
    """
    names = () if annotator is None else read_names(annotator)
    table, new_labels = _table(y, label_names)
    rows = checked_labels(table)
    if len(rows) != max(len(names), 1):
        raise DataError(f"y has {len(rows)} rows for {len(names)} annotators; pass one row of answers for each")
    if len(set(names)) < len(names):
        raise DataError(f"annotator={list(names)} has a name twice; pass each annotator once, with one row of answers")
    if rows.shape[1] < len(query.labels):
        given = counted(rows.shape[1], "label")
        raise DataError(
            f"y answers {given}, but there are {len(query.labels)}; use NaN for those not answered, or pass a "
            "dictionary {label: 0 or 1}"
        )
    if np.isnan(rows).all():
        return None
    missing = len(label_names) - rows.shape[1]  # labels that have appeared since the question was asked
    if missing > 0:
        rows = np.pad(rows, ((0, 0), (0, missing)), constant_values=np.nan)
    return Answer(rows, names, new_labels)


def _table(y: object, label_names: Sequence[str]) -> tuple[FloatArray, tuple[str, ...]]:
    """One row per annotator, in the order of the labels, and the names of new labels, whose columns come last.

    Answers that carry names are placed by them.
    """
    if isinstance(y, Mapping):
        return _placed(np.array([list(y.values())], dtype=object), list(map(str, y)), label_names)
    table = as_array(y, "y")
    if table.ndim == 0:
        raise DataError(f"y is {y!r}; pass one answer per label: 0, 1, or NaN where it is not answered")
    given, rows = _names_of(y), table[None] if table.ndim == 1 else table
    # Labels with generated names are matched by order, unless the answer uses these names.
    if given is None or (are_generated(label_names) and set(given).isdisjoint(label_names)):
        return as_matrix(rows, "y", LABEL), ()
    return _placed(rows, given, label_names)


def _names_of(y: object) -> list[str] | None:
    """Names of the labels in a frame or a row of a frame; None for anything without names."""
    index = getattr(y, "index", None)  # of a pandas series; a list has a method of that name
    names = column_names(y) if index is None or callable(index) or hasattr(y, "columns") else list(index)
    return names if names and all(isinstance(name, str) for name in names) else None


def _placed(rows: AnyArray, given: list[str], label_names: Sequence[str]) -> tuple[FloatArray, tuple[str, ...]]:
    """Columns in the order of the labels, NaN for labels that are not given, then those of new labels; their names."""
    values = as_matrix(rows, "y", LABEL)
    known = {name: k for k, name in enumerate(label_names)}
    if given and known.keys().isdisjoint(given) and are_generated(label_names):
        raise DataError(
            f"y answers {given[0]!r}, but the labels have no names; call name_columns of the classifier first, or "
            f"answer {label_names[0]!r} and so on"
        )
    new = [
        name for name, column in zip(given, values.T, strict=True) if name not in known and not np.isnan(column).all()
    ]
    place = known | {name: len(known) + i for i, name in enumerate(new)}
    placed = np.full((len(rows), len(place)), np.nan)
    for name, column in zip(given, values.T, strict=True):
        if name in place:
            placed[:, place[name]] = column
    return placed, tuple(new)
