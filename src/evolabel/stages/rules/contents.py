"""`RuleContents`: what the arrays of a rule base hold, and how it changes other than by learning.

These changes are rare, so they are plain numpy.
"""

import copy
from typing import Self

import numpy as np

from evolabel._utils.interrupts import held
from evolabel.core.schema import Sizes, new_entries, of_features
from evolabel.stages.rules import fast_sums, inverses
from evolabel.stages.rules.arrays import RULE_ARRAYS, RULES, RuleArrays, Settings, rule_sizes, rule_switches
from evolabel.stages.rules.loops.antecedents import derive_inverse_variance
from evolabel.stages.rules.memory_need import check_growth
from evolabel.stages.rules.rule_state import RuleState, blend
from evolabel.stages.rules.slots import pool_sums
from evolabel.typing import Arrays, FloatArray, IntArray

# Computed anew when features come or go, or empty once no rows are pending.
_NOT_MOVED = ("inv", *RULE_ARRAYS.along("block"))


class RuleContents:
    """The contents of the arrays of `rules`: slots are emptied, locked and copied, labels and features come and go."""

    def __init__(self, rules: RuleState) -> None:
        self.rules = rules

    def _sizes(self, rules: int, n_labels: int) -> Sizes:
        """Return the sizes of the arrays for `rules` rules and `n_labels`."""
        return rule_sizes(rules, self.rules.n_features, n_labels)

    def allocated(self, rules: int, n_labels: int, *, holds_weights: bool = False) -> RuleArrays:
        """Return zeroed arrays for `rules` rules and `n_labels`; `holds_weights`: with weights that are stored."""
        switches = rule_switches(self.rules.settings, holds_weights=holds_weights)
        return RULE_ARRAYS.allocate(self._sizes(rules, n_labels), switches)

    # ------------------------------------------------------------------ slots

    def clear(self, slot: int) -> None:
        """Empty `slot`: no samples, and consequents equal to those of the global model (H = G = 0), or zero for it."""
        for array in self.rules.by_slot.values():
            array[slot] = 0
        self.start_inverse(slot)
        derive_inverse_variance(slot, self.rules.arrays, self.rules.settings)

    def free(self, slot: int) -> None:
        """Remove the rule in `slot`; the last rule moves there."""
        last = self.rules.n_rules
        if slot != last:
            for array in self.rules.by_slot.values():
                array[slot] = array[last]
        self.rules.arrays.counters[RULES] = last - 1

    def take_larger(self, rules: int, n_labels: int) -> RuleArrays:
        """Copy all arrays into larger ones, for `rules` rules and `n_labels`, and return the former ones."""
        old = self.rules.arrays
        with held():
            self.rules.arrays = self.allocated(rules, n_labels, holds_weights=old.W.shape[1] > 0)
            if n_labels > old.G.shape[1]:
                for slot in range(len(self.rules.arrays.c)):
                    self.clear(slot)
            self.rules.arrays = _copied_into(self.rules.arrays, old)
        return old

    def reserve(self, rules: int) -> None:
        """Make slots for `rules` rules; their number doubles, so that arrays are rarely copied.

        OutOfMemoryError if the larger arrays do not fit beside the present ones, which then stay.
        """
        slots = len(self.rules.arrays.c)
        if rules + 1 > slots:
            larger = max(rules, 2 * (slots - 1))
            check_growth(
                sum(array.nbytes for array in self.rules.by_slot.values()) // slots, self.rules.n_rules, larger
            )
            self.take_larger(larger, self.rules.n_labels)

    def start_inverse(self, slot: int) -> None:
        """Set P of `slot` to that of consequents without samples."""
        inverses.start_inverse(slot, self.rules.arrays, self.rules.settings)

    def upkeep(self, slot: int) -> None:
        """Apply the pending rows of `slot` and derive its P from H."""
        inverses.apply_pending(slot, self.rules.arrays)
        self.rules.derive_inverse(slot)

    def pool(self, a: int, b: int) -> None:
        """Add what the rule in slot `b` has learned to that in slot `a`, whose support is not smaller."""
        pool_sums(a, b, self.rules.arrays, self.rules.settings)
        self.rules.derive_inverse(a)

    # ------------------------------------------------------------------ locks

    def lock(self, slot: int, weights: FloatArray) -> None:
        """Lock the rule in `slot`, which answers with these `weights`, (K, q), from now on."""
        self.rules.arrays.locked[slot] = 1
        self.fit_weights()
        self.rules.arrays.W[slot] = weights

    def unlock(self, slot: int) -> None:
        """Unlock the rule in `slot`: it learns again."""
        self.rules.arrays.locked[slot] = 0
        self.rules.arrays.last_won[slot] = self.rules.n_seen  # it could not win while it was locked
        if not self.rules.has_weights[slot]:
            self.rules.arrays.W[slot] = 0.0
        self.fit_weights()

    def fit_weights(self) -> None:
        """Have an array W where the weights of a slot are stored, and none otherwise."""
        needed = bool(self.rules.has_weights[: self.rules.n_rules + 1].any())
        self.rules.arrays = _with_weights(self.rules.arrays, needed=needed)

    # ------------------------------------------------------------------ contents that come from elsewhere

    def set_slots(self, places: IntArray | slice, rows: Arrays) -> None:
        """Set the slots at `places` to `rows`, by the names of the arrays; weights only where they are stored."""
        for name, array in self.rules.by_slot.items():
            if name != "W":
                array[places] = rows[name]
        self.fit_weights()
        if self.rules.arrays.W.shape[1:] == rows["W"].shape[1:]:
            self.rules.arrays.W[places] = rows["W"]

    def restore(self, stored: Arrays) -> None:
        """Set these rules, of which there are none yet, to copies of checked `stored` arrays by name."""
        C = int(stored["counters"][RULES])
        self.reserve(C)
        self.rules.arrays.counters[:] = stored["counters"]
        self.set_slots(slice(0, C + 1), stored)
        self.rules.arrays.winner_stats[:] = stored["winner_stats"]

    def copied(self) -> Self:
        """Return contents with copies of all arrays, to which an edit can go back by `take_arrays`."""
        twin = copy.copy(self.rules)
        twin.arrays = RuleArrays._make(array.copy() for array in self.rules.arrays)
        return type(self)(twin)

    def take_arrays(self, other: Self) -> None:
        """Take all arrays of `other`, as they are."""
        self.rules.arrays = other.rules.arrays

    def take_features(self, other: RuleState, kept: IntArray) -> None:
        """Take the rules of `other`, whose columns `kept` are the first features; new ones are as in an empty slot."""
        old = other.arrays
        self.rules.arrays = new = self.allocated(len(old.c) - 1, other.n_labels, holds_weights=old.W.shape[1] > 0)
        for slot in range(len(old.c)):
            self.clear(slot)
            inverses.apply_pending(slot, old)
            if fast_sums.has_fast_sums(old):
                inverses.apply_pending(slot, fast_sums.fast_arrays(old))
        RULE_ARRAYS.fill(new, old, self._sources(other, kept), leave_out=_NOT_MOVED)
        for slot in range(other.n_rules + 1):
            derive_inverse_variance(slot, new, self.rules.settings)
        self.rules.arrays = new._replace(counters=old.counters, winner_stats=old.winner_stats)

    def _sources(self, other: RuleState, kept: IntArray) -> dict[str, IntArray]:
        """Return the former place in `other` of each feature, regressor and dimension, if the columns `kept` stay."""
        sources = of_features(kept, other.n_features, self.rules.n_features)
        return {**sources, "dimension": sources["feature"]}

    # ------------------------------------------------------------------ merging of models

    def reorder_labels(self, order: IntArray) -> None:
        """Put the labels into this `order`."""
        self.rules.arrays = RULE_ARRAYS.rearranged(self.rules.arrays, {"label": order})

    def translate(self, slot: int, a: FloatArray, b: FloatArray, settings: Settings) -> None:
        """Express centre and spread of `slot` in scores `a` z + `b`; what is derived follows from `settings`."""
        arrays = self.rules.arrays
        arrays.c[slot] = a * arrays.c[slot] + b
        arrays.M[slot] *= a**2
        derive_inverse_variance(slot, arrays, settings)

    def leave_labels(self, slot: int, labels: IntArray, part: FloatArray, W: FloatArray, known: RuleState) -> None:
        """Let only a `part` of the samples of `slot` count for each of the `labels`, and the weights `W` for the rest.

        `known` are the rules that `W`, (labels, q), are of. The sums are not changed.
        """
        if self.rules.has_weights[slot]:
            blend(self.rules.arrays.W[slot], labels, part, W)


def _with_weights(old: RuleArrays, *, needed: bool) -> RuleArrays:
    """Return `old` with an array W where it is `needed`, as it is by locked rules, and without one otherwise."""
    if needed == (old.W.shape[1] > 0):
        return old
    slots, K, q = old.G.shape
    return old._replace(W=np.zeros((slots, K, q) if needed else (slots, 0, 0)))


def _copied_into(new: RuleArrays, old: RuleArrays) -> RuleArrays:
    """Return `new` with the arrays of `old` copied to the first places along every axis."""
    sizes = {"slot": len(new.k), "label": new.G.shape[1], "dimension": new.c.shape[1]}
    known = {"slot": len(old.k), "label": old.G.shape[1], "dimension": old.c.shape[1]}
    RULE_ARRAYS.fill(new, old, {axis: new_entries(known[axis], size) for axis, size in sizes.items()})
    return new._replace(counters=old.counters, winner_stats=old.winner_stats)
