"""State of the decisions: counts of outputs, of labels, or of label sets."""

from typing import Annotated

import numpy as np

from evolabel.core.schema import Schema, array
from evolabel.core.stored_checks import MOST, Expected, check_arrays, require, size_of
from evolabel.errors import DataError
from evolabel.stages.decisions.loops import APART, FIRST_SHARE, MOST_SETS, TOTAL, WON
from evolabel.typing import Arrays, BoolArray, FloatArray

BINS = 32  # of outputs from 0 to 1


class OutputCountArrays:
    """Counts of outputs by bin, for each threshold: one per label, or one for all."""

    seen: Annotated[FloatArray, array("threshold", BINS, low=0.0)]
    """Annotated samples by output."""
    on: Annotated[FloatArray, array("threshold", BINS, low=0.0)]
    """Those of them that carry the label."""


class LabelCountArrays:
    """How many answers each label had, and how many of them were positive, for `BalancedDecisions`."""

    seen: Annotated[FloatArray, array("label", low=0.0)]
    """Annotated samples."""
    on: Annotated[FloatArray, array("label", low=0.0)]
    """Those of them that carry the label."""


class KnownSetArrays:
    """Label sets that occurred; `loops.known_sets` explains how they are used."""

    sets: Annotated[BoolArray, array("set", "label")]
    """Label sets; files have those in use."""
    counts: Annotated[FloatArray, array("set", high=float(MOST), positive=True)]
    """Rows with each set; 0 from the first free place on."""
    on: Annotated[FloatArray, array("label", start=FIRST_SHARE, high=float(MOST), positive=True)]
    """Rows with each label."""
    outcomes: Annotated[FloatArray, array(3, start=np.array([1.0, 0.0, 0.0]), high=float(MOST))]
    """Rows in all; rows won less rows lost, and won or lost, against plain decisions."""


OUTPUT_COUNTS, LABEL_COUNTS = Schema(OutputCountArrays), Schema(LabelCountArrays)
KNOWN_SETS = Schema(KnownSetArrays)


_SLACK = 1e-6


def check_counts(arrays: Arrays, table: dict[str, Expected]) -> Arrays:
    """Return `arrays`, counts of samples and of those that carry a label, that must be as in `table`."""
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
