"""The rule base: how it learns, and what learning does to its rules."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from evolabel._utils.interrupts import held
from evolabel.core.batch import Batch
from evolabel.core.one_thread import one_blas_thread
from evolabel.core.rules import inverses, merging, slots
from evolabel.core.rules.proximal import BLOWN_UP, minimise
from evolabel.core.rules.rule_changes import ChangeableRules
from evolabel.core.rules.scaling import Scaler
from evolabel.core.rules.weights import MANY_ROWS, NO_WEIGHTS, answers, formed_weights
from evolabel.core.sizes import check_batch
from evolabel.errors import DivergenceError
from evolabel.kernels.antecedents import join
from evolabel.kernels.compile import direct_by_profile, interpreted
from evolabel.kernels.learn import LOOSE, learn_rows
from evolabel.kernels.moments import absorb
from evolabel.kernels.state import DIVERGED, DONE, NOVEL, SEEN, RuleArrays, Settings, allocate, paper_arrays
from evolabel.typing import FloatArray

FIRST_CAPACITY = 32  # rules there is room for at the start

_learn_rows, _absorb = direct_by_profile(learn_rows), interpreted(absorb)


class RuleBase(ChangeableRules):
    """The rules of EFC-ML and their global model, on their way through a stream."""

    def __init__(self, n_features: int, n_labels: int, settings: Settings) -> None:
        capacity = min(FIRST_CAPACITY, settings.max_rules)
        super().__init__(n_features, allocate(capacity, n_features, n_labels, settings), settings)
        self.diverged = False
        self.mobility = 1.0  # how far a sample moves the rule it falls into
        slots.clear(0, self.arrays, settings)

    def learn(self, batch: Batch, *, structure: bool = True, consequents: bool = True) -> None:
        """Learn the scaled rows of `batch` one after the other: `structure`, `consequents`, or both.

        Its outputs, if given, receive each row's output from before the row was learned.
        """
        check_batch(batch, self.n_features, self.n_labels)
        self._go_on(batch, *self._learn(batch, structure, consequents), structure, consequents)

    def learn_raw(self, batch: Batch, scaler: Scaler) -> None:
        """Scale the raw rows of `batch` by `scaler`, and learn them."""
        kept = self._kept()
        check_batch(batch, self.n_features, kept.n_labels)
        X, Y, weights, confidences, out, _ = batch
        Z = scaler.transform(X)
        done, reason = _learn_rows(*kept.packed, Z, Y, weights, confidences, self.mobility, True, True, False, out)
        if reason != DONE:
            self._go_on(batch._replace(X=Z), done, reason)

    def _learn(self, batch: Batch, structure: bool, consequents: bool, born: bool = False) -> tuple[int, int]:
        """One call of the loop: how many rows it has learned, and why it came back."""
        Z, Y, weights, confidences, out, _ = batch
        flags = structure, consequents, born
        done, reason = _learn_rows(*self.packed(), Z, Y, weights, confidences, self.mobility, *flags, out)
        return done, reason

    def _go_on(
        self,
        batch: Batch,
        done: int,
        reason: int,
        structure: bool = True,
        consequents: bool = True,
    ) -> None:
        """Do what the loop has come back for after so many rows, and learn the rest; Ctrl-C waits until then."""
        if reason == DONE:
            return
        with held():
            while reason != DONE:
                batch = batch.rows(slice(done, None))
                if reason == NOVEL:
                    weight = float(batch.weights[0]) if len(batch.weights) else 1.0
                    self._let_be_born(self._joint(batch.X[0], batch.Y[0]), weight)
                elif reason == DIVERGED:
                    self.diverged = True
                    raise DivergenceError(BLOWN_UP.format(when=f"at sample {self.n_seen}"))
                else:
                    self._upkeep()
                    if structure:
                        self._prune()
                        self._merge_touching()
                done, reason = self._learn(batch, structure, consequents, born=reason == NOVEL)

    @contextmanager
    def moving_by(self, mobility: float) -> Iterator[None]:
        """For a while, samples move the rules they fall into only so far; consequents and births are as ever."""
        self.mobility = mobility
        try:
            yield
        finally:
            self.mobility = 1.0

    def _joint(self, z: FloatArray, y: FloatArray) -> FloatArray:
        """The sample in the space of the antecedents."""
        joint = np.empty(self.arrays.c.shape[1])
        join(z, y, self.settings.label_weight, joint)
        return joint

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_scratch": None, "_packed": None}  # a copy has arrays of its own

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Take over a state; arrays of a memory map that may only be read are copied, as kernels need to write."""
        self.__dict__.update(state)
        if not self.arrays.c.flags.writeable:
            self.arrays = RuleArrays._make(np.array(array) for array in self.arrays)
            penalty, lean, metric = (np.array(getattr(self.settings, name)) for name in ("penalty", "lean", "metric"))
            self.settings = self.settings._replace(penalty=penalty, lean=lean, metric=metric)

    def _let_be_born(self, s: FloatArray, weight: float) -> None:
        """Start a rule at s; a full rule base first merges its closest pair, and where locks forbid, takes s in."""
        self.arrays.tally[SEEN] += 1
        if self.n_rules >= self.settings.max_rules:
            if len(slots.unlocked(self.arrays)) < 2:
                self._take_in(s, weight)
                return
            self.shrink_to(self.settings.max_rules - 1)
        self.reserve(self.n_rules + 1)
        parent = self.nearest_rule(s)
        self._absorb(0, s, weight)
        slot = slots.give_birth(s, parent, weight, self.arrays, self.settings)
        nearest = int(self.arrays.identity[parent]) if parent else None
        self.log("birth", int(self.arrays.identity[slot]), nearest)

    def _take_in(self, s: FloatArray, weight: float) -> None:
        """A sample that is novel, where no rule can be started: the nearest rule follows it, unless it is locked."""
        winner = self.nearest_rule(s)
        self._absorb(0, s, weight)
        if not self.arrays.locked[winner]:
            self._absorb(winner, s, weight)

    def _absorb(self, slot: int, s: FloatArray, weight: float) -> None:
        """Centre and spread of a slot take in a sample."""
        _absorb(slot, s, weight, self.arrays, self.settings, paper_arrays(self.arrays))

    def _upkeep(self) -> None:
        """Derive P anew for the slots whose time has come, and step bounds that have become loose."""
        for slot in np.flatnonzero(self.arrays.age >= self.settings.upkeep_every):
            inverses.upkeep(int(slot), self.arrays, self.settings)
        if self.settings.iterated:
            for slot in np.flatnonzero(self.arrays.top[:, 0] > LOOSE * self.arrays.top[:, 1]):
                inverses.tighten(int(slot), self.arrays, self.settings)

    def _merge_touching(self) -> None:
        """Compare the rules that have grown with the others; unite those that touch and agree."""
        every = self.settings.merge_every
        while every and self.n_rules > 1:
            free = slots.unlocked(self.arrays)
            grown = free[self.arrays.k[free] - self.arrays.compared[free] >= every]
            if not len(grown):
                return
            slot = int(grown[0])
            self.arrays.compared[slot] = self.arrays.k[slot]
            partner = merging.partner_of(slot, self)
            if partner:
                self.unite(slot, partner)

    def _prune(self) -> None:
        """Remove starved rules."""
        for slot in slots.starved(self.arrays, self.settings):
            self.remove(slot, "death")

    def derive_inverses(self) -> None:
        """Derive P of all slots from their statistics; nothing fades, and upkeep stays as due as it was."""
        age, fresh = self.arrays.age.copy(), self.arrays.fresh.copy()
        for slot in range(self.n_rules + 1):
            inverses.apply_late(slot, self.arrays)
            inverses.derive_inverse(slot, self.arrays, self.settings)
        self.arrays.age[:], self.arrays.fresh[:] = age, fresh

    def start_consequents(self, settings: Settings) -> None:
        """Take other ridges, as long as no consequents have been learned."""
        self.settings = settings
        for slot in range(self.n_rules + 1):
            inverses.start_inverse(slot, self.arrays, settings)

    @one_blas_thread()
    def accumulate(self, batch: Batch) -> None:
        """Batch phase of iterated consequents: H, G, P and label moments of all rows of `batch`, weights at eq. (18).

        Its outputs receive the answers of least squares, each from before its row was learned.
        """
        mine = self.settings
        self.settings = mine._replace(iterated=False)
        try:
            self.learn(batch, structure=False)
        finally:
            self.settings = mine
        a, s = self.arrays, self.settings
        for slot in range(self.n_rules + 1):
            inverses.upkeep(slot, a, s._replace(forgetting=1.0))
            if slot > 0:
                a.W[slot] = (a.G[slot] + s.lean * a.W[0]) @ self.inverse(slot)

    def minimise(self) -> None:
        """Algorithm 1 for every rule: from the least squares solution, eq. (18), to the minimum."""
        if self.settings.prox_steps:
            for slot in range(1, self.n_rules + 1):
                self.arrays.W[slot] = self._minimum(slot, self.arrays.W[slot])

    def _minimum(self, slot: int, start: FloatArray) -> FloatArray:
        """The weights that minimise a rule's objective; a divergence tells at which sample."""
        try:
            return minimise(self.problem(slot), start)
        except DivergenceError:
            when = f"in the batch phase, at sample {self.n_seen}"
            raise DivergenceError(BLOWN_UP.format(when=when)) from None

    def outputs(self, Z: FloatArray) -> FloatArray:
        """Eq. (2) for scaled rows, (rows, K); many rows by weights formed once, the same up to rounding."""
        return answers(self, Z, formed_weights(self) if len(Z) >= MANY_ROWS else NO_WEIGHTS).outputs
