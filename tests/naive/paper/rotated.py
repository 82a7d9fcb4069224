"""Twins of `paper.rules.loops.rotated`."""

import numpy as np

from evolabel.typing import FloatArray


def factor_update(F: FloatArray, e: FloatArray) -> FloatArray:
    """The factor of F F' + e e', by factorising it anew."""
    return np.asarray(np.linalg.cholesky(F @ F.T + np.outer(e, e)))


def substitute(F: FloatArray, e: FloatArray, first: int, last: int, total: float) -> tuple[float, FloatArray]:
    """Rows first..last-1 of F^-1 e, and total + their sum of squares; NaN: the entry sits where its row becomes 0.

    The rows before must be complete.
    """
    v = np.zeros(last)
    for i in range(last):
        expected = F[i, :i] @ v[:i]
        v[i] = 0.0 if np.isnan(e[i]) else (e[i] - expected) / F[i, i]
    return total + float(np.sum(v[first:] ** 2)), v


def conditional_mean(Sigma: FloatArray, e: FloatArray) -> FloatArray:
    """Missing entries of a centred Gaussian vector at their mean given the others: Sigma_mo Sigma_oo^-1 e_o."""
    gone, filled = np.isnan(e), e.copy()
    filled[gone] = Sigma[np.ix_(gone, ~gone)] @ np.linalg.solve(Sigma[np.ix_(~gone, ~gone)], e[~gone])
    return filled


def marginal_square(Sigma: FloatArray, e: FloatArray) -> float:
    """Squared Mahalanobis distance over the entries that are there, with their own block of Sigma."""
    seen = ~np.isnan(e)
    return float(e[seen] @ np.linalg.solve(Sigma[np.ix_(seen, seen)], e[seen]))


def marginal_fill(F: FloatArray, e: FloatArray, p: int) -> tuple[float, FloatArray]:
    """The first p entries completed, and the squared distance of those that were there."""
    Sigma = F[:p, :p] @ F[:p, :p].T
    return marginal_square(Sigma, e[:p]), conditional_mean(Sigma, e[:p])


def solve_positive(N: FloatArray, b: FloatArray) -> FloatArray:
    """N^-1 b."""
    return np.asarray(np.linalg.solve(N, b))
