"""`RecentSamples`: the last samples nobody was asked about, kept for a question that comes a little later."""

from collections import deque
from collections.abc import Sequence

import numpy as np

from evolabel.active.criteria import Criterion
from evolabel.active.filters.base import Arrays, by_sample
from evolabel.kernels.selection import rank_sum
from evolabel.kernels.state import FloatArray


class RecentSamples:
    """The last samples with their numbers in the stream; the oldest makes room."""

    def __init__(self, size: int) -> None:
        self.size = size
        self.rows: deque[FloatArray] = deque(maxlen=size)
        self.numbers: deque[int] = deque(maxlen=size)

    def add(self, rows: FloatArray, first_number: int) -> None:
        """Further samples have come."""
        self.rows.extend(rows)
        self.numbers.extend(range(first_number, first_number + len(rows)))

    def candidates(self, rows: FloatArray, first_number: int) -> tuple[FloatArray, list[int]]:
        """The samples a question can be about once these rows have come, and their numbers."""
        numbers = [*self.numbers, *range(first_number, first_number + len(rows))]
        return np.array([*self.rows, *rows])[-self.size :], numbers[-self.size :]

    def remove(self, number: int) -> None:
        """A sample is asked about."""
        kept = [(row, known) for row, known in zip(self.rows, self.numbers, strict=True) if known != number]
        self.rows = deque((row for row, _ in kept), maxlen=self.size)
        self.numbers = deque((known for _, known in kept), maxlen=self.size)

    def arrays(self, n_features: int) -> Arrays:
        """All that is remembered, by name."""
        numbers = np.array(self.numbers, np.int64)
        return {"rows": np.array(self.rows).reshape(-1, n_features), "numbers": numbers}

    def restore(self, arrays: Arrays) -> None:
        """Take over what was remembered."""
        self.rows.extend(arrays["rows"])
        self.numbers.extend(arrays["numbers"].tolist())


def best_of(criteria: Sequence[Criterion], scores: Sequence[FloatArray]) -> int:
    """The candidate with the largest weighted rank sum among all; the latest of equals."""
    table = np.stack([by_sample(column) for column in scores], axis=1)
    weights = np.array([criterion.weight for criterion in criteria])
    sums = [rank_sum(row, weights, table, len(table)) for row in table]
    return len(sums) - 1 - int(np.argmax(sums[::-1]))
