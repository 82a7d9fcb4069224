"""Which features of a row are observed; a missing one is NaN."""

import numpy as np

from evolabel.engine.compile import inner
from evolabel.typing import FloatArray


@inner
def observed_features(z: FloatArray) -> int:
    """Return how many features of the row z are not NaN."""
    seen = 0
    for j in range(z.shape[0]):
        if not np.isnan(z[j]):
            seen += 1
    return seen


@inner
def observed_weight(z: FloatArray, lam: FloatArray) -> float:
    """Return the sum of the feature weights lam over the features of z that are not NaN."""
    total = 0.0
    for j in range(z.shape[0]):
        if not np.isnan(z[j]):
            total += lam[j]
    return total
