"""State of the calibration. K labels have L = S = K, m = 3; classes that exclude each other have L = 0, S = m = 1.

phi, the maps and the scores are defined in `loops.calibration`, as are the thresholds.
"""

from typing import Annotated, NamedTuple

import numpy as np

from evolabel.core.schema import Schema, array
from evolabel.engine.packed_state import declare
from evolabel.typing import FloatArray

# Chosen on seeds 0-2 of emotions, yeast, water-quality, birds, digits, breast_cancer, ImageSegments
# (docs/explanations/trust.md).
FIRST_MAP = (2.5, 0.5, 0.0)  # theta before the first row: nearly p = f
SHARED_CURVATURE = (1.0, 1.0, 1.0)  # diagonal of A0
OWN_CURVATURE = (30.0, 30.0, 20.0)  # diagonal of D0: a label with few positives keeps to the shared map
FIRST_FACTOR = 5.0  # a before the first row
FACTOR_CURVATURE = 0.2

SCORE_BINS = 100
LARGEST_COEFFICIENT = 1e6  # of theta and delta
_MOST = 1e15  # of curvatures and counts, which fade, and add up where models are merged
LEVELS = np.array([0.5, 0.6, 0.7, 0.8, 0.85, 0.9, 0.95, 0.975, 0.99])
# Steps of alpha. With one gain for all levels, one error at .99 would put everything into the sets for 50 rows.
GAINS = np.minimum(0.02, 0.2 * (1.0 - LEVELS))


def first_maps(exclusive: bool) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return theta, A and D0 before the first row; `exclusive`: of classes, which have no D0."""
    if exclusive:
        return np.array([FIRST_FACTOR]), np.array([[FACTOR_CURVATURE]]), np.zeros((1, 1))
    return np.array(FIRST_MAP), np.diag(SHARED_CURVATURE), np.diag(OWN_CURVATURE)


class CalibrationArrays(NamedTuple):
    """Maps from outputs to probabilities, and thresholds of the scores."""

    theta: Annotated[FloatArray, array("map", start=lambda sizes: first_maps(sizes["map"] == 1)[0])]
    """The map that all labels share; for classes the factor a of the outputs."""
    A: Annotated[
        FloatArray, array("map", "map", start=lambda sizes: first_maps(sizes["map"] == 1)[1], low=-_MOST, high=_MOST)
    ]
    """Its curvature: A0 and fading sums of p (1 - p) phi phi'; for classes of the variance."""
    delta: Annotated[FloatArray, array("own", "map", low=-LARGEST_COEFFICIENT, high=LARGEST_COEFFICIENT)]
    """The deviation of each label from the shared map."""
    D: Annotated[
        FloatArray,
        array("own", "map", "map", start=lambda sizes: first_maps(sizes["map"] == 1)[2], low=-_MOST, high=_MOST),
    ]
    """Its curvature, from D0 on."""
    counts: Annotated[FloatArray, array("score", SCORE_BINS, low=0.0, high=_MOST)]
    """Fading counts of the scores of what came true, by score; a large score is strange."""
    n: Annotated[FloatArray, array("score", low=0.0, high=_MOST)]
    """Sum of the counts."""
    alpha: Annotated[
        FloatArray,
        array("score", len(LEVELS), start=1.0 - LEVELS, low=-float(GAINS.max()), high=1.0 + float(GAINS.max())),
    ]
    """Share of errors by which the threshold of each level of `LEVELS` is read from `counts`."""


CALIBRATION_ARRAYS = Schema(CalibrationArrays)


class Calibrations(NamedTuple):
    """The state, whether the labels are `exclusive` classes, and arrays that loops write before they read.

    `phi` has the regressors of a row, (K + 2, 3), `w` the weights of its labels and `p` their probabilities. Labels
    whose `counted` is 0 change maps only, not the thresholds of sets.
    """

    arrays: CalibrationArrays
    exclusive: bool
    phi: FloatArray
    w: FloatArray
    p: FloatArray
    counted: FloatArray


def calibration_sizes(n_labels: int, exclusive: bool) -> dict[str, int]:
    """Return the sizes of a calibration of `n_labels` labels; `exclusive` classes share one map and one threshold."""
    return {"map": 1, "own": 0, "score": 1} if exclusive else {"map": 3, "own": n_labels, "score": n_labels}


def allocate_calibration(n_labels: int, exclusive: bool) -> CalibrationArrays:
    """Return the state of a calibration of `n_labels` labels that has learned nothing; `exclusive`: of classes."""
    return CALIBRATION_ARRAYS.allocate(calibration_sizes(n_labels, exclusive))


def with_scratch_rows(arrays: CalibrationArrays, n_labels: int, exclusive: bool) -> Calibrations:
    """Return `arrays` with scratch arrays for rows of `n_labels` labels, or of `exclusive` classes."""
    w, p, counted = np.empty(n_labels), np.empty(n_labels), np.ones(n_labels)
    return Calibrations(arrays, exclusive, np.empty((n_labels + 2, 3)), w, p, counted)


def _declare() -> None:
    """Declare the tuples of this module to `engine.packed_state`, with the smallest arrays as an example."""
    example = with_scratch_rows(allocate_calibration(1, exclusive=False), 1, exclusive=False)
    declare(CalibrationArrays, example.arrays)
    declare(Calibrations, example)


_declare()
