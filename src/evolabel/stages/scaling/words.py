"""Features of 0 and 1 in words: shares of samples that have them."""

import numpy as np

from evolabel.stages.scaling.stage import Scaler
from evolabel.typing import FloatArray


def shares_on(scaler: Scaler, centres: FloatArray) -> FloatArray:
    """Return the share of samples with each feature on, for rules with the scaled `centres` (rows, n_features).

    A mean of scaled values lies between the scaled 0 and 1 as the share does; NaN where `scaler` has seen other values.
    """
    off, on = scaled_0_and_1(scaler)
    varied = on > off
    share = (centres - off) / np.where(varied, on - off, 1.0)
    constant = np.broadcast_to(scaler.x[:, 0], centres.shape)
    return np.where(scaler.binary, np.clip(np.where(varied, share, constant), 0.0, 1.0), np.nan)


def scaled_0_and_1(scaler: Scaler) -> FloatArray:
    """Return the values 0 and 1 of every feature in the scale of `scaler`, (2, n_features)."""
    return scaler.transform(np.repeat([[0.0], [1.0]], len(scaler.used), axis=1))
