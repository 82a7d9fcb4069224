"""`Judged`: what a model makes of some rows. What lies behind a question stays valid until something is learned."""

from typing import NamedTuple

import numpy as np

from evolabel.active.scoring.model_version import Version
from evolabel.active.scoring.score_table import ScoreTable
from evolabel.typing import FloatArray


class Judged(NamedTuple):
    """Rows, their outputs, their scores by each criterion, and what the filter needs to know of these."""

    version: Version
    number: int
    """Of the first row in the stream."""
    changes: int
    """How often doubts had changed by then, see `Experience`."""
    rows: FloatArray
    outputs: FloatArray
    scores: ScoreTable
    parts: FloatArray

    def holds_for(self, rows: FloatArray, first: int, version: Version, number: int, changes: int) -> bool:
        """Are these the rows from the `first` on, of the same number, and nothing has been learned since?"""
        known = self.rows[first : first + len(rows)]
        moved = self.number + first != number or self.changes != changes
        if len(known) < len(rows) or moved or not self.version.same(version):
            return False
        return np.array_equal(known.view(np.int64), rows.view(np.int64))  # NaN as well
