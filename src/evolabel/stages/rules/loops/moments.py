"""Centre and spread of a rule: exact weighted moments with a prior on the variance.

The centre of a rule is the running mean of the samples it has won. Its variance has a prior that counts as
`prior_count` samples, so that the variances of a young rule are not close to 0. Features are counted one by one,
because any of them may be missing.
"""

import numpy as np

from evolabel.engine.compile import inlined, inner, kernel
from evolabel.stages.rules.arrays import SEEN, RuleArrays, Settings
from evolabel.typing import FloatArray

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
