"""Answers as people give them: late, in part, by one annotator or several, with labels nobody has heard of."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from evolabel.active.annotators import AnnotatorPool, read_names
from evolabel.active.query import Query
from evolabel.adapters.samples import as_array, as_matrix
from evolabel.adapters.targets import checked_labels
from evolabel.errors import DataError
from evolabel.kernels.state import BoolArray, FloatArray


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


def read_answer(y: object, annotator: str | Sequence[str] | None, query: Query, n_labels: int) -> Answer | None:
    """The answer to a question, checked; None if there is none."""
    if y is None:
        return None
    names = () if annotator is None else read_names(annotator)
    table = as_array(y, "y")
    rows = checked_labels(as_matrix(table[None] if table.ndim == 1 else table, "y"))
    if len(rows) != max(len(names), 1):
        raise DataError(f"y has {len(rows)} rows for {len(names)} annotators; pass one row of answers for each")
    if len(set(names)) < len(names):
        raise DataError(f"annotator={list(names)} names one twice; pass one row of answers for each")
    if rows.shape[1] < len(query.labels):
        raise DataError(
            f"y answers {rows.shape[1]} labels, but there are {len(query.labels)}; use NaN for those not answered"
        )
    if np.isnan(rows).all():
        return None
    missing = max(n_labels - rows.shape[1], 0)  # labels that have appeared since the question was asked
    return Answer(np.pad(rows, ((0, 0), (0, missing)), constant_values=np.nan), names)
