"""Room for a rule base: arrays of the right shapes, and more room when rules or labels come."""

from typing import Any

import numpy as np

from evolabel.core.lifecycle import PER_SLOT, clear
from evolabel.kernels.coupling import NONE
from evolabel.kernels.state import RULES, RuleArrays, Settings


def block_length(q: int) -> int:
    """Samples whose outer products wait for each other; they are applied eight at a time."""
    return 8 if q < 128 else 16


def allocate(
    rules: int, n_features: int, n_labels: int, settings: Settings, *, hold_weights: bool = False
) -> RuleArrays:
    """Zeroed arrays for so many rules; those this profile does not need have no elements.

    `hold_weights`: some rule is locked, so that there must be a W in closed form, too.
    """
    s, q, K = rules + 1, n_features + 1, n_labels
    d = n_features + (K if settings.product else 0)
    f = d if settings.rotated else 0
    w, g = (K, q) if settings.iterated or hold_weights else (0, 0)
    b = 1 if settings.iterated else block_length(q)
    k = K if settings.coupling > NONE else 0
    floats = {
        "c": (s, d), "M": (s, d), "n": (s, d), "k": (s,), "inv": (s, d), "F": (s, f, f), "H": (s, q, q),
        "G": (s, K, q), "P": (s, q, q), "late_H": (s, b, q), "late_P": (s, b, q), "fresh": (s,), "W": (s, w, g),
        "ybar": (s, k), "Q": (s, k, k), "mass": (s, 2 if k else 0), "top": (s, 2 if settings.iterated else 0),
        "compared": (s,), "strange": (3,),
    }  # fmt: skip
    whole = {"late": s, "age": s, "identity": s, "born": s, "won": s, "locked": s, "tally": 3}
    made: dict[str, Any] = {name: np.zeros(shape) for name, shape in floats.items()}
    made |= {name: np.zeros(size, np.int64) for name, size in whole.items()}
    return RuleArrays(**made)


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
