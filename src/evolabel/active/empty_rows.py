"""Rows without any feature in active learning: never asked about, not counted, answered by the base rates."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from evolabel.active.query import Query
from evolabel.classifier.samples import note_empty, rows_without_features
from evolabel.explain.prediction import NO_FEATURE
from evolabel.model.empty_rows import base_probabilities
from evolabel.model.protocols import Model
from evolabel.typing import BoolArray, FloatArray


class FilledRows(NamedTuple):
    """Rows that have a feature, and which of the rows they came with have none (None: all have one)."""

    rows: FloatArray
    empty: BoolArray | None

    @classmethod
    def of(cls, rows: FloatArray, outcome: str) -> "FilledRows":
        """Return those of the checked `rows` that have a feature; a DataWarning says the `outcome` for the others."""
        empty = rows_without_features(rows)
        if empty is None:
            return cls(rows, None)
        note_empty(empty, outcome)
        return cls(rows[~empty], empty)

    def passed(self, done: int) -> int:
        """Return how many of all rows come before the filled row `done`."""
        if self.empty is None:
            return done
        return int(np.flatnonzero(~self.empty)[done]) if done < len(self.rows) else len(self.empty)

    def outputs(self, model: Model, answer: Callable[[FloatArray], FloatArray]) -> FloatArray:
        """Return what `answer` returns for the filled rows, and the base rates of `model` for the others."""
        if self.empty is None:
            return answer(self.rows)
        outputs = np.tile(model.base_rates(), (len(self.empty), 1))
        if len(self.rows):
            outputs[~self.empty] = answer(self.rows)
        return outputs


def is_empty(x: FloatArray) -> bool:
    """Return whether the sample `x`, (p,), has no feature at all."""
    return bool(x[0] != x[0]) and bool(np.isnan(x).all())


def empty_query(model: Model, x: FloatArray) -> Query:
    """Return the query about the sample `x`, (p,), without any feature: its outputs by `model`, and no question."""
    rates, none, shares = model.base_rates(), np.zeros(model.n_labels, np.bool_), base_probabilities(model)
    return Query(x.copy(), rates, none, (), {}, 0, unfamiliar=(NO_FEATURE,), probabilities=shares)
