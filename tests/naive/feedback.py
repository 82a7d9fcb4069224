"""Twins of `stages.feedback.loops`: sums over whole arrays, at every row anew."""

import numpy as np

from evolabel.stages.feedback.loops import (
    ERROR_DECAY,
    FADING,
    INDEPENDENT,
    MIN_DEVIATIONS,
    N_RECENT,
    PRIOR_ERRORS,
    REACH,
    REPEAT,
    SHRINK,
    SPREAD,
)


def evidence(e, x, u):
    """Sums of a regression of the errors e on x, all (n, K), by the confidences u; NaN where there is no answer."""
    q = np.nansum(u * e * x, axis=1)[:, None]
    sums = [u * e * x, u * x**2, u * e**2, u, u * e * x * q]
    return np.array([np.where(np.isnan(e), 0.0, part).sum(axis=0) for part in sums])


def shrinkage(sums):
    """1 - (`MIN_DEVIATIONS` / deviations)^2, or 0 if there are fewer deviations."""
    products, _, _, _, agreement = sums.sum(axis=1)
    if agreement <= 0.0 or products / np.sqrt(agreement) <= MIN_DEVIATIONS:
        return 0.0
    return 1.0 - MIN_DEVIATIONS**2 * agreement / products**2


def slopes(sums):
    """Slope of each label, drawn towards that of all labels, times the shrinkage factor."""
    factor, (products, squares, errors, answers, _) = shrinkage(sums), sums.sum(axis=1)
    if factor == 0.0:
        return np.zeros(sums.shape[1])
    prior = errors / answers / SPREAD**2
    drawn = (sums[0] + products / squares * prior) / (sums[1] + prior)
    return np.clip(factor * drawn, 0.0, 1.0)


def similarity(x, z):
    """Gaussian similarity of two samples; a missing feature counts as that of independent samples."""
    if not len(x):
        return 1.0
    squares = (x - z) ** 2
    return np.exp(-np.where(np.isnan(squares), INDEPENDENT, squares).mean() / (2.0 * REACH**2))


def mean_error(e, u, X, label, now):
    """Mean of the label's errors before a row, each by its age and similarity, with errors of 0 beside them."""
    known = [i for i in range(max(0, now - N_RECENT), now) if not np.isnan(e[i, label])]
    w = np.array([ERROR_DECAY ** (now - i) * similarity(X[now], X[i]) * u[i, label] for i in known])
    return (w * e[known, label]).sum() / (w.sum() + PRIOR_ERRORS)


def followed(X, f, Y, u, rates):
    """Shifted outputs, evidence and slopes, everything summed anew at every row."""
    n, K = Y.shape
    e, out, E, S = np.full((n, K), np.nan), f.copy(), np.zeros((2, 5, K)), np.zeros((2, K))
    for i in range(n):
        d = np.where(np.isnan(rates), 0.0, rates - f[i])
        m = np.array([mean_error(e, u, X, j, i) for j in range(K)])
        out[i] += S[SHRINK] * d + S[REPEAT] * m
        wrong = Y[i] - f[i]
        e[i] = wrong - S[SHRINK] * d
        E *= FADING
        E[SHRINK] += evidence(wrong[None], d[None], u[[i]])
        E[REPEAT] += evidence(e[[i]], m[None], u[[i]])
        S[REPEAT] = slopes(E[REPEAT])
        S[SHRINK] = np.where(np.isnan(rates), 0.0, shrinkage(E[REPEAT])) * slopes(E[SHRINK])
    return out, E, S
