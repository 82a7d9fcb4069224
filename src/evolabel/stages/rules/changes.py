"""`ChangingRules`: a rule base whose slots, widths and contents change other than by learning.

These changes are rare, so they are plain numpy.
"""

import copy
from typing import Any, Self

import numpy as np

from evolabel._utils.interrupts import held
from evolabel.core.schema import Sizes, of_features
from evolabel.stages.rules import fast_sums, inverses
from evolabel.stages.rules.allocation import filled, fit_weights
from evolabel.stages.rules.arrays import RULE_ARRAYS, RULES, RuleArrays, Settings, rule_sizes, rule_switches
from evolabel.stages.rules.label_rates import blend, set_rate
from evolabel.stages.rules.loops.moments import derive_inverse_variance
from evolabel.stages.rules.rule_state import RuleState
from evolabel.typing import Arrays, FloatArray, IntArray

# Computed anew when features come or go, or empty once no rows are pending.
_NOT_MOVED = ("inv", *RULE_ARRAYS.along("block"))


class ChangingRules(RuleState):
    """A `RuleState` whose rules are emptied, locked and copied, and that takes other labels and features."""

    def _sizes(self, rules: int, n_labels: int) -> Sizes:
        """Return the sizes of the arrays for `rules` rules and `n_labels`."""
        return rule_sizes(rules, self.n_features, n_labels)

    def _allocated(self, rules: int, n_labels: int, *, holds_weights: bool = False) -> RuleArrays:
        """Return zeroed arrays for `rules` rules and `n_labels`; `holds_weights`: with weights that are stored."""
        switches = rule_switches(self.settings, holds_weights=holds_weights)
        return RULE_ARRAYS.allocate(self._sizes(rules, n_labels), switches)

    # ------------------------------------------------------------------ slots

    def clear(self, slot: int) -> None:
        """Empty `slot`: no samples, and consequents equal to those of the global model (H = G = 0), or zero for it."""
        for array in self.by_slot.values():
            array[slot] = 0
        self.start_inverse(slot)
        derive_inverse_variance(slot, self.arrays, self.settings)

    def free_slot(self, slot: int) -> None:
        """Remove the rule in `slot`; the last rule moves there."""
        last = self.n_rules
        if slot != last:
            for array in self.by_slot.values():
                array[slot] = array[last]
        self.arrays.counters[RULES] = last - 1

    def reserve(self, rules: int) -> None:
        """Make slots for `rules` rules; their number doubles, so that arrays are rarely copied."""
        if rules + 1 > len(self.arrays.c):
            self._take_larger(max(rules, 2 * (len(self.arrays.c) - 1)), self.n_labels)

    def _take_larger(self, rules: int, n_labels: int) -> RuleArrays:
        """Copy all arrays into larger ones, for `rules` rules and `n_labels`, and return the former ones."""
        old = self.arrays
        with held():
            self.arrays = self._allocated(rules, n_labels, holds_weights=old.W.shape[1] > 0)
            if n_labels > old.G.shape[1]:
                for slot in range(len(self.arrays.c)):
                    self.clear(slot)
            self.arrays = filled(self.arrays, old)
        return old

    def grow_labels(self, n_labels: int) -> None:
        """Add labels up to `n_labels`, with weights 0 and the intercept 1 / (N + 2) (rule of succession).

        All samples so far then count as if they had carried that rate as a soft label: G = rate * (H's last column).
        """
        extra = n_labels - self.n_labels
        rate = self.rate_of_new_label
        self._take_larger(len(self.arrays.c) - 1, n_labels)
        set_rate(self, extra, rate)
        if self.arrays.W.shape[1]:
            held = [slot for slot in range(self.n_rules + 1) if self.holds_weights(slot)]
            self.arrays.W[held, -extra:, -1] = rate

    @property
    def rate_of_new_label(self) -> float:
        """Share of the samples that are expected to carry a label which none has carried yet."""
        return 1.0 / (self.n_seen + 2.0)

    # ------------------------------------------------------------------ locks

    def lock(self, slot: int, weights: FloatArray) -> None:
        """Lock the rule in `slot`, which answers with these `weights`, (K, q), from now on."""
        self.arrays.locked[slot] = 1
        self.fit_weights()
        self.arrays.W[slot] = weights

    def unlock(self, slot: int) -> None:
        """Unlock the rule in `slot`: it learns again."""
        self.arrays.locked[slot] = 0
        self.arrays.last_won[slot] = self.n_seen  # it could not win while it was locked
        if not self.holds_weights(slot):
            self.arrays.W[slot] = 0.0
        self.fit_weights()

    def fit_weights(self) -> None:
        """Have an array W where the weights of a slot are stored, and none otherwise."""
        needed = any(self.holds_weights(slot) for slot in range(self.n_rules + 1))
        self.arrays = fit_weights(self.arrays, needed=needed)

    # ------------------------------------------------------------------ contents that come from elsewhere

    def set_slots(self, places: IntArray | slice, rows: Arrays) -> None:
        """Set the slots at `places` to `rows`, by the names of the arrays; weights only where they are stored."""
        for name, array in self.by_slot.items():
            if name != "W":
                array[places] = rows[name]
        self.fit_weights()
        if self.arrays.W.shape[1:] == rows["W"].shape[1:]:
            self.arrays.W[places] = rows["W"]

    def restore(self, stored: Arrays) -> None:
        """Set these rules, of which there are none yet, to copies of checked `stored` arrays by name."""
        C = int(stored["counters"][RULES])
        self.reserve(C)
        self.arrays.counters[:] = stored["counters"]
        self.set_slots(slice(0, C + 1), stored)
        self.arrays.winner_stats[:] = stored["winner_stats"]

    def with_copied_arrays(self) -> Self:
        """Return these rules with copies of all arrays, to which an edit can go back by `take_arrays`."""
        twin = copy.copy(self)
        twin.arrays = RuleArrays._make(array.copy() for array in self.arrays)
        return twin

    def take_arrays(self, other: Self) -> None:
        """Take all arrays of `other`, as they are."""
        self.arrays = other.arrays

    def take_features(self, other: Self, kept: IntArray) -> None:
        """Take the rules of `other`, whose columns `kept` are the first features; new ones are as in an empty slot."""
        old = other.arrays
        self.arrays = new = self._allocated(len(old.c) - 1, other.n_labels, holds_weights=old.W.shape[1] > 0)
        for slot in range(len(old.c)):
            self.clear(slot)
            inverses.apply_pending(slot, old)
            if fast_sums.has_fast_sums(old):
                inverses.apply_pending(slot, fast_sums.fast_arrays(old))
        RULE_ARRAYS.fill(new, old, self._sources(other, kept), leave_out=_NOT_MOVED)
        for slot in range(other.n_rules + 1):
            derive_inverse_variance(slot, new, self.settings)
        self.arrays = new._replace(counters=old.counters, winner_stats=old.winner_stats)

    def _sources(self, other: Self, kept: IntArray) -> dict[str, IntArray]:
        """Return the former place in `other` of each feature, regressor and dimension, if the columns `kept` stay."""
        sources = of_features(kept, other.n_features, self.n_features)
        return {**sources, "dimension": sources["feature"]}

    # ------------------------------------------------------------------ merging of models

    @property
    def kind(self) -> dict[str, object]:
        """What rule bases must agree in, by name, so that their statistics can be added."""
        return {"follow_drift": self.settings.memory > 0}

    def reorder_labels(self, order: IntArray) -> None:
        """Put the labels into this `order`."""
        self.arrays = RULE_ARRAYS.rearranged(self.arrays, {"label": order})

    def translate(self, slot: int, a: FloatArray, b: FloatArray, settings: Settings) -> None:
        """Express centre and spread of `slot` in scores `a` z + `b`; what is derived follows from `settings`."""
        arrays = self.arrays
        arrays.c[slot] = a * arrays.c[slot] + b
        arrays.M[slot] *= a**2
        derive_inverse_variance(slot, arrays, settings)

    def leave_labels(self, slot: int, labels: IntArray, part: FloatArray, W: FloatArray, known: RuleState) -> None:
        """Let only a `part` of the samples of `slot` count for each of the `labels`, and the weights `W` for the rest.

        `known` are the rules that `W`, (labels, q), are of. The sums are not changed.
        """
        if self.holds_weights(slot):
            blend(self.arrays.W[slot], labels, part, W)

    # ------------------------------------------------------------------ copies

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Restore `state`; read-only arrays, as of a memory map, are copied because kernels write into them."""
        self.__dict__.update(state)
        if not self.arrays.c.flags.writeable:
            self.arrays = RuleArrays._make(np.array(array) for array in self.arrays)
            copies: dict[str, Any] = {name: np.array(getattr(self.settings, name)) for name in ("penalty", "metric")}
            self.settings = self.settings._replace(**copies)
