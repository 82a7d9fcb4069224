"""`ScoredRows`: rows with their outputs and scores; `RowsAhead`: until when they are those of the stream."""

from typing import NamedTuple

import numpy as np

from evolabel.active.scoring.model_version import ModelVersion
from evolabel.active.scoring.score_table import ScoreTable
from evolabel.typing import FloatArray


class ScoredRows(NamedTuple):
    """Consecutive rows of the stream, scored by one version of the model."""

    rows: FloatArray
    outputs: FloatArray
    scores: ScoreTable
    values: FloatArray
    """What the selector compares the rows by, see `Selector.values`."""


class ScoringContext(NamedTuple):
    """What scores depend on beside the model: priorities on `budget`, `retired` labels and those `to_confirm`."""

    changes: int
    """`QueryContext.changes`."""
    budget: float
    retired: frozenset[str]
    to_confirm: bytes
    """`labels_to_confirm`, which pending questions change."""


class RowsAhead(NamedTuple):
    """Rows that were scored together; those from index `first` on have not been counted yet."""

    version: ModelVersion
    number: int
    """Number of the first scored row in the stream."""
    context: ScoringContext
    """What the scores depend on beside the model."""
    scored: ScoredRows
    first: int = 0

    def holds_for(self, rows: FloatArray, version: ModelVersion, number: int, context: ScoringContext) -> bool:
        """Whether the scores are those of `rows`, the next of the stream.

        They are if the rows are the same bits, the first of them has the `number` given, and neither the `version` of
        the model nor the `context` differ.
        """
        known = self.scored.rows[self.first : self.first + len(rows)]
        moved = self.number + self.first != number or self.context != context
        if len(known) < len(rows) or moved or not self.version.same(version):
            return False
        return np.array_equal(known.view(np.int64), rows.view(np.int64))  # as bits: NaN equals NaN
