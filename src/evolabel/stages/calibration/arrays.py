"""State of the calibration. K labels have L = S = K, m = 3; classes that exclude each other have L = 0, S = m = 1.

| symbol | array     | meaning                                                                                |
|--------|-----------|----------------------------------------------------------------------------------------|
| theta  | (m,)      | the map that all labels share; for classes the factor a of the outputs                 |
| A      | (m, m)    | its curvature: A0 and fading sums of p (1 - p) phi phi'; for classes of the variance   |
| delta  | (L, m)    | the deviation of each label from the shared map                                        |
| D      | (L, m, m) | its curvature, from D0 on                                                              |
| counts | (S, 100)  | fading counts of the scores of what came true, by score; a large score is strange      |
| n      | (S,)      | sum of the counts                                                                      |
| alpha  | (S, 9)    | share of errors by which the threshold of each level of `LEVELS` is read from `counts` |

phi, the maps and the scores are defined in `loops.maps`, the thresholds in `loops.sets`.
"""

from typing import NamedTuple

import numpy as np

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
LEVELS = np.array([0.5, 0.6, 0.7, 0.8, 0.85, 0.9, 0.95, 0.975, 0.99])
# Steps of alpha. With one gain for all levels, one error at .99 would put everything into the sets for 50 rows.
GAINS = np.minimum(0.02, 0.2 * (1.0 - LEVELS))


class CalibrationArrays(NamedTuple):
    """Maps from outputs to probabilities, and thresholds of the scores; see the table above."""

    theta: FloatArray
    A: FloatArray
    delta: FloatArray
    D: FloatArray
    counts: FloatArray
    n: FloatArray
    alpha: FloatArray


class Calibrations(NamedTuple):
    """The state, whether the labels are `exclusive` classes, and arrays that kernels write before they read.

    `phi` has the regressors of a row, (K + 2, 3), `w` the weights of its labels and `p` their probabilities. Labels
    whose `counted` is 0 change maps only, not the thresholds of sets.
    """

    arrays: CalibrationArrays
    exclusive: bool
    phi: FloatArray
    w: FloatArray
    p: FloatArray
    counted: FloatArray


def first_maps(exclusive: bool) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return theta, A and D0 before the first row; `exclusive`: of classes, which have no D0."""
    if exclusive:
        return np.array([FIRST_FACTOR]), np.array([[FACTOR_CURVATURE]]), np.zeros((1, 1))
    return np.array(FIRST_MAP), np.diag(SHARED_CURVATURE), np.diag(OWN_CURVATURE)


def allocate_calibration(n_labels: int, exclusive: bool) -> CalibrationArrays:
    """Return the state of a calibration of `n_labels` labels that has learned nothing; `exclusive`: of classes."""
    theta, A, D = first_maps(exclusive)
    own, scores = (0, 1) if exclusive else (n_labels, n_labels)
    return CalibrationArrays(
        theta=theta,
        A=A,
        delta=np.zeros((own, len(theta))),
        D=np.tile(D, (own, 1, 1)),
        counts=np.zeros((scores, SCORE_BINS)),
        n=np.zeros(scores),
        alpha=np.tile(1.0 - LEVELS, (scores, 1)),
    )


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
