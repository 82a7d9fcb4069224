"""Distances of a sample to all rules, axis-parallel or rotated, in the input space and in the product space."""

import numpy as np

from evolabel.kernels.compile import allocating_kernel, cold_kernel, hot_kernel, kernel
from evolabel.kernels.memberships import distances, memberships, observed_features, observed_weight
from evolabel.kernels.paper.rotated import VANISHING, marginal_fill, substitute
from evolabel.kernels.state import RULES, RuleArrays, Settings
from evolabel.typing import FloatArray, IntArray


@kernel
def join(z: FloatArray, y: FloatArray, label_weight: float, s: FloatArray) -> None:
    """The joint vector s = (z, omega y); in the input space just z."""
    p = z.shape[0]
    for j in range(s.shape[0]):
        s[j] = z[j] if j < p else label_weight * y[j - p]


@kernel
def degrees(k: float, nu0: float) -> float:
    """What nu0 S0 + scatter is divided by to be a covariance; the first sample says nothing about the spread."""
    return nu0 + max(k - 1.0, 0.0)


@kernel
def add_label_distances(
    s: FloatArray, p: int, C: int, c: FloatArray, inv: FloatArray, lam: FloatArray, D: FloatArray, J: FloatArray
) -> None:
    """J: mean squared distance over observed features and labels, axis-parallel."""
    features = observed_weight(s[:p], lam)
    for a in range(1, C + 1):
        total, seen = D[a] * features, features
        for j in range(p, s.shape[0]):
            if not np.isnan(s[j]):
                e = s[j] - c[a, j]
                total += e * e * inv[a, j]
                seen += lam[j]
        J[a] = total / seen


@cold_kernel
def rotated_distances(
    s: FloatArray,
    p: int,
    rules: RuleArrays,
    settings: Settings,
    e: FloatArray,
    v: FloatArray,
    missing: IntArray,
    D: FloatArray,
    J: FloatArray,
) -> None:
    """D and J of rotated rules by one forward substitution each; hopeless rules are abandoned (distance inf)."""
    d, lam = s.shape[0], settings.metric[1]
    complete = observed_features(s[:p]) == p
    features, seen = observed_weight(s[:p], lam), observed_weight(s, lam)
    best_D, best_J = np.inf, np.inf
    for a in range(1, rules.tally[RULES] + 1):
        scale = degrees(rules.k[a], settings.prior_count)
        for j in range(d):
            e[j] = np.sqrt(lam[j]) * (s[j] - rules.c[a, j])
        room = max((best_D + 2.0 * settings.tau * VANISHING) * features, best_J * seen) / scale
        if complete:
            total = substitute(rules.F[a], e, 0, p, 0.0, room, v)
        else:
            total = marginal_fill(rules.F[a], e, p, missing, v)
        D[a] = scale * total / features
        J[a] = D[a]
        if seen > features and total < np.inf:
            J[a] = scale * substitute(rules.F[a], e, p, d, total, room, v) / seen
        best_D, best_J = min(best_D, D[a]), min(best_J, J[a])


@hot_kernel
def measure(
    s: FloatArray,
    p: int,
    rules: RuleArrays,
    settings: Settings,
    D: FloatArray,
    J: FloatArray,
    e: FloatArray,
    v: FloatArray,
    missing: IntArray,
) -> None:
    """Distances to all rules; s is the sample alone (p entries) or with its labels, which J then counts in."""
    C = rules.tally[RULES]
    if settings.rotated:
        rotated_distances(s, p, rules, settings, e, v, missing, D, J)
    else:
        distances(s[:p], C, rules.c, rules.inv, settings.metric[1], D)
        if s.shape[0] > p:
            add_label_distances(s, p, C, rules.c, rules.inv, settings.metric[1], D, J)


@hot_kernel
def weigh(
    s: FloatArray,
    p: int,
    rules: RuleArrays,
    settings: Settings,
    D: FloatArray,
    J: FloatArray,
    psi: FloatArray,
    active: IntArray,
    e: FloatArray,
    v: FloatArray,
    missing: IntArray,
) -> int:
    """Distances, and the memberships of the active rules by the features only; returns how many these are."""
    measure(s, p, rules, settings, D, J, e, v, missing)
    return memberships(D, rules.tally[RULES], settings.tau, settings.min_activation, psi, active)


@kernel
def fill_regressor(z: FloatArray, centre: FloatArray, r: FloatArray) -> None:
    """The regressor (z, 1); a missing feature takes the rule's mean, its best guess under an axis-parallel Gaussian."""
    p = z.shape[0]
    for j in range(p):
        r[j] = centre[j] if np.isnan(z[j]) else z[j]
    r[p] = 1.0


@allocating_kernel
def fill_rotated(z: FloatArray, slot: int, rules: RuleArrays, missing: IntArray, r: FloatArray) -> None:
    """The same for a rotated rule: missing features take their conditional mean."""
    p = z.shape[0]
    e, v = np.empty(p), np.empty(p)
    for j in range(p):
        e[j] = z[j] - rules.c[slot, j]
    marginal_fill(rules.F[slot], e, p, missing, v)
    for j in range(p):
        r[j] = rules.c[slot, j] + e[j]
    r[p] = 1.0
