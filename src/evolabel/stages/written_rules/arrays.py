"""State of the rules that people write. There are n of them, in the order in which they are asked.

A feature that is not named has no ends. Classes exclude each other: a rule answers for all of them, and its gate is the
same for all classes that it mentions.
"""

from typing import Annotated, Any, NamedTuple

import numpy as np

from evolabel.core.schema import Schema, array, stream_sizes
from evolabel.core.stored_checks import FINITE, MOST, check_arrays, require, size_of
from evolabel.engine.packed_state import declare
from evolabel.typing import Arrays, FloatArray, IntArray

MOST_ROWS = 2000.0  # of a rule and label; as long as the memory of a leaf


class WrittenArrays(NamedTuple):
    """State of written rules."""

    number: Annotated[IntArray, array("rule")]
    """Number of the rule."""
    low: Annotated[FloatArray, array("rule", "feature", start=-np.inf, low=-np.inf, high=FINITE, kind="written")]
    """The rule holds where low <= x <= high in all features that it names; infinite: no end."""
    high: Annotated[FloatArray, array("rule", "feature", start=np.inf, low=-FINITE, high=np.inf, kind="written")]
    """See `low`."""
    shares: Annotated[FloatArray, array("rule", "label", start=np.nan, low=0.0, high=1.0, missing=True, kind="written")]
    """Share of each label as written; NaN: the rule does not mention it."""
    prior: Annotated[FloatArray, array("rule", low=0.0, high=float(MOST), kind="written")]
    """Rows that the written shares count for: weight times confidence."""
    held: Annotated[FloatArray, array("rule", "label", start=np.nan, low=0.0, high=1.0, missing=True)]
    """What a locked rule answers; NaN: it is not locked."""
    rows: Annotated[FloatArray, array("rule", "label", low=0.0, high=MOST_ROWS)]
    """Weight of the rows in which it was the first to hold, at most `MOST_ROWS`: older ones fade."""
    positives: Annotated[FloatArray, array("rule", "label", low=0.0, high=MOST_ROWS)]
    """The same of those with the label."""
    gain: Annotated[FloatArray, array("rule", "label", low=-float(MOST), high=float(MOST))]
    """Fading sum of the squared error without the rule minus that with it."""
    squares: Annotated[FloatArray, array("rule", "label", low=0.0, high=float(MOST))]
    """Fading sum of the squares of that difference."""
    closed: Annotated[IntArray, array("rule", "label", high=1)]
    """1: without the rule the error is smaller beyond doubt, so it is not used for the label."""


WRITTEN_ARRAYS = Schema(WrittenArrays)


class Written(NamedTuple):
    """Written rules as loops take them, with scratch arrays for one row, (4, K).

    `exclusive`: the labels are classes, of which one is true. `gate_error`: standard errors by which a rule must be
    worse before it is no longer used.
    """

    arrays: WrittenArrays
    scratch: FloatArray
    exclusive: bool
    gate_error: float


def allocate_written(n: int, n_features: int, n_labels: int) -> WrittenArrays:
    """Return `n` written rules for `n_features` and `n_labels` that name nothing and have learned nothing."""
    return WRITTEN_ARRAYS.allocate(stream_sizes(n_features, n_labels, rule=n))


def read_written(arrays: Arrays, p: int, K: int) -> WrittenArrays:
    """Return the written rules of `p` features and `K` labels in `arrays`; DataError if they are none."""
    check_arrays(arrays, WRITTEN_ARRAYS.expected(stream_sizes(p, K, rule=size_of(arrays, "number"))))
    a = WRITTEN_ARRAYS.from_arrays(arrays)
    require(len(np.unique(a.number)) == len(a.number), "number", "numbers that differ")
    require(a.low <= a.high, "low", "ends that rise")
    mentioned = ~np.isnan(a.shares)
    require(mentioned.any(axis=1), "shares", "a label in every rule")
    answered = ~np.isnan(a.held)
    locked = answered.any(axis=1, keepdims=True)
    require((answered == mentioned) | ~locked, "held", "answers to the labels mentioned, or none")
    require(a.positives <= a.rows * (1.0 + 1e-9), "positives", "no more positives than rows")
    for name in ("rows", "gain", "squares", "closed"):
        require((getattr(a, name) == 0) | mentioned, name, "0 for labels that are not mentioned")
    return a


def _declare() -> None:
    """Declare the tuples of this module to `engine.packed_state`, with the smallest arrays as an example."""
    example: Any = Written(allocate_written(1, 1, 1), np.zeros((4, 1)), False, 0.0)
    declare(WrittenArrays, example.arrays)
    declare(Written, example)


_declare()
