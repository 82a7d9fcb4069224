"""What the stored arrays of written rules must be: boxes, shares, sums in range, gates of the labels mentioned."""

import numpy as np

from evolabel.core.array_checks import check_arrays, require, size_of
from evolabel.core.schema import stream_sizes
from evolabel.stages.written_rules.arrays import WRITTEN_ARRAYS, WrittenArrays
from evolabel.typing import Arrays, IntArray


def read_written(arrays: Arrays, p: int, K: int, taken: IntArray, next_number: int) -> WrittenArrays:
    """Return the written rules of `p` features and `K` labels in `arrays`; DataError if they are none.

    Their numbers are below `next_number` and not among those `taken` by other rules.
    """
    check_arrays(arrays, WRITTEN_ARRAYS.expected(stream_sizes(p, K, rule=size_of(arrays, "number"))))
    a = WRITTEN_ARRAYS.from_arrays(arrays)
    require(len(np.unique(a.number)) == len(a.number), "number", "numbers that differ")
    require((a.number < next_number) & ~np.isin(a.number, taken), "number", "numbers that no other rule has")
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
