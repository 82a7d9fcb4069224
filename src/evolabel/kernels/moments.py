"""Centre and spread of a rule: exact weighted moments with a prior on the variance.

A winner's centre is a running mean. Its variance carries a prior worth `prior_count` samples, so that a young rule is
round and not a needle. Features are counted apart, because any of them may be missing in a sample.
"""

import numpy as np

from evolabel.kernels.compile import allocating_kernel, inlined, inner, kernel
from evolabel.kernels.paper.rotated import factor_update
from evolabel.kernels.state import RULES, SEEN, PaperArrays, RuleArrays, Settings
from evolabel.kernels.symmetric import dot
from evolabel.typing import FloatArray

TINY = 1e-300  # keeps 0 / 0 out of sums


@inner
def inverse_variance(n: float, M: float, nu0: float, S0: float) -> float:
    """(nu0 + n - 1) / (nu0 S0 + M): the first sample says nothing about the spread, hence n - 1."""
    return (nu0 + max(n - 1.0, 0.0)) / (nu0 * S0 + M)


def derive_inverse_variance(slot: int, rules: RuleArrays, settings: Settings) -> None:
    """The spread of a slot with its prior, weighted, feature by feature: `inverse_variance` in numpy."""
    _derive(slice(slot, slot + 1), rules, settings)


def derive_inverse_variances(rules: RuleArrays, settings: Settings) -> None:
    """The same for all slots."""
    _derive(slice(0, int(rules.tally[RULES]) + 1), rules, settings)


def _derive(of: slice, rules: RuleArrays, settings: Settings) -> None:
    S0, lam = settings.metric
    with np.errstate(all="ignore"):
        count = settings.prior_count + np.maximum(rules.n[of] - 1.0, 0.0)
        rules.inv[of] = lam * (count / (settings.prior_count * S0 + rules.M[of]))


@inlined
def absorb(
    slot: int, s: FloatArray, weight: float, rules: RuleArrays, settings: Settings, paper: PaperArrays | None
) -> None:
    """Move centre and spread of a slot by one sample (weighted Welford); missing entries stay as they are."""
    nu0 = settings.prior_count
    if paper is not None and settings.rotated and slot > 0:
        rotate(s, weight, rules.k[slot], nu0, rules.c[slot], paper.F[slot])
    absorb_row(s, weight, rules.c[slot], rules.M[slot], rules.n[slot], rules.inv[slot], nu0, settings.metric)
    rules.k[slot] += weight
    rules.won[slot] = rules.tally[SEEN]


@allocating_kernel
def rotate(s: FloatArray, weight: float, k: float, nu0: float, c: FloatArray, F: FloatArray) -> None:
    """The scatter matrix grows by w k / (k + w) e e' with e from the old centre.

    A missing entry sits at the centre and brings its present variance along: not seeing it is no evidence that it
    does not vary.
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


@kernel
def absorb_row(
    z: FloatArray,
    weight: float,
    c: FloatArray,
    M: FloatArray,
    n: FloatArray,
    inv: FloatArray,
    nu0: float,
    metric: FloatArray,
) -> None:
    """The arithmetic of `absorb`, free of branches so that it runs in vector registers."""
    S0, lam = metric[0], metric[1]
    for j in range(z.shape[0]):
        seen = z[j] == z[j]
        w = weight if seen else 0.0
        e = z[j] - c[j] if seen else 0.0
        total = n[j] + w
        step = w / max(total, TINY)
        c[j] += e * step
        M[j] += e * e * n[j] * step
        n[j] = total
        inv[j] = lam[j] * inverse_variance(total, M[j], nu0, S0[j])


def pool_moments(a: int, b: int, rules: RuleArrays) -> None:
    """Centre, scatter and counts of slot a become those of both samples together, exactly."""
    na, nb = rules.n[a].copy(), rules.n[b]
    n = na + nb
    seen = n > 0.0
    n[~seen] = 1.0
    d = np.where(seen, rules.c[b] - rules.c[a], 0.0)
    rules.c[a] += d * (nb / n)
    rules.M[a] += np.where(seen, rules.M[b] + d * d * (na * nb / n), 0.0)
    rules.n[a][seen] = n[seen]
    rules.k[a] += rules.k[b]
