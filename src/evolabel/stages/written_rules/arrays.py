"""State of the rules that people write. There are n of them, in the order in which they are asked.

| array       | shape  | meaning                                                                                       |
|-------------|--------|-----------------------------------------------------------------------------------------------|
| number      | (n,)   | number of the rule                                                                            |
| low, high   | (n, p) | the rule holds where low <= x <= high in all features that it names; infinite: no end         |
| shares      | (n, K) | share of each label as written; NaN: the rule does not mention it                             |
| prior       | (n,)   | rows that the written shares count for: weight times confidence                               |
| held        | (n, K) | what a locked rule answers; NaN: it is not locked                                             |
| rows        | (n, K) | weight of the rows in which it was the first to hold, at most `MOST_ROWS`: older ones fade    |
| positives   | (n, K) | the same of those with the label                                                              |
| gain        | (n, K) | fading sum of the squared error without the rule minus that with it                           |
| squares     | (n, K) | fading sum of the squares of that difference                                                  |
| closed      | (n, K) | 1: without the rule the error is smaller beyond doubt, so it is not used for the label        |

A feature that is not named has no ends. Classes exclude each other: a rule answers for all of them, and its gate is the
same for all classes that it mentions.
"""

from typing import Any, NamedTuple

import numpy as np

from evolabel.engine.packed_state import declare
from evolabel.typing import FloatArray, IntArray

MOST_ROWS = 2000.0  # of a rule and label; as long as the memory of a leaf


class WrittenArrays(NamedTuple):
    """State of written rules as plain arrays; see the table on top of this module."""

    number: IntArray
    low: FloatArray
    high: FloatArray
    shares: FloatArray
    prior: FloatArray
    held: FloatArray
    rows: FloatArray
    positives: FloatArray
    gain: FloatArray
    squares: FloatArray
    closed: IntArray


class Written(NamedTuple):
    """Written rules as kernels take them, with scratch arrays for one row, (4, K).

    `exclusive`: the labels are classes, of which one is true. `gate_error`: standard errors by which a rule must be
    worse before it is no longer used.
    """

    arrays: WrittenArrays
    scratch: FloatArray
    exclusive: bool
    gate_error: float


def allocate_written(n: int, n_features: int, n_labels: int) -> WrittenArrays:
    """Return `n` written rules for `n_features` and `n_labels` that name nothing and have learned nothing."""
    p, K = n_features, n_labels
    return WrittenArrays(
        number=np.zeros(n, np.int64),
        low=np.full((n, p), -np.inf),
        high=np.full((n, p), np.inf),
        shares=np.full((n, K), np.nan),
        prior=np.zeros(n),
        held=np.full((n, K), np.nan),
        rows=np.zeros((n, K)),
        positives=np.zeros((n, K)),
        gain=np.zeros((n, K)),
        squares=np.zeros((n, K)),
        closed=np.zeros((n, K), np.int64),
    )


def _declare() -> None:
    """Declare the tuples of this module to `engine.packed_state`, with the smallest arrays as an example."""
    example: Any = Written(allocate_written(1, 1, 1), np.zeros((4, 1)), False, 0.0)
    declare(WrittenArrays, example.arrays)
    declare(Written, example)


_declare()
