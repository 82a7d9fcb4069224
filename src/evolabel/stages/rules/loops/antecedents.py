"""Antecedents: distances and memberships of a sample, centre and spread of a rule, and when rules come and go.

D_i is the *mean* squared standardised distance over the observed features, so the Gaussian of eq. (3) at
temperature T reads mu_i = exp(-D_i / (2 tau)) with tau = T / p. Missing features drop out of the mean, which is the
marginal distance, brought to the scale of a complete row. Features may weigh differently (lambda_j, 1 on average):
`inv` includes the weight, and D_i is then the weighted mean.

The centre of a rule is the running mean of the samples it has won. Its variance has a prior that counts as
`prior_count` samples, so that the variances of a young rule are not close to 0. Features are counted one by one,
because any of them may be missing.

Conditions for rules to come and go are those of section 3.1, eq. (5); `stages.rules.slots` makes the changes.
"""

import numpy as np

from evolabel.engine.compile import inlined, inner, kernel
from evolabel.engine.lanes import WIDTH, exp_of_negative, fma, load, minus, times, total, zeros
from evolabel.engine.values import observed_features, observed_weight
from evolabel.stages.rules.arrays import DONE, INACTIVE, RULES, SEEN, RuleArrays, Settings, State, Workspace
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


TINY = 1e-300  # keeps 0 / 0 out of sums


@inner
def inverse_variance(n: float, M: float, nu0: float, S0: float) -> float:
    """Return (nu0 + n - 1) / (nu0 S0 + M); one sample has no spread, hence n - 1."""
    return (nu0 + max(n - 1.0, 0.0)) / (nu0 * S0 + M)


def derive_inverse_variance(slot: int, rules: RuleArrays, settings: Settings) -> None:
    """Derive `inv` of `slot` from its moments and the prior, feature by feature: `inverse_variance` in numpy."""
    S0, lam = settings.metric
    with np.errstate(all="ignore"):
        count = settings.prior_count + np.maximum(rules.n[slot] - 1.0, 0.0)
        rules.inv[slot] = lam * (count / (settings.prior_count * S0 + rules.M[slot]))


@inlined
def update_moments(
    slot: int, s: FloatArray, weight: float, rules: RuleArrays, settings: Settings, pace: float = 1.0
) -> None:
    """Update centre and spread of `slot` by the sample s (weighted Welford); missing entries of s change nothing.

    `pace` is the time that passes with the sample, by which the bound on counts is divided.
    """
    most = settings.most_count / pace if slot > 0 else np.inf
    c, M, n, inv = rules.c[slot], rules.M[slot], rules.n[slot], rules.inv[slot]
    update_moments_row(s, weight, most, c, M, n, inv, settings.prior_count, settings.metric)
    rules.k[slot] += weight
    rules.last_won[slot] = rules.counters[SEEN]


@kernel
def update_moments_row(
    z: FloatArray,
    weight: float,
    most: float,
    c: FloatArray,
    M: FloatArray,
    n: FloatArray,
    inv: FloatArray,
    nu0: float,
    metric: FloatArray,
) -> None:
    """Update c, M, n and inv by the row z; without branches, so that it runs in vector registers.

    The count n grows up to `most` and then stays: older samples fade, so that a centre follows samples that move.
    """
    S0, lam = metric[0], metric[1]
    for j in range(z.shape[0]):
        seen = z[j] == z[j]
        w = weight if seen else 0.0
        e = z[j] - c[j] if seen else 0.0
        before = n[j] if n[j] + w <= most else max(max(n[j], most) - w, 0.0)
        keep = 1.0 if before == n[j] else before / max(n[j], TINY)
        total = before + w
        step = w / max(total, TINY)
        c[j] += e * step
        M[j] = (
            keep * M[j] + e * e * before * step
        )  # e is from before the centre moved: (z - c_old)(z - c_new) = e^2 n / (n + w)
        n[j] = total
        inv[j] = lam[j] * inverse_variance(total, M[j], nu0, S0[j])


def bound_counts(slot: int, rules: RuleArrays, most: float) -> None:
    """Lower the counts n of `slot` to at most `most`, with the scatter, so that variances stay."""
    keep = np.minimum(most / np.maximum(rules.n[slot], TINY), 1.0)
    rules.n[slot] = np.minimum(rules.n[slot], most)
    rules.M[slot] *= keep


def pool_moments(a: int, b: int, rules: RuleArrays) -> None:
    """Add the moments of slot b to those of slot a, exactly; slot b stays as it is."""
    na, nb = rules.n[a].copy(), rules.n[b]
    n = na + nb
    seen = n > 0.0
    n[~seen] = 1.0
    d = np.where(seen, rules.c[b] - rules.c[a], 0.0)
    rules.c[a] += d * (nb / n)
    rules.M[a] += np.where(seen, rules.M[b] + d * d * (na * nb / n), 0.0)
    rules.n[a][seen] = n[seen]
    rules.k[a] += rules.k[b]


WINNER_WINDOW = 200.0  # samples over which winner distances are averaged
MIN_WINNERS = 50.0  # samples after which their mean and variance are used
_YOUNG_POWER = 4.0  # of 1 + 1/k in the bound for a winner of support k


@inner
def update_winner_stats(d: float, winner_stats: FloatArray) -> None:
    """Update `winner_stats` (count, mean, variance of winner distances) by the distance d."""
    step = max(1.0 / (winner_stats[0] + 1.0), 1.0 / WINNER_WINDOW)
    e = d - winner_stats[1]
    winner_stats[0] += 1.0
    winner_stats[1] += step * e
    winner_stats[2] = (1.0 - step) * (winner_stats[2] + step * e * e)


@inner
def novelty_bound(support: float, C: int, winner_stats: FloatArray, settings: Settings) -> float:
    """Return the mean squared distance to a winner of this `support` beyond which a sample is novel; inf: never.

    With fewer than `max_rules` rules (C), it is `radius`, larger for a winner of small support, eq. (5) in terms of
    ma^2 / p. In a full rule base it is `novel_z` standard deviations above the mean of `winner_stats`, once these have
    `MIN_WINNERS` samples. Deviation: the radius does not grow with p, so that rules are created early.
    """
    if settings.max_rules > C:
        return float(settings.radius * (1.0 + 1.0 / support) ** _YOUNG_POWER)
    if settings.max_rules == 1 or winner_stats[0] <= MIN_WINNERS:
        return np.inf
    return float(winner_stats[1] + settings.novel_z * np.sqrt(winner_stats[2]))


@kernel
def novelty_bounds(state: State, bounds: FloatArray) -> None:
    """Fill `bounds`, (C,), with the bound of `novelty_bound` for each rule."""
    C = bounds.shape[0]
    for a in range(C):
        bounds[a] = novelty_bound(state.rules.k[a + 1], C, state.rules.winner_stats, state.settings)


@inner
def is_novel(d: float, support: float, C: int, winner_stats: FloatArray, settings: Settings) -> bool:
    """Return whether a sample at mean squared distance d from its winner of this `support` is novel, with C rules."""
    return bool(d > novelty_bound(support, C, winner_stats, settings))


@inner
def is_inactive(slot: int, rules: RuleArrays, settings: Settings) -> bool:
    """Return whether `slot` has little support and has won no sample for `prune_after` samples; never if locked."""
    idle = rules.counters[SEEN] - rules.last_won[slot]
    return bool(idle > settings.prune_after and rules.k[slot] < settings.min_support and rules.locked[slot] == 0)


@inner
def any_inactive(rules: RuleArrays, settings: Settings) -> bool:
    """Return whether an inactive rule can be removed; the last rule stays."""
    C = rules.counters[RULES]
    if settings.prune_after == 0 or C < 2:
        return False
    found = False
    for a in range(1, C + 1):
        found = found or is_inactive(a, rules, settings)
    return found


@inlined
def update_winner(
    w: int,
    d: float,
    z: FloatArray,
    weight: float,
    antecedent_rate: float,
    rules: RuleArrays,
    settings: Settings,
    pace: float,
) -> None:
    """Update the moments of the winner w, at distance d from z, unless it is locked, and those of the whole stream.

    `pace` is the time that passes with the row: where answers persist, centres remember more rows.
    """
    update_winner_stats(d, rules.winner_stats)
    if not rules.locked[w]:
        rules.last_won[w] = rules.counters[SEEN]
        if antecedent_rate > 0.0:
            update_moments(w, z, weight * antecedent_rate, rules, settings, pace)
    update_moments(0, z, weight, rules, settings)


@inlined
def reason_after(rules: RuleArrays, settings: Settings) -> int:
    """Return why the structure makes the loop stop after a row, or DONE."""
    return INACTIVE if settings.prune_after > 0 and any_inactive(rules, settings) else DONE


@kernel
def ward_pair(c: FloatArray, variance: FloatArray, k: FloatArray) -> tuple[int, int]:
    """Return the pair of rows with the least sum of (c_a - c_b)^2 / (v_a + v_b), times k_a k_b / (k_a + k_b)."""
    best = np.inf
    first, second = 0, 1
    for a in range(c.shape[0]):
        for b in range(a + 1, c.shape[0]):
            s = 0.0
            for j in range(c.shape[1]):
                e = c[a, j] - c[b, j]
                s += e * e / (variance[a, j] + variance[b, j])
            s *= k[a] * k[b] / (k[a] + k[b])
            if s < best:
                best = s
                first, second = a, b
    return first, second
