"""`RecentErrors`: the stage that adds the mean error of recent answers to the outputs of each label."""

from typing import Any

import numpy as np

from evolabel.core.events import StageLog
from evolabel.core.rows import Rows
from evolabel.core.stage import OwnStage
from evolabel.stages.recent_errors.arrays import ERROR_ARRAYS
from evolabel.typing import IntArray

MEMORY = 200.0  # answers that the mean is over


class RecentErrors(OwnStage):
    """The mean error of recent answers, by label."""

    name = "recent_errors"
    schema = ERROR_ARRAYS

    def answer(self, rows: Rows) -> None:
        """Add the mean errors to the outputs of `rows`."""
        rows.outputs += self.arrays.e

    def learn_row(self, row: Rows, log: StageLog | None) -> None:
        """Move the mean errors by the labels of `row` that are known."""
        e, n = self.arrays
        known = ~np.isnan(row.Y[0])
        n[known] += 1.0
        e[known] += (row.Y[0] - row.outputs[0])[known] / np.minimum(n[known] + 1.0, MEMORY)

    def merge(self, other: Any, labels: IntArray) -> None:
        """Take the mean of both errors by their answers."""
        e, n = self.placed(other, labels)
        total = self.arrays.n + n
        self.arrays.e[:] = (self.arrays.n * self.arrays.e + n * e) / np.maximum(total, 1.0)
        self.arrays.n[:] = total
