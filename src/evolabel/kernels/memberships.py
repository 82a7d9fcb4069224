"""How strongly a sample belongs to each rule.

D_i is the *mean* squared standardised distance over the observed features, so the Gaussian of eq. (3) at
temperature T reads mu_i = exp(-D_i / (2 tau)) with tau = T / p. Missing features drop out of the mean, which is the
marginal distance, brought to the scale of a complete row. Features may weigh differently (lambda_j, 1 on average):
`inv` holds the weight already, and D_i is then the weighted mean.
"""

import numpy as np

from evolabel.kernels.compile import inner
from evolabel.kernels.exponential import exp_of_negative
from evolabel.kernels.lanes import WIDTH, fma, load, minus, times, total, zeros
from evolabel.typing import FloatArray, IntArray

NOTHING = 1e-12  # a membership that cannot be seen in any sum


@inner
def observed_features(z: FloatArray) -> int:
    """How many features of the row are not NaN."""
    seen = 0
    for j in range(z.shape[0]):
        if not np.isnan(z[j]):
            seen += 1
    return seen


@inner
def observed_weight(z: FloatArray, lam: FloatArray) -> float:
    """What the features of the row that are not NaN weigh together."""
    total = 0.0
    for j in range(z.shape[0]):
        if not np.isnan(z[j]):
            total += lam[j]
    return total


@inner
def distances(z: FloatArray, C: int, c: FloatArray, inv: FloatArray, lam: FloatArray, D: FloatArray) -> None:
    """Mean squared standardised distance of z to slots 1..C."""
    p = z.shape[0]
    whole = p - p % WIDTH
    seen = observed_features(z)
    mass = float(p) if seen == p else observed_weight(z, lam)
    for a in range(1, C + 1):
        ca, va = c[a], inv[a]
        s = 0.0
        if seen == p:
            t = zeros()
            for j in range(0, whole, WIDTH):
                d = minus(load(z, j), load(ca, j))
                t = fma(times(d, d), load(va, j), t)
            s = total(t)
            for j in range(whole, p):
                e = z[j] - ca[j]
                s = fma(e * e, va[j], s)
        else:
            for j in range(p):
                if not np.isnan(z[j]):
                    e = z[j] - ca[j]
                    s = fma(e * e, va[j], s)
        D[a] = s / mass


@inner
def nearest(D: FloatArray, C: int) -> int:
    """Slot of the rule with the smallest distance, 0 if there is none."""
    w = 0
    for a in range(1, C + 1):
        if w == 0 or D[a] < D[w]:
            w = a
    return w


@inner
def memberships(D: FloatArray, C: int, tau: float, min_activation: float, psi: FloatArray, active: IntArray) -> int:
    """Eqs. (2), (3): normalised memberships in the log domain; returns how many rules are active.

    Deviation: rules below `min_activation` (or below 1e-12 in any case) neither answer nor learn, the rest is
    normalised again. Entry m of `psi` belongs to slot active[m]. The winner is always active, so the sum is never
    zero, however far the sample.
    """
    w = nearest(D, C)
    least = max(min_activation, NOTHING)
    total = 0.0
    for a in range(1, C + 1):
        psi[a - 1] = exp_of_negative(-0.5 * (D[a] - D[w]) / tau)
        total += psi[a - 1]
    m = 0
    kept = 0.0
    for a in range(1, C + 1):
        share = psi[a - 1] / total
        if share >= least or a == w:
            active[m] = a
            psi[m] = share
            kept += share
            m += 1
    for b in range(m):
        psi[b] /= kept
    return m
