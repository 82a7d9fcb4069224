"""State of the scaling, learned from the initial batch and constant afterwards."""

from dataclasses import dataclass
from typing import Annotated

from evolabel.core.schema import Schema, array
from evolabel.core.stored_checks import FINITE, FURTHEST
from evolabel.typing import BoolArray, FloatArray, IntArray


@dataclass(frozen=True)
class ScalerArrays:
    """A monotone piecewise linear map per feature."""

    x: Annotated[FloatArray, array("feature", "knot", low=-FINITE, high=FINITE)]
    """Knots in the units of the feature, rising; of a constant feature its value, for display."""
    z: Annotated[FloatArray, array("feature", "knot")]
    """Scores at the knots."""
    used: Annotated[IntArray, array("feature")]
    """How many knots the feature has; 0: constant, always scores 0."""
    slope: Annotated[FloatArray, array("feature", start=1.0, high=FINITE, positive=True)]
    """Slope beyond the outermost knots."""
    prior: Annotated[FloatArray, array("feature", high=FURTHEST**2, positive=True)]
    """Variance expected of the scaled feature."""
    binary: Annotated[BoolArray, array("feature")]
    """Whether it was only 0 or 1 in the initial batch."""


SCALER_ARRAYS = Schema(ScalerArrays)
