"""Distances of a sample to all rules, and its memberships.

D_i is the *mean* squared standardised distance over the observed features, so the Gaussian of eq. (3) at
temperature T reads mu_i = exp(-D_i / (2 tau)) with tau = T / p. Missing features drop out of the mean, which is the
marginal distance, brought to the scale of a complete row. Features may weigh differently (lambda_j, 1 on average):
`inv` includes the weight, and D_i is then the weighted mean.
"""

import numpy as np

from evolabel.engine.compile import inlined, inner
from evolabel.engine.exponential import exp_of_negative
from evolabel.engine.lanes import WIDTH, fma, load, minus, times, total, zeros
from evolabel.engine.missing import observed_features, observed_weight
from evolabel.stages.rules.arrays import RULES, RuleArrays, Settings, Workspace
from evolabel.typing import FloatArray, IntArray

MIN_MEMBERSHIP = 1e-12  # smaller memberships are taken for 0


@inner
def distances(z: FloatArray, C: int, c: FloatArray, inv: FloatArray, lam: FloatArray, D: FloatArray) -> None:
    """Fill D with the mean squared standardised distances of z to slots 1..C, with centres c and weights lam."""
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
    """Return the slot, of 1..C, with the smallest distance D; 0 if there is none."""
    w = 0
    for a in range(1, C + 1):
        if w == 0 or D[a] < D[w]:
            w = a
    return w


@inner
def memberships(D: FloatArray, C: int, tau: float, min_activation: float, psi: FloatArray, active: IntArray) -> int:
    """Fill psi and `active` from the distances D, eqs. (2), (3), in the log domain; return how many rules are active.

    Deviation: rules below `min_activation`, or below 1e-12, neither answer nor learn, and the others are normalised
    again. Entry m of psi belongs to slot active[m]. The winner is always active, so the sum is never zero, however far
    the sample is.
    """
    w = nearest(D, C)
    least = max(min_activation, MIN_MEMBERSHIP)
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
            psi[m] = share  # m < a: entries that are still to be read are not overwritten
            kept += share
            m += 1
    for b in range(m):
        psi[b] /= kept
    return m


@inlined
def rule_memberships(z: FloatArray, rules: RuleArrays, settings: Settings, work: Workspace) -> int:
    """Fill distances and memberships of `work` for the row z; return the number of active rules."""
    distances(z, rules.counters[RULES], rules.c, rules.inv, settings.metric[1], work.D)
    return memberships(work.D, rules.counters[RULES], settings.tau, settings.min_activation, work.psi, work.active)
