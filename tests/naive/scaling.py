"""Twin of `stages.scaling.loops`."""

import numpy as np

from evolabel.typing import FloatArray


def scale_rows(
    X: FloatArray, x: FloatArray, z: FloatArray, used: FloatArray, slope: FloatArray, low: float, high: float
) -> FloatArray:
    """Interpolate between the knots, go on straight beyond them, cut to [low, high]; NaN stays NaN."""
    Z = np.zeros(X.shape)
    for j, m in enumerate(used):
        if m > 0:
            inside = np.interp(X[:, j], x[j, :m], z[j, :m])
            beyond = np.maximum(X[:, j] - x[j, m - 1], 0.0) - np.maximum(x[j, 0] - X[:, j], 0.0)
            Z[:, j] = np.clip(inside + slope[j] * beyond, low, high)
    return np.where(np.isnan(X), np.nan, Z)
