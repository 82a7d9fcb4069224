"""What the stored arrays of decisions must be: counts that fit each other, and label sets that differ."""

import numpy as np

from evolabel.core.array_checks import Expected, check_arrays, require, size_of
from evolabel.errors import DataError
from evolabel.stages.decisions.arrays import KNOWN_SETS
from evolabel.stages.decisions.loops.known_sets import APART, FIRST_SHARE, MOST_SETS, TOTAL, WON
from evolabel.typing import Arrays

_SLACK = 1e-6


def check_counts(arrays: Arrays, table: dict[str, Expected]) -> Arrays:
    """Return `arrays`, counts of samples and of those that carry a label, that must be as `table` says."""
    check_arrays(arrays, table)
    require(arrays["on"] <= arrays["seen"], "on", "no more than seen")
    return arrays


def check_sets(arrays: Arrays, n_labels: int) -> Arrays:
    """Return `arrays`, sets of `n_labels` labels with counts: labels cannot have more rows than there are in all."""
    used = size_of(arrays, "counts")
    if used > MOST_SETS:
        raise DataError(f"array counts has {used} entries, expected at most {MOST_SETS}")
    check_arrays(arrays, KNOWN_SETS.expected({"set": used, "label": n_labels}))
    sets, counts, on, outcomes = (arrays[name] for name in ("sets", "counts", "on", "outcomes"))
    require(len(np.unique(sets, axis=0)) == used, "sets", "sets that differ")
    rows = outcomes[TOTAL]
    require(rows >= 1.0, "outcomes", "one row or more")
    require((on >= FIRST_SHARE) & (on <= (rows - FIRST_SHARE) * (1.0 + _SLACK)), "on", "no more than all rows")
    require(rows - on >= 0.5 * FIRST_SHARE, "on", "no more than all rows")
    require(counts.sum() <= rows * (1.0 + _SLACK), "counts", "no more than all rows")
    require(
        np.abs(outcomes[WON]) <= outcomes[APART] * (1.0 + _SLACK) + _SLACK, "outcomes", "no more rows won than differ"
    )
    return arrays
