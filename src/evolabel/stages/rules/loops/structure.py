"""Conditions under which rules are created, merged and removed (paper section 3.1, eq. 5).

The changes themselves are made by `stages.rules.slots`.
"""

import numpy as np

from evolabel.engine.compile import inner, kernel
from evolabel.stages.rules.arrays import RULES, SEEN, RuleArrays, Settings, State
from evolabel.typing import FloatArray

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
