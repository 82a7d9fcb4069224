"""Larger arrays for more rules or labels."""

import numpy as np

from evolabel.core.schema import new_entries
from evolabel.stages.rules.arrays import RULE_ARRAYS, RULES, RuleArrays, Settings, allocate
from evolabel.stages.rules.slots import clear


def more_slots(old: RuleArrays, rules: int, settings: Settings) -> RuleArrays:
    """Return arrays for `rules` rules with the contents of `old`, which has these `settings`."""
    new = allocate(rules, old.P.shape[1] - 1, old.G.shape[1], settings, hold_weights=old.W.shape[1] > 0)
    return _filled(new, old)


def more_labels(old: RuleArrays, n_labels: int, settings: Settings) -> tuple[RuleArrays, Settings]:
    """Return arrays, and settings of the product space, for `n_labels` labels; new entries are as in an empty slot."""
    p = old.P.shape[1] - 1
    if settings.product:
        labels = np.repeat(settings.metric[:, -1:], n_labels, axis=1)
        settings = settings._replace(metric=np.hstack([settings.metric[:, :p], labels]))
    new = allocate(len(old.c) - 1, p, n_labels, settings, hold_weights=old.W.shape[1] > 0)
    for slot in range(len(old.c)):
        clear(slot, new, settings)
    new = _filled(new, old)
    if settings.rotated and settings.product:  # as wide as in an empty slot, whatever the support
        for j in range(old.c.shape[1], new.c.shape[1]):
            new.F[:, j, j] = np.sqrt(settings.prior[j] * (settings.prior_count + np.maximum(new.k - 1.0, 0.0)))
    return new, settings


def fit_weights(old: RuleArrays, settings: Settings) -> RuleArrays:
    """Return `old` with an array W if rules are locked or iterated, and without one otherwise."""
    needed = settings.iterated or bool(old.locked[: old.counters[RULES] + 1].any())
    if needed == (old.W.shape[1] > 0):
        return old
    slots, K, q = old.G.shape
    return old._replace(W=np.zeros((slots, K, q) if needed else (slots, 0, 0)))


def _filled(new: RuleArrays, old: RuleArrays) -> RuleArrays:
    """Return `new` with the arrays of `old` copied to the first places along every axis."""
    sizes = {"slot": len(new.k), "label": new.G.shape[1], "dimension": new.c.shape[1]}
    known = {"slot": len(old.k), "label": old.G.shape[1], "dimension": old.c.shape[1]}
    RULE_ARRAYS.fill(new, old, {axis: new_entries(known[axis], size) for axis, size in sizes.items()})
    return new._replace(counters=old.counters, winner_stats=old.winner_stats)
