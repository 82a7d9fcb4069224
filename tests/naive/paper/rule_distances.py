"""Twins of the distances of `paper.rules.loops`: whole covariance matrices, no bounds."""

import numpy as np

from evolabel.paper.rules.stage import PaperRules
from evolabel.stages.rules.arrays import RULES
from evolabel.typing import FloatArray
from naive.memberships import distances, observed_weight
from naive.paper.rotated import conditional_mean, marginal_square


def join(z: FloatArray, y: FloatArray, label_weight: float, d: int) -> FloatArray:
    """The first d entries of (z, omega y)."""
    return np.concatenate([z, label_weight * y])[:d]


def degrees(k: float, nu0: float) -> float:
    """Prior samples, and all samples but the first."""
    return nu0 + k - 1.0 if k > 1.0 else nu0


def add_label_distances(s: FloatArray, c: FloatArray, inv: FloatArray, lam: FloatArray) -> FloatArray:
    """The same mean as over the features, over all observed entries of the joint vector."""
    return distances(s, c, inv, lam)


def covariance(slot: int, base: PaperRules) -> FloatArray:
    """Sigma of a rule in the space of the antecedents, prior included."""
    if not base.paper.rotated:
        return np.diag(base.settings.importance / base.arrays.inv[slot])
    F = np.tril(base.own.F[slot])
    return np.asarray(F @ F.T / degrees(float(base.arrays.k[slot]), base.settings.prior_count))


def joint_distances(s: FloatArray, p: int, base: PaperRules) -> tuple[FloatArray, FloatArray]:
    """Mean squared Mahalanobis distances D over the features and J over features and labels, rule by rule.

    Features may be missing for D. For J a missing feature sits at its mean given the other features, and a missing
    label at its mean given everything before it. Every dimension is stretched by the root of its weight.
    """
    d, lam, rules = len(s), base.settings.importance, base.arrays
    features, seen = observed_weight(s[:p], lam), observed_weight(s, lam)
    count = int(rules.counters[RULES])
    D, J = np.zeros(count), np.zeros(count)
    for slot in range(1, count + 1):
        Sigma, e = covariance(slot, base), np.sqrt(lam[:d]) * (s - rules.c[slot, :d])
        D[slot - 1] = marginal_square(Sigma[:p, :p], e[:p]) / features
        e[:p] = conditional_mean(Sigma[:p, :p], e[:p])
        for j in range(p, d):
            if np.isnan(e[j]):
                e[j] = conditional_mean(Sigma[: j + 1, : j + 1], e[: j + 1])[j]
        J[slot - 1] = e @ np.linalg.solve(Sigma[:d, :d], e) / seen
    return D, J


def fill_regressor(z: FloatArray, centre: FloatArray) -> FloatArray:
    """(z, 1); a missing feature takes the centre's value."""
    return np.append(np.where(np.isnan(z), centre, z), 1.0)


def fill_rotated(z: FloatArray, slot: int, base: PaperRules) -> FloatArray:
    """(z, 1) with missing features at their conditional mean."""
    p = len(z)
    Sigma, c = covariance(slot, base)[:p, :p], base.arrays.c
    return np.append(c[slot, :p] + conditional_mean(Sigma, z - c[slot, :p]), 1.0)
