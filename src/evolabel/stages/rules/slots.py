"""Changes of single slots in the arrays of `stages.rules.arrays` (paper section 3.1).

These changes are rare, so they are plain numpy. Moments, H and G of merged rules add up exactly.
"""

import numpy as np

from evolabel.engine.compile import interpreted
from evolabel.stages.rules import fast_sums
from evolabel.stages.rules.arrays import RULE_ARRAYS, RULES, RuleArrays, Settings
from evolabel.stages.rules.inverses import apply_pending
from evolabel.stages.rules.loops.antecedents import (
    bound_counts,
    derive_inverse_variance,
    is_inactive,
    pool_moments,
    ward_pair,
)
from evolabel.typing import FloatArray, IntArray

_is_inactive = interpreted(is_inactive)

# Arrays with one entry per slot; all others are shared by the whole rule base.
PER_SLOT = tuple(RULE_ARRAYS.along("slot"))


def pool_sums(a: int, b: int, rules: RuleArrays, settings: Settings) -> None:
    """Add the moments, sums and dates of slot `b` to those of slot `a`; P is not derived yet."""
    apply_pending(a, rules)
    apply_pending(b, rules)
    pool_moments(a, b, rules)
    bound_counts(a, rules, settings.most_count)
    derive_inverse_variance(a, rules, settings)
    rules.H[a] += rules.H[b]
    rules.G[a] += rules.G[b]
    fast_sums.pool(a, b, rules, settings)
    rules.last_won[a] = max(rules.last_won[a], rules.last_won[b])
    rules.born[a] = min(rules.born[a], rules.born[b])


def stronger_first(first: int, second: int, k: FloatArray) -> tuple[int, int]:
    """Return the slots `first` and `second`, that of larger support `k` first."""
    return (second, first) if k[second] > k[first] else (first, second)


def closest_pair(rules: RuleArrays, most: float = np.inf) -> tuple[int, int]:
    """Return the slots of the unlocked pair with the least Ward distance, d^2 k_a k_b / (k_a + k_b).

    A support k counts as at most `most` samples, as it does for the centre.
    """
    free = unlocked(rules)
    first, second = ward_pair(rules.c[free], 1.0 / rules.inv[free], np.minimum(rules.k[free], most))
    return int(free[first]), int(free[second])


def closest_to(slot: int, rules: RuleArrays, most: float = np.inf) -> int:
    """Return the unlocked slot with the least Ward distance to `slot`, as in `closest_pair`."""
    others = unlocked(rules)
    others = others[others != slot]
    k, mine = np.minimum(rules.k[others], most), min(float(rules.k[slot]), most)
    squares = (rules.c[others] - rules.c[slot]) ** 2 / (1.0 / rules.inv[others] + 1.0 / rules.inv[slot])
    return int(others[np.argmin(squares.sum(axis=1) * k * mine / (k + mine))])


def unlocked(rules: RuleArrays) -> IntArray:
    """Return the slots of the rules that are not locked."""
    return np.asarray(1 + np.flatnonzero(rules.locked[1 : int(rules.counters[RULES]) + 1] == 0))


def inactive(rules: RuleArrays, settings: Settings) -> list[int]:
    """Return the slots of the inactive rules, the highest first; at least one rule is left out."""
    if settings.prune_after == 0:
        return []
    count = int(rules.counters[RULES])
    slots = [a for a in range(count, 0, -1) if _is_inactive(a, rules, settings)]
    return slots[: count - 1]


def slot_of(identity: int, rules: RuleArrays) -> int:
    """Return the slot of the rule with this `identity`."""
    return 1 + int(np.flatnonzero(rules.identity[1 : int(rules.counters[RULES]) + 1] == identity)[0])
