"""What the stored arrays of decisions must be: counts that fit each other, and label sets that differ."""

import numpy as np

from evolabel.core.array_checks import MOST, check_arrays, flags, floats, require, size_of
from evolabel.errors import DataError
from evolabel.stages.decisions.class_weights import BalancedDecisions
from evolabel.stages.decisions.known_sets import KnownSets
from evolabel.stages.decisions.loops.known_sets import APART, FIRST_SHARE, MOST_SETS, TOTAL, WON
from evolabel.stages.decisions.stage import Decisions
from evolabel.stages.decisions.thresholds import OutputCounts
from evolabel.typing import Arrays

_SLACK = 1e-6


def check_decisions(arrays: Arrays, decisions: Decisions | None) -> None:
    """Check the `arrays` that `decisions`, which have learned nothing yet, are to be restored from."""
    if isinstance(decisions, OutputCounts | BalancedDecisions):
        _check_counts(arrays, *decisions.seen.shape)
    elif isinstance(decisions, KnownSets):
        _check_sets(arrays, decisions.n_labels)
    elif arrays:
        raise DataError("arrays are not expected here")


def _check_counts(arrays: Arrays, *shape: int) -> None:
    """Check counts of labels, of this `shape`."""
    check_arrays(arrays, dict.fromkeys(("seen", "on"), floats(*shape, low=0.0)))
    require(arrays["on"] <= arrays["seen"], "on", "no more than seen")


def _check_sets(arrays: Arrays, n_labels: int) -> None:
    """Check sets of `n_labels` labels with their counts: labels cannot have more rows than there are in all."""
    used = size_of(arrays, "counts")
    if used > MOST_SETS:
        raise DataError(f"array counts has {used} entries, expected at most {MOST_SETS}")
    most = float(MOST)
    table = {"sets": flags(used, n_labels), "counts": floats(used, high=most, positive=True)}
    check_arrays(arrays, {**table, "on": floats(n_labels, high=most, positive=True), "outcomes": floats(3, high=most)})
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
