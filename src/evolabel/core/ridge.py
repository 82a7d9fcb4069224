"""The ridge strength, from the initial batch: the one thing fitted to a data set by default.

Deviation: the paper's gamma only mends the condition of R'QR; a ridge that predicts well is orders of magnitude larger.
"""

import numpy as np

from evolabel.kernels.state import FloatArray

GRID = 10.0 ** np.arange(0.0, 4.01, 0.25)

# With too few rows, or labels that never vary, leave-one-out says nothing; the best constant in our measurements.
FALLBACK = 100.0
FEWEST_ROWS = 4


def press_ridge(Z: FloatArray, Y: FloatArray) -> float:
    """Ridge with the least exact leave-one-out squared error (PRESS) of the linear model.

    One singular value decomposition serves the whole grid. Missing features count as average, missing labels as
    their label's mean.
    """
    Z, Y = _filled(Z, 0.0), _filled(Y, np.nan)
    A, B = Z - Z.mean(axis=0), Y - Y.mean(axis=0)
    if len(Z) < FEWEST_ROWS or not B.any() or not A.any():
        return FALLBACK
    U, s, _ = np.linalg.svd(A, full_matrices=False)
    return float(GRID[int(np.argmin([_leave_one_out(U, s**2, B, ridge) for ridge in GRID]))])


def _leave_one_out(U: FloatArray, s2: FloatArray, B: FloatArray, ridge: float) -> float:
    shrink = s2 / (s2 + ridge)
    leverage = (U**2 * shrink).sum(axis=1) + 1.0 / len(U)
    residual = B - U @ (shrink[:, None] * (U.T @ B))
    return float(((residual / (1.0 - leverage)[:, None]) ** 2).mean())


def _filled(A: FloatArray, value: float) -> FloatArray:
    """NaN replaced by `value`, or by the column's mean where `value` is NaN."""
    missing = np.isnan(A)
    if not missing.any():
        return A
    counts = (~missing).sum(axis=0)
    means = np.where(missing, 0.0, A).sum(axis=0) / np.maximum(counts, 1)
    return np.where(missing, means if np.isnan(value) else value, A)
