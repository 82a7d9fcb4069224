"""Covariances of the errors of labels: how much the answer of one label shows of the others."""

import numpy as np

from evolabel.engine.symmetric import mirrored, one_blas_thread
from evolabel.typing import FloatArray

RELATED_FROM = 10  # positives of a label
SMALL_VARIANCE = 1e-4  # added to each


@one_blas_thread()
def covariances(errors: FloatArray) -> FloatArray:
    """Return the covariances of the `errors` of labels in rows, (n, K), as (K, K); errors that are NaN count as 0.

    Correlations are shrunk by the share of their squares that chance alone brings (Schäfer and Strimmer, 2005).
    """
    E = np.nan_to_num(errors)
    variance = (E**2).sum(axis=0) / max(1, len(E)) + SMALL_VARIANCE
    U = E / np.sqrt(variance)
    few = (E > 0.0).sum(axis=0) < RELATED_FROM  # only positives have errors above 0
    U[:, few] = 0.0
    R = U.T @ U / max(1, len(E))
    np.fill_diagonal(R, 0.0)
    by_chance = ((U**2).T @ U**2 / max(1, len(E)) - R**2) / max(1, len(E))
    np.fill_diagonal(by_chance, 0.0)
    squares = float((R**2).sum())
    S = max(0.0, 1.0 - float(by_chance.sum()) / squares) * R if squares > 0.0 else R
    np.fill_diagonal(S, 1.0)
    spread = np.sqrt(variance)
    return mirrored(spread[:, None] * S * spread)
