"""`RuleBase`: the rules of EFC-ML and their global model; how they learn, and how rules are created and removed."""

from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, ClassVar, Protocol

import numpy as np

from evolabel._utils.interrupts import held
from evolabel.core.events import Event, RuleNames
from evolabel.core.rows import Batch, Rows, check_batch, misfit
from evolabel.engine.compile import direct, interpreted
from evolabel.errors import StateError
from evolabel.stages.rules import slots
from evolabel.stages.rules.arrays import (
    DONE,
    FIRST_CAPACITY,
    NEXT_IDENTITY,
    NOVEL,
    RULES,
    SEEN,
    RuleArrays,
    Settings,
)
from evolabel.stages.rules.contents import RuleContents
from evolabel.stages.rules.loops.antecedents import update_moments
from evolabel.stages.rules.loops.learn import learn_alone
from evolabel.stages.rules.rule_state import RuleState, set_rate
from evolabel.stages.rules.weights import MANY_ROWS, NO_WEIGHTS, Moments, VarianceTerms, answers, weights_of_all
from evolabel.stages.scaling.stage import Scaler
from evolabel.typing import Arrays, FloatArray


class Beside(Protocol):
    """Members that answer and learn each row in one compiled loop with the rules of a rule base."""

    loop: ClassVar[Callable[..., tuple[int, int]]]
    """The compiled loop that learns rows with all members, as `model.pipeline.learn_rows`."""

    @property
    def packed(self) -> Any:
        """The members as the loop takes them."""

    def adapt(self) -> None:
        """Change the members as the last row demands."""

    def give_up_slot(self) -> bool:
        """Merge away a rule that is not needed any more; return whether there was one."""


EVENTS_KEPT = 10_000  # older events are dropped, so that memory stays constant

_learn_alone, _update_moments = direct(learn_alone), interpreted(update_moments)


class RuleBase(RuleState):
    """The rules and their global model while they learn a stream.

    Parameters
    ----------
    n_features, n_labels : int
        Widths of scaled rows and of their labels.
    settings : Settings
        Parameters of the loops.
    stored : dict of str to array, optional
        Arrays by name, used as they are; by default there are no rules.

    Attributes
    ----------
    events : deque of Event
        The last `EVENTS_KEPT` changes of the rules.
    n_events : int
        Number of changes that were ever logged; only the difference between two moments has a meaning.
    rule_names : RuleNames
        Names of rules and texts of rules that people wrote.
    antecedent_rate : float
        Factor on the weight of a sample in the moments of its winner.
    beside : Beside or None
        Members that answer and learn beside the rules.
    """

    name = "rules"

    def __init__(self, n_features: int, n_labels: int, settings: Settings, stored: Arrays | None = None) -> None:
        self.n_features, self.settings = n_features, settings
        if stored is None:
            made = self.contents.allocated(min(FIRST_CAPACITY, settings.max_rules), n_labels)
        else:
            made = RuleArrays(**{name: stored[name] for name in RuleArrays._fields})
        super().__init__(n_features, made, settings)
        self.events: deque[Event] = deque(maxlen=EVENTS_KEPT)
        self.n_events = 0
        self.rule_names = RuleNames()
        self.antecedent_rate = 1.0
        self.beside: Beside | None = None
        if stored is None:
            self.contents.clear(0)

    # ------------------------------------------------------------------ learning

    def learn(self, batch: Batch, *, structure: bool = True, consequents: bool = True) -> None:
        """Learn the scaled rows of `batch` one after the other: `structure`, `consequents`, or both.

        Its outputs, if given, receive each row's output from before the row was learned. Members beside the rules need
        its raw rows, too.
        """
        check_batch(batch, self.n_features, self.n_labels)
        self._resume(batch, *self._learn(batch, structure, consequents), structure, consequents)

    def learn_raw(self, batch: Batch, scaler: Scaler) -> None:
        """Learn the raw rows of a checked `batch`, scaled by `scaler`; its `read`, if given, receives them as read.

        Members beside the rules may correct sensors in between, so that rows are then scaled one by one, in the loop.
        """
        X, Y, weights, confidences, out, _, _, read, *_ = batch
        if self.beside is None:
            if len(read):
                read[:] = X
            Z = scaler.transform(X)
            done, reason = self._run(Z, batch, structure=True, consequents=True, created=False)
        else:
            Z, rest = np.empty(X.shape), (Y, weights, confidences, self.antecedent_rate, True, True, False, out)
            done, reason = self.beside.loop(self.packed, self.beside.packed, X, Z, read, *rest)
        if reason != DONE:
            self._resume(batch._replace(X=Z, raw=X), done, reason)

    def _run(
        self, Z: FloatArray, batch: Batch, *, structure: bool, consequents: bool, created: bool
    ) -> tuple[int, int]:
        """Learn the scaled rows `Z`, with the labels of `batch`, by the rules alone; as the loop `learn_alone`."""
        _, Y, weights, confidences, out, *_ = batch
        rate = self.antecedent_rate
        return _learn_alone(self.packed, Z, Y, weights, confidences, rate, structure, consequents, created, out)

    def _learn(self, batch: Batch, structure: bool, consequents: bool, created: bool = False) -> tuple[int, int]:
        """Call the loop once; return how many rows it has learned, and its reason to stop."""
        if self.beside is None:
            return self._run(batch.X, batch, structure=structure, consequents=consequents, created=created)
        Z, Y, weights, confidences, out, _, raw, read, *_ = batch
        if len(raw) != len(Z):
            raise misfit({"raw": raw}, f"{len(Z)} rows")
        rest = Y, weights, confidences, self.antecedent_rate, structure, consequents, created, out
        return self.beside.loop(self.packed, self.beside.packed, raw, Z, read, *rest)

    def _resume(
        self,
        batch: Batch,
        done: int,
        reason: int,
        structure: bool = True,
        consequents: bool = True,
    ) -> None:
        """Do what the loop has stopped for after `done` rows, and learn the rest; Ctrl-C waits until the end."""
        if reason == DONE:
            return
        with held():
            while reason != DONE:
                batch = batch.rows(slice(done, None))
                if reason == NOVEL:  # it counts in full, partly labelled or not: a support far below 1 has no radius
                    weight = float(batch.weights[0]) if len(batch.weights) else 1.0
                    self._create_rule(self._antecedent(batch.X[0], batch.Y[0]), weight)
                else:
                    self._maintain(reason, structure=structure)
                    if self.beside is not None:
                        self.beside.adapt()
                done, reason = self._learn(batch, structure, consequents, created=reason == NOVEL)

    def _maintain(self, reason: int, *, structure: bool) -> None:
        """Do what is due where the loop has stopped for this `reason`; rules go only if `structure` is learned."""
        self._upkeep()
        if structure:
            self._prune()

    def _antecedent(self, z: FloatArray, y: FloatArray) -> FloatArray:
        """Return the sample of features `z` and labels `y` as antecedents take it, (d,)."""
        return z

    def _create_rule(self, s: FloatArray, weight: float) -> None:
        """Create a rule at `s` of this `weight`. A full rule base first merges its closest pair.

        If locks forbid that, no rule is created, and the nearest rule is updated instead.
        """
        self.reserve(min(self.n_rules + 1, self.settings.max_rules))
        self.arrays.counters[SEEN] += 1
        if self.n_rules >= self.settings.max_rules:
            if len(slots.unlocked(self.arrays)) < 2:
                self._update_nearest(s, weight)
                return
            if self.beside is None or not self.beside.give_up_slot():
                self.shrink_to(self.settings.max_rules - 1)
        parent = self.nearest_rule(s)
        self._update_moments(0, s, weight)
        slot = self._new_rule(s, parent, weight)
        nearest = int(self.arrays.identity[parent]) if parent else None
        self.log("birth", int(self.arrays.identity[slot]), nearest)

    def _new_rule(self, s: FloatArray, parent: int, weight: float) -> int:
        """Make a rule at `s` and return its slot; a missing feature takes the centre of `parent`, with no support.

        Deviation: the sample that creates a rule is also learned, because it is the only evidence of the rule.
        """
        slot, arrays = self.n_rules + 1, self.arrays
        self.contents.clear(slot)
        arrays.c[slot] = arrays.c[parent]
        self._start_weights(slot, parent)
        self._update_moments(slot, s, weight)
        arrays.identity[slot] = self.new_number()
        arrays.born[slot] = self.n_seen
        arrays.counters[RULES] = slot
        return slot

    def _start_weights(self, slot: int, parent: int) -> None:
        """Set the first weights of the new rule in `slot` by the rule `parent`: they follow from statistics."""

    def _update_nearest(self, s: FloatArray, weight: float) -> None:
        """Update the moments of the nearest rule, unless it is locked, by a novel sample `s`."""
        winner = self.nearest_rule(s)
        self._update_moments(0, s, weight)
        if not self.arrays.locked[winner]:
            self._update_moments(winner, s, weight)

    def _update_moments(self, slot: int, s: FloatArray, weight: float) -> None:
        """Update centre and spread of `slot` by the sample `s`."""
        _update_moments(slot, s, weight, self.arrays, self.settings)

    def _upkeep(self) -> None:
        """Derive P of the slots that have learned `upkeep_every` samples."""
        for slot in np.flatnonzero(self.arrays.age >= self.settings.upkeep_every):
            self.contents.upkeep(int(slot))

    def _prune(self) -> None:
        """Remove inactive rules."""
        for slot in slots.inactive(self.arrays, self.settings):
            self.remove(slot, "death")

    # ------------------------------------------------------------------ answering

    def answer(self, rows: Rows) -> None:
        """Set the outputs of `rows`, eq. (2), their memberships and distances, and what else they ask for."""
        terms = VarianceTerms(*rows.terms)
        rows.outputs, rows.psi, rows.D = answers(self, rows.Z, rows.W, Moments(*rows.moments), terms)

    def outputs(self, Z: FloatArray) -> FloatArray:
        """Return eq. (2) for the scaled rows `Z`, (rows, K), of the rules alone, without members beside them.

        Many rows are answered by weights formed once, with the same outputs up to rounding.
        """
        return answers(self, Z, weights_of_all(self) if len(Z) >= MANY_ROWS else NO_WEIGHTS).outputs

    # ------------------------------------------------------------------ changes of the rules

    def merge_rules(self, first: int, second: int, kind: str = "merge") -> int:
        """Merge the rules in slots `first` and `second`, and return the identity kept; log it as `kind`.

        The rule of larger support is kept.
        """
        a, b = slots.stronger_first(first, second, self.arrays.k)
        kept, gone = int(self.arrays.identity[a]), int(self.arrays.identity[b])
        self.contents.pool(a, b)
        self.contents.free(b)
        self.rule_names.remove(gone, kept)
        self.log(kind, kept, gone)
        return kept

    def shrink_to(self, rules: int) -> None:
        """Merge closest pairs until at most `rules` rules are left; StateError if locks forbid it."""
        while self.n_rules > rules:
            if len(slots.unlocked(self.arrays)) < 2:
                raise StateError(
                    "there is no room for one more rule, and no two rules can be merged; unlock or delete one first"
                )
            self.merge_rules(*slots.closest_pair(self.arrays, self.settings.most_count))

    def remove(self, slot: int, kind: str) -> None:
        """Remove the rule in `slot`, and log it as `kind`."""
        identity = int(self.arrays.identity[slot])
        self.contents.free(slot)
        self.rule_names.remove(identity)
        self.log(kind, identity, None)

    def new_number(self) -> int:
        """Return the number of a new rule, whichever stage it belongs to."""
        number = int(self.arrays.counters[NEXT_IDENTITY])
        self.arrays.counters[NEXT_IDENTITY] += 1
        return number

    def log(
        self, kind: str, rule: int | None, other: int | None, note: str = "", *, sample: int | None = None, **about: Any
    ) -> None:
        """Append an `Event` of this `kind`, `about` a label or a feature, and count it.

        It belongs to the `sample`, by default the last one that was learned.
        """
        self.events.append(Event(self.n_seen if sample is None else sample, kind, rule, other, note, **about))
        self.n_events += 1

    # ------------------------------------------------------------------ contents and copies

    @property
    def contents(self) -> RuleContents:
        """What the arrays hold, and how it changes other than by learning."""
        return RuleContents(self)

    @property
    def kind(self) -> dict[str, object]:
        """What rule bases must agree in, by name, so that their statistics can be added."""
        return {"follow_drift": self.settings.memory > 0}

    def reserve(self, rules: int) -> None:
        """Make slots for `rules` rules."""
        self.contents.reserve(rules)

    def grow_labels(self, n_labels: int) -> None:
        """Add labels up to `n_labels`, with weights 0 and the intercept 1 / (N + 2) (rule of succession).

        All samples so far then count as if they had carried that rate as a soft label: G = rate * (H's last column).
        """
        extra = n_labels - self.n_labels
        rate = self.rate_of_new_label
        self.contents.take_larger(len(self.arrays.c) - 1, n_labels)
        set_rate(self, extra, rate)
        if self.arrays.W.shape[1]:
            self.arrays.W[np.flatnonzero(self.has_weights), -extra:, -1] = rate

    @property
    def rate_of_new_label(self) -> float:
        """Share of the samples that are expected to carry a label which none has carried yet."""
        return 1.0 / (self.n_seen + 2.0)

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Restore `state`; read-only arrays, as of a memory map, are copied because loops write into them."""
        self.__dict__.update(state)
        if not self.arrays.c.flags.writeable:
            self.arrays = RuleArrays._make(np.array(array) for array in self.arrays)
            copies: dict[str, Any] = {name: np.array(getattr(self.settings, name)) for name in ("penalty", "metric")}
            self.settings = self.settings._replace(**copies)


def add_copy(rules: RuleBase, other: RuleBase, slot: int) -> None:
    """Add a copy of the rule in `slot` of `other`, of the same widths, to `rules`, under a new identity."""
    target = rules.n_rules + 1
    rules.reserve(target)
    rules.arrays.counters[RULES] = target
    rules.contents.set_slots(np.array([target]), {name: array[[slot]] for name, array in other.by_slot.items()})
    identity = rules.arrays.identity[target] = rules.new_number()
    rules.rule_names.add(identity, other.rule_names.names.get(int(other.arrays.identity[slot])))
    rules.log("joined", identity, None)


@contextmanager
def moving_antecedents_by(rules: RuleBase, rate: float) -> Iterator[None]:
    """Set `antecedent_rate` of `rules` to `rate` in the `with` block; consequents and new rules are not affected."""
    rules.antecedent_rate = rate
    try:
        yield
    finally:
        rules.antecedent_rate = 1.0
