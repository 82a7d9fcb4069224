"""Rules that come, go and change without a sample being learned: united, removed, adopted, given room for more labels.

`core.lifecycle` has the arithmetic; here it is done to a whole rule base, and everything that happens is noted.
"""

from collections import deque

import numpy as np

from evolabel.core.rules import merging, slots
from evolabel.core.rules.allocation import fit_weights, more_labels, more_slots
from evolabel.core.rules.events import Event
from evolabel.core.rules.rule_state import RuleState
from evolabel.core.rules.words import Words
from evolabel.errors import StateError
from evolabel.kernels.moments import derive_inverse_variances
from evolabel.kernels.state import NEXT_IDENTITY, RULES, SEEN, RuleArrays, Settings
from evolabel.typing import FloatArray, IntArray

EVENTS_KEPT = 10_000  # older events are dropped, so that memory stays constant


class ChangeableRules(RuleState):
    """The state of a rule base, what happened to its rules, and names and texts that people gave them."""

    def __init__(self, n_features: int, arrays: RuleArrays, settings: Settings) -> None:
        super().__init__(n_features, arrays, settings)
        self.events: deque[Event] = deque(maxlen=EVENTS_KEPT)
        self.words = Words()

    def unite(self, first: int, second: int, kind: str = "merge") -> int:
        """Merge two rules and return the identity kept; iterated weights are merged by eq. (29)."""
        weights = merging.merged_weights(first, second, self) if self.settings.iterated else None
        kept, gone = slots.merge_pair(first, second, self.arrays, self.settings)
        if weights is not None:
            self.arrays.W[slots.slot_of(kept, self.arrays)] = weights
        self.words.gone(gone, kept)
        self.log(kind, kept, gone)
        return kept

    def shrink_to(self, rules: int) -> None:
        """Merge closest pairs until at most this many rules are left; locked rules are left alone."""
        while self.n_rules > rules:
            if len(slots.unlocked(self.arrays)) < 2:
                raise StateError(
                    "there is no room for one more rule, and no two rules can be merged; unlock or delete one first"
                )
            self.unite(*slots.closest_pair(self.arrays))

    def remove(self, slot: int, kind: str) -> None:
        """Take a rule out of the rule base."""
        identity = int(self.arrays.identity[slot])
        slots.free_slot(slot, self.arrays)
        self.words.gone(identity)
        self.log(kind, identity, None)

    def adopt(self, other: "ChangeableRules", slot: int) -> None:
        """Copy a rule of another rule base (same widths) into a new slot, under a new identity."""
        self.reserve(self.n_rules + 1)
        target, source = self.n_rules + 1, other.arrays
        self.arrays.locked[target] = source.locked[slot]
        self.arrays.tally[RULES] = target
        self.arrays = fit_weights(self.arrays, self.settings)
        for name in slots.PER_SLOT:
            if name != "W" or (source.W.shape[1] and self.arrays.W.shape[1]):
                getattr(self.arrays, name)[target] = getattr(source, name)[slot]
        self.arrays.identity[target] = self.arrays.tally[NEXT_IDENTITY]
        self.arrays.tally[NEXT_IDENTITY] += 1
        identity = int(self.arrays.identity[target])
        self.words.welcome(identity, other.words.names.get(int(source.identity[slot])))
        self.log("joined", identity, None)

    def reserve(self, rules: int) -> None:
        """Make room for this many rules; the room doubles, so that growth stays cheap."""
        if rules + 1 > len(self.arrays.c):
            self.arrays = more_slots(self.arrays, max(rules, 2 * (len(self.arrays.c) - 1)), self.settings)

    def grow_labels(self, n_labels: int) -> None:
        """Add labels nobody has seen yet: weights 0, intercept at the base rate 1 / (N + 2) (rule of succession).

        As if all samples so far had carried that rate as a soft label: G = rate * (H's intercept column).
        """
        extra = n_labels - self.n_labels
        rate = 1.0 / (self.n_seen + 2.0)
        added = np.zeros((len(self.arrays.G), extra, self.arrays.G.shape[2]))
        for slot in range(self.n_rules + 1):
            added[slot] = rate * self.hessian(slot)[-1]
        added[0, :, -1] += rate * self.settings.penalty[0, -1]
        G = np.concatenate([self.arrays.G, added], axis=1)
        self.arrays, self.settings = more_labels(self.arrays, n_labels, self.settings)
        self.arrays.G[:] = G
        if self.arrays.W.shape[1]:
            held = slice(None) if self.settings.iterated else self.arrays.locked > 0
            self.arrays.W[held, -extra:, -1] = rate

    def measure_by(self, feature_weights: FloatArray) -> None:
        """Take other weights of the features: all distances change, nothing that was learned does."""
        metric = self.settings.metric.copy()
        metric[1, : self.n_features] = feature_weights
        self.settings = self.settings._replace(metric=metric)
        derive_inverse_variances(self.arrays, self.settings)

    def renumber(self, numbers: IntArray, seen: int) -> None:
        """Give samples their numbers in the stream: sample i + 1 was number numbers[i] of `seen` samples."""
        used = slice(0, self.n_rules + 1)
        place = np.concatenate([[0], numbers])
        self.arrays.born[used] = place[self.arrays.born[used]]
        self.arrays.won[used] = place[self.arrays.won[used]]
        self.arrays.tally[SEEN] = seen
        self.events = deque((e._replace(sample=int(place[e.sample])) for e in self.events), maxlen=EVENTS_KEPT)

    def log(self, kind: str, rule: int, other: int | None, note: str = "") -> None:
        """Note what happened to a rule."""
        self.events.append(Event(self.n_seen, kind, rule, other, note))
