"""Rotated rules: one lower Cholesky factor F per rule, F F' = nu0 S0 + scatter.

The joint vector is ordered (features, labels). The leading block of F is then the factor of the features' own block,
the *marginal*, so one forward substitution v = F^-1 e gives the distance in the input space (the first p terms of
sum v^2) and in the product space (all terms). Partial sums only grow, so the substitution can stop early
for a rule that is too far away.
"""

import numpy as np

from evolabel.engine.compile import allocating_kernel, inlined, inner, kernel
from evolabel.engine.lanes import fma
from evolabel.engine.symmetric import add_scaled, dot
from evolabel.engine.values import observed_features, observed_weight
from evolabel.paper.rules.arrays import PaperState
from evolabel.stages.rules.arrays import RULES, RuleArrays, Settings, Workspace
from evolabel.stages.rules.loops.consequents import fill_products, fill_regressors
from evolabel.typing import FloatArray, IntArray

# A rule whose exponent lies this far below the winner's has a membership that vanishes in rounding (e^-37 < 1e-16).
VANISHING = 37.0
CHECK_EVERY = 16  # rows between two checks of the partial sum


@inner
def factor_update(F: FloatArray, e: FloatArray, work: FloatArray) -> None:
    """Update F so that F F' grows by e e': Givens rotations, O(d^2), positive definite by construction."""
    d = e.shape[0]
    for j in range(d):
        work[j] = e[j]
    for j in range(d):
        length = np.sqrt(F[j, j] * F[j, j] + work[j] * work[j])
        cosine, sine = length / F[j, j], work[j] / F[j, j]
        F[j, j], back = length, 1.0 / cosine
        for i in range(j + 1, d):
            F[i, j] = fma(sine, work[i], F[i, j]) * back
            work[i] = fma(-sine, F[i, j], cosine * work[i])


@kernel
def substitute(F: FloatArray, e: FloatArray, first: int, last: int, total: float, limit: float, v: FloatArray) -> float:
    """Fill rows first..last-1 of v = F^-1 e; return total + sum v^2, or inf once that exceeds `limit`.

    A missing entry (NaN) is at its mean given all entries before it: v = 0.
    """
    for i in range(first, last):
        if np.isnan(e[i]):
            v[i] = 0.0
            continue
        v[i] = (e[i] - dot(F[i, :i], v[:i])) / F[i, i]
        total += v[i] * v[i]
        if i % CHECK_EVERY == 0 and total > limit:
            return np.inf
    return total


@allocating_kernel
def marginal_fill(F: FloatArray, e: FloatArray, p: int, missing: IntArray, v: FloatArray) -> float:
    """Set missing features (NaN in e) to their conditional means; return the marginal sum of squares of the others.

    v receives F^-1 e of the completed features. The least squares problem min |F^-1 e| over the missing entries is
    solved by their columns of F^-1, normal equations, and a small Cholesky factorisation.
    """
    m = 0
    for j in range(p):
        if np.isnan(e[j]):
            missing[m] = j
            e[j] = 0.0
            m += 1
    V, unit = np.zeros((m, p)), np.zeros(p)
    substitute(F, e, 0, p, 0.0, np.inf, v)
    for a in range(m):
        unit[missing[a]] = 1.0
        substitute(F, unit, 0, p, 0.0, np.inf, V[a])
        unit[missing[a]] = 0.0
    N, b = np.empty((m, m)), np.empty(m)
    for a in range(m):
        for c in range(m):
            N[a, c] = dot(V[a], V[c])
        b[a] = -dot(V[a], v[:p])
    solve_positive(N, b)
    for a in range(m):
        e[missing[a]] = b[a]
        add_scaled(b[a], V[a], v)
    return dot(v[:p], v[:p])


@inner
def solve_positive(N: FloatArray, b: FloatArray) -> None:
    """Solve N x = b in place by Cholesky; N is small, symmetric and positive definite, and is overwritten."""
    m = b.shape[0]
    for i in range(m):
        for j in range(i + 1):
            s = N[i, j] - dot(N[i, :j], N[j, :j])
            N[i, j] = np.sqrt(s) if i == j else s / N[j, j]
    for i in range(m):
        b[i] = (b[i] - dot(N[i, :i], b[:i])) / N[i, i]
    for i in range(m - 1, -1, -1):
        for k in range(i + 1, m):
            b[i] -= N[k, i] * b[k]
        b[i] /= N[i, i]


@kernel
def degrees(k: float, nu0: float) -> float:
    """Return nu0 + k - 1, the divisor that makes nu0 S0 + scatter a covariance; one sample has no spread."""
    return nu0 + max(k - 1.0, 0.0)


@inner
def rotated_distances(
    s: FloatArray,
    p: int,
    rules: RuleArrays,
    settings: Settings,
    work: Workspace,
    paper: PaperState,
) -> None:
    """Fill D of `work` and J of `paper` for s by one substitution per rule; rules too far away get inf early."""
    d, lam = s.shape[0], settings.metric[1]
    F, D, J = paper.arrays.F, work.D, paper.work.J
    e, v, missing = paper.work.e, paper.work.x, paper.work.missing
    complete = observed_features(s[:p]) == p
    features, seen = observed_weight(s[:p], lam), observed_weight(s, lam)
    best_D, best_J = np.inf, np.inf
    for a in range(1, rules.counters[RULES] + 1):
        scale = degrees(rules.k[a], settings.prior_count)
        for j in range(d):
            e[j] = np.sqrt(lam[j]) * (s[j] - rules.c[a, j])
        # beyond this sum the rule can neither be the nearest nor have a membership that counts
        room = max((best_D + 2.0 * settings.tau * VANISHING) * features, best_J * seen) / scale
        total = substitute(F[a], e, 0, p, 0.0, room, v) if complete else marginal_fill(F[a], e, p, missing, v)
        D[a] = scale * total / features
        J[a] = D[a]
        if seen > features and total < np.inf:
            J[a] = scale * substitute(F[a], e, p, d, total, room, v) / seen
        best_D, best_J = min(best_D, D[a]), min(best_J, J[a])


@inner
def fill_rotated(z: FloatArray, slot: int, rules: RuleArrays, paper: PaperState, r: FloatArray) -> None:
    """Fill r with (z, 1) for the rotated rule `slot`: missing features take their conditional means."""
    p = z.shape[0]
    e = paper.work.e
    for j in range(p):
        e[j] = z[j] - rules.c[slot, j]
    marginal_fill(paper.arrays.F[slot], e, p, paper.work.missing, paper.work.x)
    for j in range(p):
        r[j] = rules.c[slot, j] + e[j]
    r[p] = 1.0


@inlined
def fill_conditional(
    z: FloatArray, m: int, rules: RuleArrays, work: Workspace, paper: PaperState, r: FloatArray
) -> None:
    """Fill the first m rows of r with the regressors of z for the m active rules of `work`."""
    if paper.settings.rotated and observed_features(z) < z.shape[0]:
        for b in range(m):
            fill_rotated(z, work.active[b], rules, paper, r[b])
    else:
        fill_regressors(z, m, rules, work, r)


@inlined
def project_conditional(z: FloatArray, m: int, rules: RuleArrays, work: Workspace, paper: PaperState) -> None:
    """Fill r and u = P r of `work` for the m active rules; pending rank-one rows of P are included."""
    fill_conditional(z, m, rules, work, paper, work.r)
    fill_products(m, rules, work)


@allocating_kernel
def rotate(s: FloatArray, weight: float, k: float, nu0: float, c: FloatArray, F: FloatArray) -> None:
    """Add w k / (k + w) e e' to the scatter matrix of F, with w = `weight` and e = s - c.

    A missing entry of s is taken at the centre, and its present variance is added, because a missing value must not
    reduce the variance.
    """
    if k <= 0.0:
        return
    d = s.shape[0]
    e, work = np.empty(d), np.empty(d)
    root = np.sqrt(weight * k / (k + weight))
    for j in range(d):
        e[j] = 0.0 if np.isnan(s[j]) else root * (s[j] - c[j])
    factor_update(F, e, work)
    for j in range(d):
        if np.isnan(s[j]):
            e[:] = 0.0
            e[j] = np.sqrt(weight * dot(F[j, : j + 1], F[j, : j + 1]) / (nu0 + max(k - 1.0, 0.0)))
            factor_update(F, e, work)
