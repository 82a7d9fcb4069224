"""Larger arrays for more rules or labels."""

import numpy as np

from evolabel.core.schema import new_entries
from evolabel.stages.rules.arrays import RULE_ARRAYS, RuleArrays


def fit_weights(old: RuleArrays, *, needed: bool) -> RuleArrays:
    """Return `old` with an array W where it is `needed`, as it is by locked rules, and without one otherwise."""
    if needed == (old.W.shape[1] > 0):
        return old
    slots, K, q = old.G.shape
    return old._replace(W=np.zeros((slots, K, q) if needed else (slots, 0, 0)))


def copied_into(new: RuleArrays, old: RuleArrays) -> RuleArrays:
    """Return `new` with the arrays of `old` copied to the first places along every axis."""
    sizes = {"slot": len(new.k), "label": new.G.shape[1], "dimension": new.c.shape[1]}
    known = {"slot": len(old.k), "label": old.G.shape[1], "dimension": old.c.shape[1]}
    RULE_ARRAYS.fill(new, old, {axis: new_entries(known[axis], size) for axis, size in sizes.items()})
    return new._replace(counters=old.counters, winner_stats=old.winner_stats)
