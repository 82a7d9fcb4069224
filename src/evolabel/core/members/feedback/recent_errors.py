"""`Answered`: the last samples that were answered, and how wrong the outputs for them were."""

from typing import NamedTuple

import numpy as np

from evolabel.kernels.feedback import NOBODY, PLACES
from evolabel.typing import FloatArray, IntArray


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
