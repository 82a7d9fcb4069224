"""Rotated rules: one lower Cholesky factor F per rule, F F' = nu0 S0 + scatter.

The joint vector is ordered (features, labels). The leading block of F is then the factor of the features' own block,
the *marginal*, so one forward substitution v = F^-1 e gives the distance in the input space (the first p terms of
sum v^2) and in the product space (all terms). Partial sums only grow, so a rule can be abandoned early.
"""

import numpy as np

from evolabel.kernels.compile import allocating_kernel, inner, kernel
from evolabel.kernels.lanes import fma
from evolabel.kernels.symmetric import add_scaled, dot
from evolabel.typing import FloatArray, IntArray

# A rule whose exponent lies this far below the winner's has a membership that vanishes in rounding (e^-37 < 1e-16).
VANISHING = 37.0
CHECK_EVERY = 16  # rows between two looks at the partial sum


@inner
def factor_update(F: FloatArray, e: FloatArray, work: FloatArray) -> None:
    """F F' + e e' = F_new F_new', in place: Givens rotations, O(d^2), positive definite by construction."""
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
    """Forward substitution v = F^-1 e for rows first..last-1; returns total + sum v^2, or inf once that exceeds limit.

    A missing entry (NaN) sits at its mean given all entries before it: v = 0.
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
    """Put missing features (NaN in e) at their conditional mean; returns the marginal sum of squares of the others.

    v receives F^-1 e of the completed features.

    The least squares problem min |F^-1 e| over the missing entries: their columns of F^-1, normal equations, and a
    small Cholesky solve.
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
