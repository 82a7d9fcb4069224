"""Creation, merging and removal of rules in the arrays of `stages.rules.arrays` (paper section 3.1).

These changes are rare, so they are plain numpy. Moments, H and G of merged rules add up exactly; P is derived from them
(`stages.rules.inverses`).
"""

import numpy as np

from evolabel.engine.compile import interpreted
from evolabel.stages.rules import fast_sums
from evolabel.stages.rules.arrays import NEXT_IDENTITY, RULE_ARRAYS, RULES, SEEN, RuleArrays, Settings, paper_arrays
from evolabel.stages.rules.inverses import apply_pending, derive_inverse, scatter, set_scatter, start_inverse
from evolabel.stages.rules.loops.moments import bound_counts, derive_inverse_variance, pool_moments, update_moments
from evolabel.stages.rules.loops.structure import is_inactive, ward_pair
from evolabel.typing import FloatArray, IntArray

_update_moments, _is_inactive = interpreted(update_moments), interpreted(is_inactive)

# Arrays with one entry per slot; all others are shared by the whole rule base.
PER_SLOT = tuple(RULE_ARRAYS.along("slot"))


def clear(slot: int, rules: RuleArrays, settings: Settings) -> None:
    """Empty `slot`: no samples, and consequents equal to those of the global model (H = G = 0), or zero for slot 0."""
    for name in PER_SLOT:
        getattr(rules, name)[slot] = 0
    start_inverse(slot, rules, settings)
    if settings.rotated:
        rules.F[slot] = np.diag(np.sqrt(settings.prior_count * settings.prior))
    derive_inverse_variance(slot, rules, settings)


def create_rule(s: FloatArray, parent: int, weight: float, rules: RuleArrays, settings: Settings) -> int:
    """Create a rule at `s` and return its slot; a missing feature takes the centre of `parent`, with no support.

    Iterated weights start at those of `parent`, eq. (28), at the global model's if rules are shrunk towards it, or at
    zero. Deviation: the sample that creates a rule is also learned, because it is the only evidence of the rule.
    """
    slot = int(rules.counters[RULES]) + 1
    clear(slot, rules, settings)
    rules.c[slot] = rules.c[parent]
    if settings.iterated and (settings.inherit or settings.anchor.any()):
        rules.W[slot] = rules.W[parent if settings.inherit else 0]
    _update_moments(slot, s, weight, rules, settings, paper_arrays(rules))
    rules.identity[slot] = rules.counters[NEXT_IDENTITY]
    rules.born[slot] = rules.counters[SEEN]
    rules.counters[NEXT_IDENTITY] += 1
    rules.counters[RULES] = slot
    return slot


def merge_pair(first: int, second: int, rules: RuleArrays, settings: Settings) -> tuple[int, int]:
    """Merge the rules in slots `first` and `second`; return the identities (kept, gone). The larger support is kept."""
    a, b = stronger_first(first, second, rules.k)
    kept, gone = int(rules.identity[a]), int(rules.identity[b])
    apply_pending(a, rules)
    apply_pending(b, rules)
    if settings.rotated:
        pool_scatter(a, b, rules, settings)
    pool_moments(a, b, rules)
    bound_counts(a, rules, settings.most_count)
    derive_inverse_variance(a, rules, settings)
    if rules.Q.shape[1]:
        pool_label_moments(a, b, rules)
    rules.H[a] += rules.H[b]
    rules.G[a] += rules.G[b]
    derive_inverse(a, rules, settings)
    fast_sums.pool(a, b, rules, settings)
    rules.compared[a] = rules.k[a]
    rules.last_won[a] = max(rules.last_won[a], rules.last_won[b])
    rules.born[a] = min(rules.born[a], rules.born[b])
    free_slot(b, rules)
    return kept, gone


def stronger_first(first: int, second: int, k: FloatArray) -> tuple[int, int]:
    """Return the slots `first` and `second`, that of larger support `k` first."""
    return (second, first) if k[second] > k[first] else (first, second)


def pool_scatter(a: int, b: int, rules: RuleArrays, settings: Settings) -> None:
    """Set the scatter matrix of slot `a` to that of the samples of `a` and `b`; before the centres are pooled."""
    apart = rules.c[b] - rules.c[a]
    between = rules.k[a] * rules.k[b] / (rules.k[a] + rules.k[b]) * np.outer(apart, apart)
    set_scatter(a, scatter(a, rules, settings) + scatter(b, rules, settings) + between, rules, settings)


def pool_label_moments(a: int, b: int, rules: RuleArrays) -> None:
    """Add the label means and co-moments of slot `b` to those of slot `a`, exactly."""
    mine, theirs = rules.mass[a, 0], rules.mass[b, 0]
    total = mine + theirs
    if total > 0.0:
        apart = rules.ybar[b] - rules.ybar[a]
        rules.Q[a] += rules.Q[b] + mine * theirs / total * np.outer(apart, apart)
        rules.ybar[a] += theirs / total * apart
        rules.mass[a] += rules.mass[b]


def free_slot(slot: int, rules: RuleArrays) -> None:
    """Remove the rule in `slot`; the last rule moves there."""
    last = int(rules.counters[RULES])
    if slot != last:
        for name in PER_SLOT:
            array = getattr(rules, name)
            array[slot] = array[last]
    rules.counters[RULES] = last - 1


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
