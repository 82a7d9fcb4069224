"""The sums of the fast member of `stages.drift`: how it begins, is cut, and hands its sums to the slow one.

These changes are rare, so they are plain numpy. The fast member has sums of its own for every slot, and shares centres,
spreads and memberships with the slow member, whose sums are H, G and P.
"""

import numpy as np

from evolabel.stages.rules.arrays import BLOCKS, RULES, RuleArrays, Settings
from evolabel.stages.rules.inverses import apply_pending, derive_inverse
from evolabel.typing import BoolArray

KEPT_AT_CUT = 0.02  # share of its sums that the fast member keeps when the stream has changed

# Arrays of the fast member, by the arrays of the slow one in whose place they stand.
FAST_ARRAYS = {name: f"fast_{name}" for name in RuleArrays._fields if f"fast_{name}" in RuleArrays._fields}


def fast_arrays(rules: RuleArrays) -> RuleArrays:
    """Return `rules` with the sums of the fast member in the places of H, G and P; memory is shared."""
    places = {name: getattr(rules, fast) for name, fast in FAST_ARRAYS.items()}
    return rules._replace(age=np.zeros_like(rules.age), **places)


def has_fast_sums(rules: RuleArrays) -> bool:
    """Return whether `rules` have sums of a fast member."""
    return bool(rules.fast_H.shape[1] > 0)


def copy_slow(rules: RuleArrays, slot: int, block: int) -> None:
    """Set the fast sums of `slot` to the slow ones; they have faded up to `block`."""
    for name, fast in FAST_ARRAYS.items():
        getattr(rules, fast)[slot] = getattr(rules, name)[slot]
    rules.fast_block[slot] = block


def set_block(block: int, rules: RuleArrays, slots: slice | int = slice(None)) -> None:
    """Note that the fast sums of `slots` have faded up to `block`."""
    rules.fast_block[slots] = block


def fade_to(block: int, rules: RuleArrays, settings: Settings) -> None:
    """Fade the fast sums of all slots but locked ones up to `block`, and derive P."""
    for slot in _learning(rules):
        missed = max(block - int(rules.fast_block[slot]), 0)
        multiply(slot, float(np.exp(-missed / BLOCKS)), fast_arrays(rules), settings)
        rules.fast_block[slot] = block


def cut(rules: RuleArrays, settings: Settings) -> None:
    """Multiply the fast sums of all slots but locked ones by `KEPT_AT_CUT`."""
    for slot in _learning(rules):
        multiply(slot, KEPT_AT_CUT, fast_arrays(rules), settings)


def reverse_labels(labels: BoolArray, rules: RuleArrays) -> None:
    """Change the fast sums of `labels`, in all slots but locked ones, to those of their opposites 1 - y."""
    fast = fast_arrays(rules)
    for slot in _learning(rules):
        apply_pending(slot, fast)
        rules.fast_G[slot][labels] = rules.fast_H[slot][-1] - rules.fast_G[slot][labels]  # the last entry of r is 1


def multiply(slot: int, factor: float, sums: RuleArrays, settings: Settings) -> None:
    """Multiply the `sums` of `slot`, of the slow member or `fast_arrays`, by `factor`, and derive P."""
    apply_pending(slot, sums)
    sums.H[slot] *= factor
    sums.G[slot] *= factor
    derive_inverse(slot, sums, settings)


def renew_slow(block: int, rules: RuleArrays, settings: Settings) -> None:
    """Set the slow sums of all slots but locked ones to the fast ones, faded up to `block`.

    Fast sums of rules that have not fired lately fade when they fire again: `fast_block` shows how long they have not.
    """
    for slot in _learning(rules):
        missed = max(block - int(rules.fast_block[slot]), 0)
        for name, fast in FAST_ARRAYS.items():
            getattr(rules, name)[slot] = getattr(rules, fast)[slot]
        multiply(slot, float(np.exp(-missed / BLOCKS)), rules, settings)
        rules.age[slot] = 0


def pool(a: int, b: int, rules: RuleArrays, settings: Settings) -> None:
    """Add the fast sums of slot `b` to those of slot `a`; those that have faded less are faded as far as the others."""
    if not has_fast_sums(rules):
        return
    late = max(int(rules.fast_block[a]), int(rules.fast_block[b]))
    for slot in (a, b):
        multiply(slot, float(np.exp((int(rules.fast_block[slot]) - late) / BLOCKS)), fast_arrays(rules), settings)
    rules.fast_H[a] += rules.fast_H[b]
    rules.fast_G[a] += rules.fast_G[b]
    rules.fast_block[a] = late
    derive_inverse(a, fast_arrays(rules), settings)


def _learning(rules: RuleArrays) -> list[int]:
    """Return slot 0 and the slots of all rules that are not locked."""
    return np.flatnonzero(rules.locked[: int(rules.counters[RULES]) + 1] == 0).tolist()
