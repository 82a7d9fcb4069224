"""Answers as people give them: late, in part, by one annotator or several, with labels nobody has heard of."""

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
    """Checked rows of 0, 1 and NaN, one per annotator, as wide as the labels are by now; names, if they are known."""

    rows: FloatArray
    names: tuple[str, ...]

    @property
    def told(self) -> BoolArray:
        """Labels that anyone has answered."""
        return np.asarray(~np.isnan(self.rows).all(axis=0))

    def settle(self, pool: AnnotatorPool) -> tuple[FloatArray, FloatArray | None]:
        """One answer, and how sure it is; the pool learns who agrees with whom."""
        if not self.names:
            return self.rows[0], None
        y, confidence = pool.vote(self.rows, self.names)
        return np.where(confidence > 0.0, y, np.nan), confidence


def read_answer(
    y: object, annotator: str | Sequence[str] | None, query: Query, label_names: Sequence[str]
) -> Answer | None:
    """The answer to a question, checked; None if there is none. `label_names`: the labels known by now."""
    if y is None:
        return None
    names = () if annotator is None else read_names(annotator)
    rows = checked_labels(_table(y, label_names))
    if len(rows) != max(len(names), 1):
        raise DataError(f"y has {len(rows)} rows for {len(names)} annotators; pass one row of answers for each")
    if len(set(names)) < len(names):
        raise DataError(f"annotator={list(names)} names one twice; pass one row of answers for each")
    if rows.shape[1] < len(query.labels):
        told = counted(rows.shape[1], "label")
        raise DataError(f"y answers {told}, but there are {len(query.labels)}; use NaN for those not answered")
    if np.isnan(rows).all():
        return None
    missing = max(len(label_names) - rows.shape[1], 0)  # labels that have appeared since the question was asked
    return Answer(np.pad(rows, ((0, 0), (0, missing)), constant_values=np.nan), names)


def _table(y: object, label_names: Sequence[str]) -> FloatArray:
    """One row per annotator, in the order of the labels; answers that carry names are placed by them."""
    if isinstance(y, Mapping):
        return _placed(np.array([list(y.values())], dtype=object), list(map(str, y)), label_names)
    table = as_array(y, "y")
    if table.ndim == 0:
        raise DataError(f"y is {y!r}; pass one answer per label: 0, 1, or NaN where it is not answered")
    told, rows = _names_of(y), table[None] if table.ndim == 1 else table
    nameless = are_generated(label_names)  # then only the order can tell
    if told is None or (nameless and set(told).isdisjoint(label_names)):
        return as_matrix(rows, "y", LABEL)
    return _placed(rows, told, label_names)


def _names_of(y: object) -> list[str] | None:
    """Names of the labels a frame or a row of a frame speaks of; None for anything without names."""
    index = getattr(y, "index", None)  # of a pandas series; a list has a method of that name
    names = column_names(y) if index is None or callable(index) or hasattr(y, "columns") else list(index)
    return names if names and all(isinstance(name, str) for name in names) else None


def _placed(rows: AnyArray, told: list[str], label_names: Sequence[str]) -> FloatArray:
    """Columns in the order of the labels, NaN for labels nobody speaks of."""
    if unknown := [name for name in told if name not in label_names]:
        raise DataError(f"y answers {unknown[0]!r}, which is no label; the labels are {', '.join(label_names)}")
    placed = np.full((len(rows), len(label_names)), np.nan)
    placed[:, [list(label_names).index(name) for name in told]] = as_matrix(rows, "y", LABEL)
    return placed
