"""`RecentErrors`: ring buffer of the last samples that were answered, and of the residuals of their outputs."""

from typing import NamedTuple

import numpy as np

from evolabel.stages.feedback.loops.feedback import EMPTY, N_RECENT
from evolabel.typing import FloatArray, IntArray


class RecentErrors(NamedTuple):
    """Features, numbers, residuals and confidences of recent samples; `loops.feedback` has the table of arrays."""

    Z: FloatArray
    at: IntArray
    r: FloatArray
    c: FloatArray

    @classmethod
    def none(cls, n_features: int, n_labels: int) -> "RecentErrors":
        """Return an empty buffer for samples of `n_features` features and `n_labels` labels."""
        nowhere, nothing = np.full((N_RECENT, n_features), np.nan), np.zeros((N_RECENT, n_labels))
        return cls(nowhere, np.full(N_RECENT, EMPTY, np.int64), nothing, nothing.copy())
