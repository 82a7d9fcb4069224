"""Distances of a sample to all rules, axis-parallel or rotated, in the input space and in the product space."""

import numpy as np

from evolabel.kernels.compile import inlined, inner, kernel
from evolabel.kernels.memberships import distances, memberships, observed_features, observed_weight
from evolabel.kernels.paper.rotated import VANISHING, marginal_fill, substitute
from evolabel.kernels.state import RULES, PaperArrays, RuleArrays, Settings, Workspace
from evolabel.typing import FloatArray


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


@inner
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


@inner
def rotated_distances(
    s: FloatArray,
    p: int,
    rules: RuleArrays,
    settings: Settings,
    work: Workspace,
    paper: PaperArrays,
) -> None:
    """D and J of rotated rules by one forward substitution each; hopeless rules are abandoned (distance inf)."""
    d, lam = s.shape[0], settings.metric[1]
    e, v, D, J = work.e, work.x, work.D, work.J
    complete = observed_features(s[:p]) == p
    features, seen = observed_weight(s[:p], lam), observed_weight(s, lam)
    best_D, best_J = np.inf, np.inf
    for a in range(1, rules.tally[RULES] + 1):
        scale = degrees(rules.k[a], settings.prior_count)
        for j in range(d):
            e[j] = np.sqrt(lam[j]) * (s[j] - rules.c[a, j])
        room = max((best_D + 2.0 * settings.tau * VANISHING) * features, best_J * seen) / scale
        if complete:
            total = substitute(paper.F[a], e, 0, p, 0.0, room, v)
        else:
            total = marginal_fill(paper.F[a], e, p, work.missing, v)
        D[a] = scale * total / features
        J[a] = D[a]
        if seen > features and total < np.inf:
            J[a] = scale * substitute(paper.F[a], e, p, d, total, room, v) / seen
        best_D, best_J = min(best_D, D[a]), min(best_J, J[a])


@inlined
def measure(
    s: FloatArray, p: int, rules: RuleArrays, settings: Settings, work: Workspace, paper: PaperArrays | None
) -> None:
    """Distances D to all rules; s is the sample alone (p entries) or with its labels, which J then counts in."""
    if paper is not None and settings.rotated:
        rotated_distances(s, p, rules, settings, work, paper)
    else:
        C, lam = rules.tally[RULES], settings.metric[1]
        distances(s[:p], C, rules.c, rules.inv, lam, work.D)
        if s.shape[0] > p:
            add_label_distances(s, p, C, rules.c, rules.inv, lam, work.D, work.J)


@inlined
def weigh(
    s: FloatArray, p: int, rules: RuleArrays, settings: Settings, work: Workspace, paper: PaperArrays | None
) -> int:
    """Distances, and the memberships of the active rules by the features only; returns how many these are."""
    measure(s, p, rules, settings, work, paper)
    return memberships(work.D, rules.tally[RULES], settings.tau, settings.min_activation, work.psi, work.active)


@inlined
def fill_regressor(z: FloatArray, centre: FloatArray, r: FloatArray) -> None:
    """The regressor (z, 1); a missing feature takes the rule's mean, its best guess under an axis-parallel Gaussian."""
    p = z.shape[0]
    for j in range(p):
        r[j] = centre[j] if np.isnan(z[j]) else z[j]
    r[p] = 1.0


@inner
def fill_rotated(
    z: FloatArray, slot: int, rules: RuleArrays, work: Workspace, paper: PaperArrays, r: FloatArray
) -> None:
    """The same for a rotated rule: missing features take their conditional mean."""
    p = z.shape[0]
    e = work.e
    for j in range(p):
        e[j] = z[j] - rules.c[slot, j]
    marginal_fill(paper.F[slot], e, p, work.missing, work.x)
    for j in range(p):
        r[j] = rules.c[slot, j] + e[j]
    r[p] = 1.0
