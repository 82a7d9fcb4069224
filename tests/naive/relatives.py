"""Twins of `stages.drift.relatives` and `stages.drift.loops.relatives`."""

import numpy as np

from evolabel.typing import FloatArray


def covariances(errors: FloatArray) -> FloatArray:
    """Covariances about 0, pair by pair; correlations are shrunk by the part of their squares that is chance."""
    E = np.where(np.isnan(errors), 0.0, errors)
    n, K = E.shape
    variance = [np.mean(e**2) + 1e-4 for e in E.T]
    found, squares, chance = np.eye(K), 0.0, 0.0
    for a in range(K):
        for b in range(K):
            if a != b and sum(E[:, a] > 0.0) >= 10 and sum(E[:, b] > 0.0) >= 10:
                products = E[:, a] * E[:, b] / np.sqrt(variance[a] * variance[b])
                found[a, b] = products.mean()
                squares, chance = squares + found[a, b] ** 2, chance + products.var() / n
    kept = max(0.0, 1.0 - chance / squares) if squares > 0.0 else 1.0
    correlations = kept * found + (1.0 - kept) * np.eye(K)
    return np.asarray(correlations * np.sqrt(np.outer(variance, variance)))


def expected_errors(S: FloatArray, y: FloatArray, f: FloatArray) -> FloatArray:
    """Mean errors of normal variables without an answer, given those that have one; 0 where y is known."""
    known = ~np.isnan(y)
    e = np.zeros(len(y))
    if known.any() and not known.all():
        errors = y[known] - np.clip(f[known], 0.0, 1.0)
        e[~known] = S[np.ix_(~known, known)] @ np.linalg.inv(S[np.ix_(known, known)]) @ errors
    return e
