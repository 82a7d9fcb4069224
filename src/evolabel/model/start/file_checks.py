"""What the stored rows of a warm-up must be."""

import numpy as np

from evolabel.core.array_checks import check_arrays, check_samples, require
from evolabel.core.schema import stream_sizes
from evolabel.model.warm_up import WARM_UP_ARRAYS
from evolabel.typing import Arrays


def check_warm_up(arrays: Arrays, kept: int, p: int, K: int, seen: int) -> None:
    """Check the `arrays` of the warm-up: `kept` of `seen` samples, `p` features, `K` labels."""
    table = WARM_UP_ARRAYS.expected(stream_sizes(p, K, row=kept))
    check_arrays(arrays, {**table, "numbers": table["numbers"]._replace(high=seen)})
    Y = arrays["Y"]
    require((Y == 0.0) | (Y == 1.0) | np.isnan(Y), "Y", "labels of 0, 1 or NaN")
    require(~np.isnan(Y).all(axis=1), "Y", "an annotated label in every row")
    check_samples("X", arrays["X"])
    require(np.diff(arrays["numbers"]) > 0, "numbers", "rising numbers")
