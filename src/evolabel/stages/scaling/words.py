"""Features of 0 and 1 in words: shares of samples that have them, and ranges of scaled values that stand for them."""

import numpy as np

from evolabel.stages.scaling.stage import Scaler
from evolabel.typing import FloatArray

_HALF_WIDTH = 0.25  # of the range that stands for a value, in distances between the scaled 0 and 1


def shares_on(scaler: Scaler, centres: FloatArray) -> FloatArray:
    """Return the share of samples with each feature on, for rules with the scaled `centres` (rows, n_features).

    A mean of scaled values lies between the scaled 0 and 1 as the share does; NaN where `scaler` has seen other values.
    """
    off, on = scaled_0_and_1(scaler)
    varied = on > off
    share = (centres - off) / np.where(varied, on - off, 1.0)
    constant = np.broadcast_to(scaler.x[:, 0], centres.shape)
    return np.where(scaler.binary, np.clip(np.where(varied, share, constant), 0.0, 1.0), np.nan)


def range_of_value(scaler: Scaler, j: int, *, on: bool) -> tuple[float, float]:
    """Return the scaled range of feature `j` that stands for "mode is idle" (`on`) or "mode is not idle".

    It lies around the value of 1, or of 0, in the scale of `scaler`.
    """
    values = scaled_0_and_1(scaler)[:, j]
    half = _HALF_WIDTH * (values[1] - values[0])
    return float(values[int(on)] - half), float(values[int(on)] + half)


def scaled_0_and_1(scaler: Scaler) -> FloatArray:
    """Return the values 0 and 1 of every feature in the scale of `scaler`, (2, n_features)."""
    return scaler.transform(np.repeat([[0.0], [1.0]], len(scaler.used), axis=1))
