"""The life of rules: birth, merging and death (paper section 3.1, companion 2.4-2.6).

These acts are rare, so they are plain numpy on the arrays of `kernels.state`. Moments, H and G of merged rules add up
exactly; P is derived from them.
"""

import numpy as np
from scipy.linalg import inv

from evolabel.kernels.moments import absorb, derive_inverse_variance, pool_moments
from evolabel.kernels.state import NEXT_IDENTITY, RULES, SEEN, FloatArray, RuleArrays, Settings
from evolabel.kernels.structure import any_starved, is_starved, ward_pair
from evolabel.kernels.symmetric import add_outer_products

# Arrays with one entry per slot; all others are shared by the whole rule base.
PER_SLOT = tuple(name for name in RuleArrays._fields if name not in ("tally", "strange"))


def clear(slot: int, rules: RuleArrays, settings: Settings) -> None:
    """An empty slot: no samples; consequents equal to the global model (H = G = 0), or zero for slot 0."""
    for name in PER_SLOT:
        getattr(rules, name)[slot] = 0
    rules.P[slot] = np.diag(1.0 / settings.penalty[min(slot, 1)])
    derive_inverse_variance(slot, rules, settings)


def apply_late(slot: int, rules: RuleArrays) -> None:
    """Bring H and P of a slot up to date."""
    b = int(rules.late[slot])
    add_outer_products(rules.H[slot], rules.late_H[slot], b, 1.0)
    add_outer_products(rules.P[slot], rules.late_P[slot], b, -1.0)
    rules.late[slot] = 0


def derive_inverse(slot: int, rules: RuleArrays, settings: Settings) -> None:
    """P = (H + penalty)^-1, from scratch."""
    rules.P[slot] = ridge_inverse(rules.H[slot], settings.penalty[min(slot, 1)])
    rules.age[slot] = 0
    rules.fresh[slot] = 0.0


def ridge_inverse(H: FloatArray, penalty: FloatArray) -> FloatArray:
    """(H + diag(penalty))^-1 from the lower triangle of H."""
    inverse: FloatArray = inv(mirrored(H) + np.diag(penalty), assume_a="pos")
    return inverse


def mirrored(lower: FloatArray) -> FloatArray:
    """The symmetric matrix whose lower triangle is given."""
    half = np.tril(lower)
    return np.asarray(half + np.tril(half, -1).T)


def upkeep(slot: int, rules: RuleArrays, settings: Settings) -> None:
    """Derive P anew, so that rounding never adds up; fade the past before, if the user wants.

    Leaky forgetting: everything learned fades by lambda^(evidence learned since the last upkeep); the ridge stays
    whole. A rule that rests forgets nothing, and a recurring concept finds it as it was.
    """
    apply_late(slot, rules)
    if settings.forgetting < 1.0:
        fade = settings.forgetting ** rules.fresh[slot]
        for array in (rules.H, rules.G, rules.M, rules.n, rules.k):
            array[slot] *= fade
        derive_inverse_variance(slot, rules, settings)
    derive_inverse(slot, rules, settings)


def give_birth(z: FloatArray, parent: int, weight: float, rules: RuleArrays, settings: Settings) -> int:
    """Start a rule at z and return its slot; a missing feature starts at the parent's centre with no support.

    Its consequents start at the global model (eq. 28 takes those of the nearest rule), and the sample that created
    it is learned like any other.
    """
    slot = int(rules.tally[RULES]) + 1
    clear(slot, rules, settings)
    rules.c[slot] = rules.c[parent]
    absorb(slot, z, weight, rules, settings)
    rules.identity[slot] = rules.tally[NEXT_IDENTITY]
    rules.born[slot] = rules.tally[SEEN]
    rules.tally[NEXT_IDENTITY] += 1
    rules.tally[RULES] = slot
    return slot


def merge_pair(first: int, second: int, rules: RuleArrays, settings: Settings) -> tuple[int, int]:
    """Unite two rules and return the identities (kept, gone); the better supported one keeps its identity."""
    a, b = (second, first) if rules.k[second] > rules.k[first] else (first, second)
    kept, gone = int(rules.identity[a]), int(rules.identity[b])
    apply_late(a, rules)
    apply_late(b, rules)
    pool_moments(a, b, rules)
    derive_inverse_variance(a, rules, settings)
    rules.H[a] += rules.H[b]
    rules.G[a] += rules.G[b]
    derive_inverse(a, rules, settings)
    rules.won[a] = max(rules.won[a], rules.won[b])
    rules.born[a] = min(rules.born[a], rules.born[b])
    free_slot(b, rules)
    return kept, gone


def free_slot(slot: int, rules: RuleArrays) -> None:
    """Take a rule out; the last rule moves into its slot."""
    last = int(rules.tally[RULES])
    if slot != last:
        for name in PER_SLOT:
            array = getattr(rules, name)
            array[slot] = array[last]
    rules.tally[RULES] = last - 1


def closest_pair(rules: RuleArrays) -> tuple[int, int]:
    """The two rules whose union changes the fit least (Ward): d^2 k_a k_b / (k_a + k_b)."""
    used = slice(1, int(rules.tally[RULES]) + 1)
    first, second = ward_pair(rules.c[used], 1.0 / rules.inv[used], rules.k[used])
    return first + 1, second + 1


def starved(rules: RuleArrays, settings: Settings) -> list[int]:
    """Slots of the rules to remove, the highest first; one rule always stays."""
    if not any_starved(rules, settings):
        return []
    count = int(rules.tally[RULES])
    slots = [a for a in range(count, 0, -1) if is_starved(a, rules, settings)]
    return slots[: count - 1]
