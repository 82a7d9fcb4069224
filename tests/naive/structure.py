"""Twins of `stages.rules.loops.antecedents`."""

from itertools import combinations

import numpy as np

from evolabel.stages.rules.arrays import Settings
from evolabel.stages.rules.loops.antecedents import MIN_WINNERS, WINNER_WINDOW
from evolabel.typing import FloatArray
from naive.slots import NaiveRules, Slot


def update_winner_stats(d: float, winner_stats: FloatArray) -> FloatArray:
    """Count, mean and variance; beyond `WINNER_WINDOW` distances the old ones fade."""
    count, mean, variance = winner_stats
    share = 1.0 / min(count + 1.0, WINNER_WINDOW)
    new = (1.0 - share) * mean + share * d
    square = (1.0 - share) * (variance + mean**2) + share * d**2
    return np.array([count + 1.0, new, square - new**2])


def is_novel(d: float, support: float, C: int, winner_stats: FloatArray, settings: Settings) -> bool:
    """With room: outside the winner's radius, which shrinks with its support. Full: far beyond usual winners."""
    if settings.max_rules > C:
        return bool(d > settings.radius * ((support + 1.0) / support) ** 4)
    count, mean, variance = winner_stats
    return bool(settings.max_rules > 1 and count > MIN_WINNERS and d > mean + settings.novel_z * np.sqrt(variance))


def is_inactive(slot: Slot, seen: int, settings: Settings) -> bool:
    """Little support, and no sample won for `prune_after` samples."""
    return seen - slot.last_won > settings.prune_after and slot.k < settings.min_support


def any_inactive(base: NaiveRules) -> bool:
    """Is there a rule to remove?"""
    hungry = [is_inactive(rule, base.seen, base.settings) for rule in base.rules]
    return base.settings.prune_after > 0 and len(base.rules) > 1 and any(hungry)


def ward(a: int, b: int, c: FloatArray, variance: FloatArray, k: FloatArray) -> float:
    """How much the fit suffers from uniting two rules: d^2 k_a k_b / (k_a + k_b)."""
    return float(np.sum((c[a] - c[b]) ** 2 / (variance[a] + variance[b])) * k[a] * k[b] / (k[a] + k[b]))


def ward_pair(c: FloatArray, variance: FloatArray, k: FloatArray) -> tuple[int, int]:
    """The pair that costs least."""
    return min(combinations(range(len(c)), 2), key=lambda pair: ward(pair[0], pair[1], c, variance, k))
