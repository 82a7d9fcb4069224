"""More room in a rule base when rules or labels come."""

import numpy as np

from evolabel.core.rules.slots import PER_SLOT, clear
from evolabel.kernels.state import RULES, RuleArrays, Settings, allocate


def more_slots(old: RuleArrays, rules: int, settings: Settings) -> RuleArrays:
    """Arrays for more rules, with everything at its place."""
    held = old.W.shape[1] > 0
    return _filled(allocate(rules, old.P.shape[1] - 1, old.G.shape[1], settings, hold_weights=held), old)


def more_labels(old: RuleArrays, n_labels: int, settings: Settings) -> tuple[RuleArrays, Settings]:
    """Arrays (and the prior of the product space) for more labels; what is new is as in an empty slot."""
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
    """In closed form W takes room while a rule is locked, and only then."""
    wanted = settings.iterated or bool(old.locked[: old.tally[RULES] + 1].any())
    if wanted == (old.W.shape[1] > 0):
        return old
    slots, K, q = old.G.shape
    return old._replace(W=np.zeros((slots, K, q) if wanted else (slots, 0, 0)))


def _filled(new: RuleArrays, old: RuleArrays) -> RuleArrays:
    """The old arrays in the corner of the new ones."""
    for name in PER_SLOT:
        before, after = getattr(old, name), getattr(new, name)
        after[tuple(slice(0, size) for size in before.shape)] = before
    return new._replace(tally=old.tally, strange=old.strange)
