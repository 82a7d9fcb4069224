"""What the stored arrays of a scaler must be: knots and their scores rise."""

import numpy as np

from evolabel.core.array_checks import check_arrays, require, size_of
from evolabel.stages.scaling.arrays import SCALER_ARRAYS
from evolabel.stages.scaling.stage import variance_of
from evolabel.typing import Arrays


def check_scaler(arrays: Arrays, p: int, kind: str) -> None:
    """Check the `arrays` of the scaling of `p` features of this `kind`: knots and their scores rise."""
    knots, variance = size_of(arrays, "x", 1), variance_of(kind)
    table = SCALER_ARRAYS.expected({"feature": p, "knot": knots})
    table["used"] = table["used"]._replace(high=knots)
    if variance is not None:
        table["prior"] = table["prior"]._replace(low=variance, high=variance, positive=False)
    check_arrays(arrays, table)
    x, z, used = arrays["x"], arrays["z"], arrays["used"]
    require(x.shape[1] > 0, "x", "one knot or more")
    in_use = np.arange(1, x.shape[1]) < used[:, None]
    for name, rows in (("x", x), ("z", z)):
        require((np.diff(rows, axis=1) >= 0.0) | ~in_use, name, "knots that rise")
