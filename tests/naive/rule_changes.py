"""Twins of `stages.rules.slots`: creation, merging and removal of rules, and upkeep."""

import numpy as np

from evolabel.typing import FloatArray
from naive.memberships import distances, nearest
from naive.moments import bound_counts, derive_inverse_variance, pool_moments, update_moments
from naive.slots import NaiveRules, empty_slot
from naive.structure import any_inactive, is_inactive, ward_pair


def rule_distances(z: FloatArray, base: NaiveRules) -> FloatArray:
    """Distances of z to all rules."""
    inv = np.array([derive_inverse_variance(rule, base.settings) for rule in base.rules])
    return distances(z, np.array([rule.c for rule in base.rules]), inv, base.settings.importance)


def create_rule(z: FloatArray, weight: float, base: NaiveRules) -> None:
    """A rule starts at z, near the nearest rule; a full rule base first merges its closest pair."""
    base.seen += 1
    if len(base.rules) == base.settings.max_rules:
        merge_closest(base)
    parent = base.rules[nearest(rule_distances(z, base))] if base.rules else None
    update_moments(base.whole, z, weight, base.seen)
    rule = empty_slot(len(z), base.whole.G.shape[1])
    rule.c = (parent or base.whole).c
    update_moments(rule, z, weight, base.seen, base.settings.most_count)
    rule.identity, rule.born = base.next_identity, base.seen
    base.next_identity += 1
    base.rules.append(rule)
    base.events.append((base.seen, "birth", rule.identity, parent.identity if parent else None))


def merge_closest(base: NaiveRules) -> None:
    """Merge the closest pair; the rule of larger support keeps its identity."""
    variances = np.array([1.0 / derive_inverse_variance(rule, base.settings) for rule in base.rules])
    centres, most = np.array([rule.c for rule in base.rules]), base.settings.most_count
    supports = np.array([min(rule.k, most) for rule in base.rules])
    a, b = (base.rules[place] for place in ward_pair(centres, variances, supports))
    if b.k > a.k:
        a, b = b, a
    pool_moments(a, b)
    bound_counts(a, np.full(len(a.n), most))
    a.H, a.G = a.H + b.H, a.G + b.G
    a.age, a.last_won, a.born = 0, max(a.last_won, b.last_won), min(a.born, b.born)
    base.remove(b)
    base.events.append((base.seen, "merge", a.identity, b.identity))


def prune(base: NaiveRules) -> None:
    """Remove inactive rules; one rule always stays."""
    inactive = [rule for rule in base.rules[::-1] if is_inactive(rule, base.seen, base.settings)]
    for rule in inactive[: len(base.rules) - 1] if any_inactive(base) else []:
        base.events.append((base.seen, "death", rule.identity, None))
        base.remove(rule)


def upkeep(base: NaiveRules) -> None:
    """Set the age of slots that are due to 0; a twin derives P from H anyway."""
    for slot in [base.whole, *base.rules]:
        if slot.age >= base.settings.upkeep_every:
            slot.age = 0
