"""What the stored arrays of written rules must be: boxes, shares, sums in range, gates of the labels mentioned."""

import numpy as np

from evolabel.core.array_checks import FINITE, MOST, Expected, check_arrays, floats, require, size_of, whole
from evolabel.stages.written_rules.arrays import MOST_ROWS, WrittenArrays
from evolabel.typing import Arrays, IntArray


def written_table(n: int, p: int, K: int) -> dict[str, Expected]:
    """Return what the arrays of `n` written rules must be: `p` features, `K` labels."""
    return {
        "number": whole(n),
        "low": floats(n, p, low=-np.inf, high=FINITE),
        "high": floats(n, p, low=-FINITE, high=np.inf),
        "shares": floats(n, K, low=0.0, high=1.0, missing=True),
        "prior": floats(n, low=0.0, high=float(MOST)),
        "held": floats(n, K, low=0.0, high=1.0, missing=True),
        "rows": floats(n, K, low=0.0, high=MOST_ROWS),
        "positives": floats(n, K, low=0.0, high=MOST_ROWS),
        "gain": floats(n, K, low=-float(MOST), high=float(MOST)),
        "squares": floats(n, K, low=0.0, high=float(MOST)),
        "closed": whole(n, K, high=1),
    }


def read_written(arrays: Arrays, p: int, K: int, taken: IntArray, next_number: int) -> WrittenArrays:
    """Return the written rules of `p` features and `K` labels in `arrays`; DataError if they are none.

    Their numbers are below `next_number` and not among those `taken` by other rules.
    """
    check_arrays(arrays, written_table(size_of(arrays, "number"), p, K))
    a = WrittenArrays(**{name: arrays[name].copy() for name in WrittenArrays._fields})
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
