"""`RecentSamples`: the last samples nobody was asked about, kept for a question that comes a little later."""

from collections.abc import Sequence

import numpy as np

from evolabel.active.scoring.criteria import Criterion
from evolabel.active.scoring.score_table import ScoreTable
from evolabel.active.selection.selector import by_sample
from evolabel.core.stored.array_checks import check_arrays, check_samples, floats, require, size_of, whole
from evolabel.kernels.selection import rank_sum
from evolabel.typing import Arrays, FloatArray


class RecentSamples:
    """Those of the last `size` samples of the stream that were not asked about, by their numbers."""

    def __init__(self, size: int) -> None:
        self.size = size
        self.rows: dict[int, FloatArray] = {}

    def add(self, rows: FloatArray, first_number: int) -> None:
        """Further samples have come."""
        self.rows = self.candidates(rows, first_number)

    def candidates(self, rows: FloatArray, first_number: int) -> dict[int, FloatArray]:
        """The samples a question can be about once these rows have come, oldest first."""
        known = self.comparable(rows.shape[1]) | {first_number + i: row.copy() for i, row in enumerate(rows)}
        oldest = first_number + len(rows) - self.size
        return {number: row for number, row in known.items() if number >= oldest}

    def comparable(self, n_features: int) -> dict[int, FloatArray]:
        """The samples of as many features; none, where features have come or gone since."""
        return {number: row for number, row in self.rows.items() if len(row) == n_features}

    def remove(self, number: int) -> None:
        """A sample is asked about."""
        self.rows.pop(number, None)

    def arrays(self, n_features: int) -> Arrays:
        """All that is remembered, by name."""
        known = self.comparable(n_features)
        rows = np.array(list(known.values())).reshape(-1, n_features)
        return {"rows": rows, "numbers": np.array(list(known), np.int64)}

    def restore(self, arrays: Arrays, n_features: int, seen: int) -> None:
        """Take over what was remembered of the last of `seen` samples; DataError if it does not fit."""
        kept = size_of(arrays, "numbers")
        oldest = max(seen - self.size, 0) + 1
        table = {"rows": floats(kept, n_features, missing=True), "numbers": whole(kept, low=oldest, high=seen)}
        check_arrays(arrays, table)
        check_samples("rows", arrays["rows"])
        require(np.diff(arrays["numbers"]) > 0, "numbers", "rising numbers")
        self.rows = dict(zip(arrays["numbers"].tolist(), arrays["rows"], strict=True))


def best_of(criteria: Sequence[Criterion], scores: ScoreTable) -> int:
    """The candidate with the largest weighted rank sum among all; the latest of equals."""
    table = np.stack([by_sample(column) for column in scores])
    weights = np.array([criterion.weight for criterion in criteria], np.float64)
    sums = [rank_sum(row, weights, table, table.shape[1]) for row in np.ascontiguousarray(table.T)]
    return len(sums) - 1 - int(np.argmax(sums[::-1]))
