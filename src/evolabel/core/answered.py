"""`Answered`: the last samples that were answered, and how wrong the outputs for them were."""

from typing import NamedTuple

import numpy as np

from evolabel.kernels.echo import NOBODY, PLACES
from evolabel.kernels.state import Arrays, FloatArray, IntArray


class Answered(NamedTuple):
    """The arrays are explained in `kernels.echo`."""

    Z: FloatArray
    at: IntArray
    r: FloatArray
    c: FloatArray

    @classmethod
    def none(cls, n_features: int, n_labels: int) -> "Answered":
        """Places for samples to come."""
        nowhere, nothing = np.full((PLACES, n_features), np.nan), np.zeros((PLACES, n_labels))
        return cls(nowhere, np.full(PLACES, NOBODY, np.int64), nothing, nothing.copy())

    @classmethod
    def read(cls, arrays: Arrays) -> "Answered":
        """Copies of the arrays by these names, as kernels take them."""
        Z, r, c = (np.array(arrays[name], np.float64, order="C") for name in ("Z", "r", "c"))
        return cls(Z, np.array(arrays["at"], np.int64), r, c)


def sums_as_a_sample(arrays: Arrays, n_features: int) -> Arrays:
    """Older files hold sums over all answers and no features: as if one sample, of which nothing else is known."""
    errors, weights = arrays["errors"], arrays["weights"]
    answered = Answered.none(n_features, len(errors))
    if weights.any():
        answered.at[0], answered.r[0], answered.c[0] = arrays["at"][0], errors, weights
    return answered._asdict()
