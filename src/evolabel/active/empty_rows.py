"""Rows without any feature in active learning: never asked about, not counted, answered by the base rates."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from evolabel.classifier.samples import note_empty, rows_without_features
from evolabel.model.protocols import Model
from evolabel.typing import BoolArray, FloatArray


class FilledRows(NamedTuple):
    """Rows that have a feature, and which of the rows they came with have none (None: all have one)."""

    rows: FloatArray
    empty: BoolArray | None

    @classmethod
    def of(cls, rows: FloatArray, outcome: str) -> "FilledRows":
        """Return those of the checked `rows` that have a feature; a DataWarning names the `outcome` for the others."""
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
