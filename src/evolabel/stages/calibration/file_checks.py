"""What the stored arrays of a calibration must be: curvatures that can be solved, counts, and errors in range."""

import numpy as np

from evolabel.core.array_checks import check_arrays, is_nearly_definite, require
from evolabel.stages.calibration.arrays import CALIBRATION_ARRAYS, calibration_sizes, first_maps
from evolabel.stages.calibration.stage import bounds_of_theta
from evolabel.typing import Arrays, FloatArray

_ROUNDING = 1e-6


def check_calibration(arrays: Arrays, n_labels: int, *, exclusive: bool) -> None:
    """Check the `arrays` of a calibration of `n_labels` labels, or of `exclusive` classes."""
    check_arrays(arrays, CALIBRATION_ARRAYS.expected(calibration_sizes(n_labels, exclusive)))
    _, A, D = first_maps(exclusive)
    _check_curvature("A", arrays["A"], A)
    for each in arrays["D"]:
        _check_curvature("D", each, D)
    low, high = bounds_of_theta(exclusive)
    require((arrays["theta"] >= low) & (arrays["theta"] <= high), "theta", "a map that rises, within its bounds")
    sums = arrays["counts"].sum(axis=1)
    require(np.abs(sums - arrays["n"]) <= _ROUNDING * (1.0 + sums), "n", "the sums of the counts")


def _check_curvature(name: str, A: FloatArray, first: FloatArray) -> None:
    """Check that the array `name`, A, is symmetric and at least its value before the `first` row, up to rounding."""
    scale = np.sqrt(np.outer(np.abs(np.diagonal(A)), np.abs(np.diagonal(A))))
    require(np.abs(A - A.T) <= _ROUNDING * scale, name, "a symmetric matrix")
    require(is_nearly_definite(A - first, np.diagonal(A)), name, "at least the curvature before the first row")
