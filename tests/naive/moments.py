"""Twins of `stages.rules.loops.antecedents`."""

import numpy as np

from evolabel.stages.rules.arrays import Settings
from evolabel.typing import FloatArray
from naive.paper.rule_distances import degrees
from naive.slots import Slot, empty_slot


def inverse_variance(n: float, M: float, nu0: float, S0: float) -> float:
    """One over the variance of n samples of scatter M and a prior worth nu0 samples of variance S0."""
    return float(1.0 / ((nu0 * S0 + M) / (nu0 + max(n - 1.0, 0.0))))


def derive_inverse_variance(slot: Slot, settings: Settings) -> FloatArray:
    """The inverse variances of a slot, feature by feature, times the weights of the features."""
    nu0, each = settings.prior_count, zip(slot.n, slot.M, settings.prior, settings.importance, strict=True)
    return np.array([lam * inverse_variance(n, M, nu0, S0) for n, M, S0, lam in each])


def pool_moments(a: Slot, b: Slot) -> None:
    """Slot a takes in the samples of b: mean of all, and the scatter of both around that mean."""
    n = a.n + b.n
    c = np.where(n > 0.0, (a.n * a.c + b.n * b.c) / np.where(n > 0.0, n, 1.0), a.c)
    a.M = a.M + a.n * (a.c - c) ** 2 + b.M + b.n * (b.c - c) ** 2
    a.c, a.n, a.k = c, n, a.k + b.k


def bound_counts(slot: Slot, most: FloatArray) -> None:
    """Samples above `most`, feature by feature, are as if they had never been; the variance of the others stays."""
    keep = np.where(slot.n > most, most / np.where(slot.n > most, slot.n, 1.0), 1.0)
    slot.n, slot.M = keep * slot.n, keep * slot.M


def update_moments(slot: Slot, z: FloatArray, weight: float, seen: int, most: float = np.inf) -> None:
    """A sample is a set of samples with no scatter; a missing feature is an empty one.

    Where there would be more than `most` samples, or more than before, if those are more, older ones fade first.
    """
    shown = ~np.isnan(z)
    bound_counts(slot, np.where(shown, np.maximum(np.maximum(slot.n, most) - weight, 0.0), np.inf))
    sample = empty_slot(len(z), 0)
    sample.c, sample.n, sample.k = np.where(shown, z, 0.0), np.where(shown, weight, 0.0), weight
    pool_moments(slot, sample)
    slot.last_won = seen


def rotate(s: FloatArray, weight: float, k: float, nu0: float, c: FloatArray, F: FloatArray) -> FloatArray:
    """The factor after the scatter matrix has taken in a sample; missing entries bring their variance along."""
    missing = np.isnan(s)
    s = np.where(missing, c, s)
    if k <= 0.0:
        return F
    mean = (k * c + weight * s) / (k + weight)
    old, new = c - mean, s - mean
    grown = F @ F.T + k * np.outer(old, old) + weight * np.outer(new, new)
    grown += np.diag(np.where(missing, weight * np.diag(F @ F.T) / degrees(k, nu0), 0.0))
    return np.asarray(np.linalg.cholesky(grown))
