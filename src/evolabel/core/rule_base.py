"""The rule base: its arrays, their growth, and what follows from them.

The arrays themselves, and which of them are exact statistics and which derived, are explained in `kernels.state`.
"""

from collections import deque
from typing import Any

import numpy as np

from evolabel.core import lifecycle
from evolabel.core.events import Event
from evolabel.core.lifecycle import PER_SLOT, mirrored
from evolabel.kernels._compile import direct
from evolabel.kernels.memberships import distances, nearest
from evolabel.kernels.moments import absorb
from evolabel.kernels.state import (
    DONE,
    NEXT_IDENTITY,
    NOVEL,
    RULES,
    SEEN,
    FloatArray,
    RuleArrays,
    Settings,
    Workspace,
    workspace,
)
from evolabel.kernels.stream import learn_rows, membership_rows, output_rows

FIRST_CAPACITY = 32  # rules there is room for at the start
EVENTS_KEPT = 10_000  # older events are dropped, so that memory stays constant

_learn_rows, _output_rows = direct(learn_rows), direct(output_rows)

NOTHING = np.empty(0)
NO_ROWS = np.empty((0, 0))


class RuleBase:
    """State of EFC-ML: slot 0 is the global model, slots 1..n_rules are the rules."""

    def __init__(self, n_features: int, n_labels: int, settings: Settings) -> None:
        self.settings = settings
        self.arrays = _allocate(min(FIRST_CAPACITY, settings.max_rules), n_features, n_labels)
        self._scratch: Workspace | None = None
        self.events: deque[Event] = deque(maxlen=EVENTS_KEPT)
        lifecycle.clear(0, self.arrays, settings)

    @property
    def n_rules(self) -> int:
        """C, the number of rules."""
        return int(self.arrays.tally[RULES])

    @property
    def n_seen(self) -> int:
        """N, the number of samples seen."""
        return int(self.arrays.tally[SEEN])

    @property
    def n_labels(self) -> int:
        """K, the number of labels."""
        return int(self.arrays.G.shape[1])

    def learn(
        self,
        Z: FloatArray,
        Y: FloatArray,
        weights: FloatArray = NOTHING,
        confidences: FloatArray = NO_ROWS,
        *,
        structure: bool = True,
        consequents: bool = True,
        out: FloatArray = NO_ROWS,
    ) -> None:
        """Learn scaled rows one after the other; `out` receives each row's output from before it was learned."""
        done, born = 0, False
        while True:
            work = self._workspace()
            step, reason = _learn_rows(
                Z[done:],
                Y[done:],
                weights[done:],
                confidences[done:],
                self.arrays,
                self.settings,
                work,
                structure,
                consequents,
                born,
                out[done:],
            )
            done += step
            if reason == DONE:
                return
            born = reason == NOVEL
            if born:
                self._let_be_born(Z[done], float(weights[done]) if len(weights) else 1.0)
            else:
                self._upkeep()
                if structure:
                    self._prune()

    def _workspace(self) -> Workspace:
        """Scratch arrays that fit the state; made anew only when it has grown."""
        slots, p, labels = len(self.arrays.c), self.arrays.c.shape[1], self.n_labels
        if self._scratch is None or (len(self._scratch.D), len(self._scratch.confidence)) != (slots, labels):
            self._scratch = workspace(slots, p, labels)
        return self._scratch

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_scratch": None}

    def _let_be_born(self, z: FloatArray, weight: float) -> None:
        """Start a rule at z; a full rule base first merges its closest pair."""
        self.arrays.tally[SEEN] += 1
        if self.n_rules >= self.settings.max_rules:
            self.shrink_to(self.settings.max_rules - 1)
        self.reserve(self.n_rules + 1)
        D = np.empty(self.n_rules + 1)
        distances(z, self.n_rules, self.arrays.c, self.arrays.inv, D)
        parent = nearest(D, self.n_rules)
        absorb(0, z, weight, self.arrays, self.settings)
        slot = lifecycle.give_birth(z, parent, weight, self.arrays, self.settings)
        self._log("birth", slot_identity(self.arrays, slot), slot_identity(self.arrays, parent))

    def _upkeep(self) -> None:
        """Derive P anew for the slots whose time has come."""
        for slot in np.flatnonzero(self.arrays.age >= self.settings.upkeep_every):
            lifecycle.upkeep(int(slot), self.arrays, self.settings)

    def _prune(self) -> None:
        """Remove starved rules."""
        for slot in lifecycle.starved(self.arrays, self.settings):
            self._log("death", slot_identity(self.arrays, slot), None)
            lifecycle.free_slot(slot, self.arrays)

    def _log(self, kind: str, rule: int | None, other: int | None) -> None:
        assert rule is not None
        self.events.append(Event(self.n_seen, kind, rule, other))

    def outputs(self, Z: FloatArray) -> FloatArray:
        """Eq. (2) for scaled rows, (rows, K)."""
        return _output_rows(Z, self.arrays, self.settings)

    def memberships(self, Z: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Normalised memberships and mean squared distances, both (rows, C)."""
        return membership_rows(Z, self.arrays, self.settings)

    def hessian(self, slot: int) -> FloatArray:
        """H of a slot as a full symmetric matrix, waiting rows included."""
        rows = self.arrays.late_H[slot, : self.arrays.late[slot]]
        return mirrored(self.arrays.H[slot]) + rows.T @ rows

    def inverse(self, slot: int) -> FloatArray:
        """P of a slot as a full symmetric matrix, waiting rows included."""
        rows = self.arrays.late_P[slot, : self.arrays.late[slot]]
        return mirrored(self.arrays.P[slot]) - rows.T @ rows

    def weights(self, slot: int) -> FloatArray:
        """W of a slot, (q, K): the ridge solution towards the global model, or that model itself for slot 0."""
        evidence = self.arrays.G[slot].T
        if slot > 0:
            evidence = evidence + self.settings.penalty[1][:, None] * self.weights(0)
        return np.asarray(self.inverse(slot) @ evidence)

    def variances(self) -> FloatArray:
        """Spread of the rules per feature, squared, prior included, (C, p)."""
        return np.asarray(1.0 / self.arrays.inv[1 : self.n_rules + 1])

    def reserve(self, rules: int) -> None:
        """Make room for this many rules; the room doubles, so that growth stays cheap."""
        old = self.arrays
        if rules + 1 <= len(old.c):
            return
        new = _allocate(max(rules, 2 * (len(old.c) - 1)), old.c.shape[1], self.n_labels)
        for name in PER_SLOT:
            getattr(new, name)[: len(old.c)] = getattr(old, name)
        self.arrays = new._replace(tally=old.tally, strange=old.strange)

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
        self.arrays = self.arrays._replace(G=np.concatenate([self.arrays.G, added], axis=1))

    def shrink_to(self, rules: int) -> None:
        """Merge closest pairs until at most this many rules are left."""
        while self.n_rules > rules:
            first, second = lifecycle.closest_pair(self.arrays)
            kept, gone = lifecycle.merge_pair(first, second, self.arrays, self.settings)
            self._log("merge", kept, gone)

    def adopt(self, source: RuleArrays, slot: int) -> None:
        """Copy a rule of another rule base (same widths) into a new slot, under a new identity."""
        self.reserve(self.n_rules + 1)
        target = self.n_rules + 1
        for name in PER_SLOT:
            getattr(self.arrays, name)[target] = getattr(source, name)[slot]
        self.arrays.identity[target] = self.arrays.tally[NEXT_IDENTITY]
        self.arrays.tally[NEXT_IDENTITY] += 1
        self.arrays.tally[RULES] = target
        self._log("joined", slot_identity(self.arrays, target), None)

    def count_as_seen(self, samples: int) -> None:
        """Set N: samples without annotations were seen, too."""
        self.arrays.tally[SEEN] = samples


def slot_identity(arrays: RuleArrays, slot: int) -> int | None:
    """The lifelong number of the rule in a slot; None for slot 0, which is no rule."""
    return int(arrays.identity[slot]) if slot > 0 else None


def block_length(q: int) -> int:
    """Samples whose outer products wait for each other; they are applied eight at a time."""
    return 8 if q < 128 else 16


def _allocate(rules: int, n_features: int, n_labels: int) -> RuleArrays:
    s, p, q, K = rules + 1, n_features, n_features + 1, n_labels
    return RuleArrays(
        c=np.zeros((s, p)),
        M=np.zeros((s, p)),
        n=np.zeros((s, p)),
        k=np.zeros(s),
        inv=np.ones((s, p)),
        H=np.zeros((s, q, q)),
        G=np.zeros((s, K, q)),
        P=np.zeros((s, q, q)),
        late_H=np.zeros((s, block_length(q), q)),
        late_P=np.zeros((s, block_length(q), q)),
        late=np.zeros(s, np.int64),
        age=np.zeros(s, np.int64),
        fresh=np.zeros(s),
        identity=np.zeros(s, np.int64),
        born=np.zeros(s, np.int64),
        won=np.zeros(s, np.int64),
        tally=np.zeros(3, np.int64),
        strange=np.zeros(3),
    )
