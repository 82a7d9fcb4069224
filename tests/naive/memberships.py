"""Twins of `stages.rules.loops.antecedents`."""

import numpy as np
from scipy.special import softmax

from evolabel.typing import FloatArray


def observed_features(z: FloatArray) -> int:
    """How many features are not NaN."""
    return int(np.sum(~np.isnan(z)))


def observed_weight(z: FloatArray, lam: FloatArray) -> float:
    """Sum of the weights of the features that are not NaN."""
    return float(np.sum(lam[: len(z)][~np.isnan(z)]))


def distances(z: FloatArray, c: FloatArray, inv: FloatArray, lam: FloatArray) -> FloatArray:
    """Mean squared standardised distance over the observed features, weighted by lam (inv has it), per row of c."""
    shown = ~np.isnan(z)
    return np.asarray(np.average((z - c)[:, shown] ** 2 * inv[:, shown] / lam[shown], axis=1, weights=lam[shown]))


def nearest(D: FloatArray) -> int:
    """Place of the smallest distance."""
    return int(np.argmin(D))


def memberships(D: FloatArray, tau: float, min_activation: float) -> FloatArray:
    """Eqs. (2), (3): the softmax of the log memberships; idle rules get 0 and the others share what they had."""
    psi = softmax(-0.5 * D / tau)
    active = psi >= max(min_activation, 1e-12)
    active[nearest(D)] = True
    return np.asarray(np.where(active, psi, 0.0) / psi[active].sum())
