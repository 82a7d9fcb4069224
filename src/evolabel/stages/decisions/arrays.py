"""State of the decisions: counts of outputs, of labels, or of label sets."""

from typing import Annotated

import numpy as np

from evolabel.core.array_checks import MOST
from evolabel.core.schema import Schema, array
from evolabel.stages.decisions.loops.known_sets import FIRST_SHARE
from evolabel.typing import BoolArray, FloatArray

BINS = 32  # of outputs from 0 to 1


class OutputCountArrays:
    """Counts of outputs by bin, for each threshold: one per label, or one for all."""

    seen: Annotated[FloatArray, array("threshold", BINS, low=0.0)]
    """Annotated samples by output."""
    on: Annotated[FloatArray, array("threshold", BINS, low=0.0)]
    """Those of them that carry the label."""


class LabelCountArrays:
    """Counts of labels."""

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
