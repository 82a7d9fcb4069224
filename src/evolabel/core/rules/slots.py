"""The life of rules: birth, merging and death (paper section 3.1).

These acts are rare, so they are plain numpy on the arrays of `kernels.state`. Moments, H and G of merged rules add up
exactly; P is derived from them (`core.inverses`).
"""

import numpy as np

from evolabel.core.rules.inverses import apply_late, derive_inverse, scatter, set_scatter, start_inverse
from evolabel.kernels.compile import interpreted
from evolabel.kernels.moments import absorb, derive_inverse_variance, pool_moments
from evolabel.kernels.state import NEXT_IDENTITY, RULES, SEEN, RuleArrays, Settings, paper_arrays
from evolabel.kernels.structure import is_starved, ward_pair
from evolabel.typing import FloatArray, IntArray

_absorb, _is_starved = interpreted(absorb), interpreted(is_starved)

# Arrays with one entry per slot; all others are shared by the whole rule base.
PER_SLOT = tuple(name for name in RuleArrays._fields if name not in ("tally", "strange"))


def clear(slot: int, rules: RuleArrays, settings: Settings) -> None:
    """An empty slot: no samples; consequents equal to the global model (H = G = 0), or zero for slot 0."""
    for name in PER_SLOT:
        getattr(rules, name)[slot] = 0
    start_inverse(slot, rules, settings)
    if settings.rotated:
        rules.F[slot] = np.diag(np.sqrt(settings.prior_count * settings.prior))
    derive_inverse_variance(slot, rules, settings)


def give_birth(s: FloatArray, parent: int, weight: float, rules: RuleArrays, settings: Settings) -> int:
    """Start a rule at s and return its slot; a missing feature starts at the parent's centre with no support.

    Iterated weights start at the parent's, eq. (28), at the global model's if the ridge pulls there, or at zero.
    Deviation: the sample that created the rule is learned like any other; it is the only evidence there is.
    """
    slot = int(rules.tally[RULES]) + 1
    clear(slot, rules, settings)
    rules.c[slot] = rules.c[parent]
    if settings.iterated and (settings.inherit or settings.lean.any()):
        rules.W[slot] = rules.W[parent if settings.inherit else 0]
    _absorb(slot, s, weight, rules, settings, paper_arrays(rules))
    rules.identity[slot] = rules.tally[NEXT_IDENTITY]
    rules.born[slot] = rules.tally[SEEN]
    rules.tally[NEXT_IDENTITY] += 1
    rules.tally[RULES] = slot
    return slot


def merge_pair(first: int, second: int, rules: RuleArrays, settings: Settings) -> tuple[int, int]:
    """Unite two rules and return the identities (kept, gone); the better supported one keeps its identity."""
    a, b = stronger_first(first, second, rules.k)
    kept, gone = int(rules.identity[a]), int(rules.identity[b])
    apply_late(a, rules)
    apply_late(b, rules)
    if settings.rotated:
        pool_scatter(a, b, rules, settings)
    pool_moments(a, b, rules)
    derive_inverse_variance(a, rules, settings)
    if rules.Q.shape[1]:
        pool_label_moments(a, b, rules)
    rules.H[a] += rules.H[b]
    rules.G[a] += rules.G[b]
    derive_inverse(a, rules, settings)
    rules.compared[a] = rules.k[a]
    rules.won[a] = max(rules.won[a], rules.won[b])
    rules.born[a] = min(rules.born[a], rules.born[b])
    free_slot(b, rules)
    return kept, gone


def stronger_first(first: int, second: int, k: FloatArray) -> tuple[int, int]:
    """Two rules, the better supported one first; of equals the first stays first."""
    return (second, first) if k[second] > k[first] else (first, second)


def pool_scatter(a: int, b: int, rules: RuleArrays, settings: Settings) -> None:
    """Scatter matrix of both samples together, exactly; one prior is kept. Before the centres move."""
    apart = rules.c[b] - rules.c[a]
    between = rules.k[a] * rules.k[b] / (rules.k[a] + rules.k[b]) * np.outer(apart, apart)
    set_scatter(a, scatter(a, rules, settings) + scatter(b, rules, settings) + between, rules, settings)


def pool_label_moments(a: int, b: int, rules: RuleArrays) -> None:
    """Label means and co-moments of both together."""
    mine, theirs = rules.mass[a, 0], rules.mass[b, 0]
    total = mine + theirs
    if total > 0.0:
        apart = rules.ybar[b] - rules.ybar[a]
        rules.Q[a] += rules.Q[b] + mine * theirs / total * np.outer(apart, apart)
        rules.ybar[a] += theirs / total * apart
        rules.mass[a] += rules.mass[b]


def free_slot(slot: int, rules: RuleArrays) -> None:
    """Take a rule out; the last rule moves into its slot."""
    last = int(rules.tally[RULES])
    if slot != last:
        for name in PER_SLOT:
            array = getattr(rules, name)
            array[slot] = array[last]
    rules.tally[RULES] = last - 1


def closest_pair(rules: RuleArrays) -> tuple[int, int]:
    """The two rules whose union changes the fit least (Ward): d^2 k_a k_b / (k_a + k_b). Locked rules stay out."""
    free = unlocked(rules)
    first, second = ward_pair(rules.c[free], 1.0 / rules.inv[free], rules.k[free])
    return int(free[first]), int(free[second])


def unlocked(rules: RuleArrays) -> IntArray:
    """Slots of the rules that may learn and be merged."""
    return np.asarray(1 + np.flatnonzero(rules.locked[1 : int(rules.tally[RULES]) + 1] == 0))


def starved(rules: RuleArrays, settings: Settings) -> list[int]:
    """Slots of the rules to remove, the highest first; one rule always stays."""
    if settings.prune_after == 0:
        return []
    count = int(rules.tally[RULES])
    slots = [a for a in range(count, 0, -1) if _is_starved(a, rules, settings)]
    return slots[: count - 1]


def slot_of(identity: int, rules: RuleArrays) -> int:
    """Where a rule lives now."""
    return 1 + int(np.flatnonzero(rules.identity[1 : int(rules.tally[RULES]) + 1] == identity)[0])
