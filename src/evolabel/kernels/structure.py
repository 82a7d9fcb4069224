"""When the rule base must change its shape (paper section 3.1, eq. 5). How it changes is `core.lifecycle`'s work."""

import numpy as np

from evolabel.kernels.compile import inner, kernel
from evolabel.kernels.state import RULES, SEEN, RuleArrays, Settings
from evolabel.typing import FloatArray

# Winner distances are averaged over about the last 200 samples, and trusted after the first 50.
STRANGE_WINDOW = 200.0
STRANGE_AFTER = 50.0


@inner
def note_winner_distance(d: float, strange: FloatArray) -> None:
    """Running mean and variance of winner distances: the yardstick for what is strange."""
    step = max(1.0 / (strange[0] + 1.0), 1.0 / STRANGE_WINDOW)
    e = d - strange[1]
    strange[0] += 1.0
    strange[1] += step * e
    strange[2] = (1.0 - step) * (strange[2] + step * e * e)


@inner
def novelty_bound(support: float, C: int, strange: FloatArray, radius: float, settings: Settings) -> float:
    """The mean squared distance to a winner beyond which a sample is novel; inf: never.

    While there is room, the winner's radius, eq. (5) in terms of ma^2 / p. When the rule base is full, a distance that
    is very strange. Deviation: the default radius does not grow with p, so that rules are seeded early.
    """
    if settings.max_rules > C or (np.isnan(settings.novel_z) and C > 1):
        return float(radius * (1.0 + 1.0 / support) ** settings.young)
    if settings.max_rules == 1 or strange[0] <= STRANGE_AFTER:
        return np.inf
    return float(strange[1] + settings.novel_z * np.sqrt(strange[2]))


@inner
def is_novel(d: float, support: float, C: int, strange: FloatArray, settings: Settings) -> bool:
    """Shall a sample at mean squared distance d from its winner start a rule?"""
    return bool(d > novelty_bound(support, C, strange, settings.radius, settings))


@inner
def has_grown(slot: int, rules: RuleArrays, settings: Settings) -> bool:
    """Has the rule won enough samples since it was last compared with the others?"""
    if settings.merge_every == 0 or rules.tally[RULES] < 2:
        return False
    return bool(rules.k[slot] - rules.compared[slot] >= settings.merge_every)


@inner
def is_starved(slot: int, rules: RuleArrays, settings: Settings) -> bool:
    """Little support, and no sample won for `prune_after` samples; a locked rule never starves."""
    idle = rules.tally[SEEN] - rules.won[slot]
    return bool(idle > settings.prune_after and rules.k[slot] < settings.min_support and rules.locked[slot] == 0)


@inner
def any_starved(rules: RuleArrays, settings: Settings) -> bool:
    """Is there a rule to remove? One rule always stays."""
    C = rules.tally[RULES]
    if settings.prune_after == 0 or C < 2:
        return False
    found = False
    for a in range(1, C + 1):
        found = found or is_starved(a, rules, settings)
    return found


@kernel
def ward_pair(c: FloatArray, variance: FloatArray, k: FloatArray) -> tuple[int, int]:
    """Indices of the pair with the least sum of (c_a - c_b)^2 / (v_a + v_b), times k_a k_b / (k_a + k_b)."""
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
