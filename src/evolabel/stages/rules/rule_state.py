"""`RuleState`: the arrays of a rule base, and what is computed from them without learning.

`stages.rules.arrays` has the table of the arrays: which are exact statistics, and which are derived.
"""

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from evolabel.core.sizes import check_rows, misfit
from evolabel.engine.compile import direct
from evolabel.engine.one_thread import one_blas_thread
from evolabel.engine.packed_state import pack
from evolabel.stages.rules import inverses
from evolabel.stages.rules.arrays import RULES, SEEN, RuleArrays, Settings, State, Workspace, workspace
from evolabel.stages.rules.inverses import mirrored
from evolabel.stages.rules.loops.answer import answer_rows, distance_rows, variance_rows
from evolabel.stages.rules.loops.answer_block import answer_block, form_weights, variance_block
from evolabel.stages.rules.loops.second_moments import add_moment_rows
from evolabel.stages.rules.loops.structure import novelty_bounds
from evolabel.stages.rules.slots import PER_SLOT
from evolabel.typing import Arrays, FloatArray, IntArray

_distance_rows, _answer_rows, _variance_rows = direct(distance_rows), direct(answer_rows), direct(variance_rows)
_answer_block, _variance_block = direct(answer_block), direct(variance_block)
_form_weights, _add_moment_rows, _novelty_bounds = direct(form_weights), direct(add_moment_rows), direct(novelty_bounds)

_NONE = np.empty((0, 0))

MomentArrays = tuple[FloatArray, FloatArray, IntArray]
"""M, pending_M and n_pending of `stages.rules.loops.second_moments`."""

Scratch = tuple[FloatArray, FloatArray, IntArray]
"""R, F and `rows` of `stages.rules.loops.answer_block`."""

Found = tuple[FloatArray, FloatArray, FloatArray]
"""`out`, psi and D of `stages.rules.loops.answer`."""

Terms = tuple[FloatArray, FloatArray, FloatArray]
"""q, s and t of `stages.rules.loops.answer`."""


class Kept(NamedTuple):
    """Arrays and settings, the packed state made from them, and the number of labels."""

    arrays: RuleArrays
    settings: Settings
    packed: State
    n_labels: int


class LabelMoments(NamedTuple):
    """Label moments of all rules: co-moments Q (C, K, K), means ybar (C, K), and sums of psi and psi^2, mass (C, 2)."""

    Q: FloatArray
    ybar: FloatArray
    mass: FloatArray


class RuleState:
    """The arrays of a rule base: slot 0 is the global model, slots 1..n_rules are the rules."""

    def __init__(self, n_features: int, arrays: RuleArrays, settings: Settings) -> None:
        self.n_features = n_features
        self.arrays = arrays
        self.settings = settings
        self._scratch: tuple[RuleArrays, Workspace] | None = None
        self._packed: Kept | None = None

    @property
    def n_rules(self) -> int:
        """C, the number of rules."""
        return int(self.arrays.counters[RULES])

    @property
    def n_seen(self) -> int:
        """N, the number of samples seen."""
        return int(self.arrays.counters[SEEN])

    @property
    def n_labels(self) -> int:
        """K, the number of labels."""
        return int(self.arrays.G.shape[1])

    @property
    def by_slot(self) -> Arrays:
        """All arrays with an entry per slot, by name."""
        return {name: getattr(self.arrays, name) for name in PER_SLOT}

    # ------------------------------------------------------------------ distances and answers of scaled rows

    def memberships(self, Z: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return normalised memberships and mean squared distances of the scaled rows `Z`, both (rows, C)."""
        check_rows(Z, self.n_features)
        psi, D = np.empty((2, len(Z), self.n_rules))
        self._fill_distances(Z, psi, D)
        return psi, D

    def nearest_rule(self, z: FloatArray) -> int:
        """Return the slot of the rule nearest to the scaled row `z`, eq. (28); 0 if there is none."""
        if z.shape != (self.n_features,):
            raise misfit({"z": z}, f"{self.n_features} features")
        D = np.empty((1, self.n_rules))
        self._fill_distances(z[None], _NONE, D)
        return 1 + int(np.argmin(D)) if self.n_rules else 0

    def novelty_bounds(self) -> FloatArray:
        """Return the mean squared distance beyond which a sample is novel, for each rule, (C,); inf: never."""
        bounds = np.empty(self.n_rules)
        _novelty_bounds(self.packed(), bounds)
        return bounds

    def _fill_distances(self, Z: FloatArray, psi: FloatArray, D: FloatArray) -> None:
        """Fill `D` for the rows `Z`, and `psi` unless it is empty."""
        _distance_rows(self.packed(), Z, psi, D)

    def fill_answers(self, Z: FloatArray, W: FloatArray, moments: MomentArrays, found: Found, terms: Terms) -> None:
        """Fill `found` and `terms` for the rows `Z`, row by row, as `loops.answer.answer_rows` does."""
        V = np.empty((len(Z), self.n_features + 1))
        _answer_rows(self.packed(), Z, W, *moments, *found, *terms, V)

    def fill_block(self, Z: FloatArray, psi: FloatArray, W: FloatArray, scratch: Scratch, out: FloatArray) -> None:
        """Fill `out` for the rows `Z` as `loops.answer_block.answer_block` does; `scratch` is its R, F and `rows`."""
        _answer_block(self.packed(), Z, psi, W, *scratch, out)

    def fill_terms(self, Z: FloatArray, psi: FloatArray, moments: MomentArrays, terms: Terms) -> None:
        """Fill `terms`, which must be zeros, for rows `Z` of memberships `psi`, row by row."""
        _variance_rows(self.packed(), Z, psi, *moments, *terms)

    def fill_block_terms(self, Z: FloatArray, psi: FloatArray, moments: MomentArrays, terms: Terms) -> None:
        """Fill `terms`, which must be zeros, for rows `Z` of memberships `psi`, all rows of a rule at once."""
        A, R, U, rows = self._block_scratch(len(Z))
        _variance_block(self.packed(), Z, psi, *moments, A, R, U, rows, *terms)

    def _block_scratch(self, n: int) -> tuple[FloatArray, FloatArray, FloatArray, IntArray]:
        """Return A, R, U and `rows` of `loops.answer_block.variance_block` for `n` rows."""
        q = self.n_features + 1
        R, U = np.empty((2, n, q))
        return np.empty((q, q)), R, U, np.empty(n, np.int64)

    def add_moments(self, Z: FloatArray, weight: float, moments: MomentArrays) -> None:
        """Add the rows `Z`, each of this `weight`, to the second `moments` of all slots."""
        _add_moment_rows(self.packed(), Z, self.memberships(Z)[0], weight, *moments)

    # ------------------------------------------------------------------ what the arrays stand for

    def regressor(self, z: FloatArray, slot: int) -> FloatArray:
        """Return (z, 1) for the rule in `slot`; missing features take their means."""
        return np.append(np.where(np.isnan(z), self.arrays.c[slot, : self.n_features], z), 1.0)

    def hessian(self, slot: int) -> FloatArray:
        """Return H of `slot` as a full symmetric matrix, pending rows included."""
        rows = self.arrays.pending_H[slot, : self.arrays.n_pending[slot]]
        return mirrored(self.arrays.H[slot]) + rows.T @ rows

    def inverse(self, slot: int) -> FloatArray:
        """Return P of `slot` as a full symmetric matrix, pending rows included."""
        rows = self.arrays.pending_P[slot, : self.arrays.n_pending[slot]]
        return mirrored(self.arrays.P[slot]) - rows.T @ rows

    @property
    def anchor(self) -> FloatArray:
        """The diagonal of gamma D, by which rules are shrunk towards the global model, (q,)."""
        return np.asarray(self.settings.penalty[1])

    def holds_weights(self, slot: int) -> bool:
        """Return whether W of `slot` is stored, as that of a locked rule is; else it follows from the statistics."""
        return bool(self.arrays.locked[slot])

    @one_blas_thread()
    def weights(self, slot: int) -> FloatArray:
        """Return W of `slot`, (q, K): the ridge solution towards the global model, or that model itself for slot 0."""
        if slot > 0 and self.holds_weights(slot):
            return np.array(self.arrays.W[slot].T)
        evidence = self.arrays.G[slot].T
        if slot > 0:
            evidence = evidence + self.anchor[:, None] * (self.inverse(0) @ self.arrays.G[0].T)
        return np.asarray(self.inverse(slot) @ evidence)

    def all_weights(self) -> FloatArray:
        """Return W of the global model and of all rules, (1 + C, K, q)."""
        K, q = self.arrays.G.shape[1:]
        W = np.empty((self.n_rules + 1, K, q))
        _form_weights(self.packed(), self.anchor, np.empty((q, q)), np.empty((K, q)), W)
        return W

    def variances(self) -> FloatArray:
        """Return the variances of the rules per feature, prior included, (C, p)."""
        p = self.n_features
        return np.asarray(self.settings.importance[:p] / self.arrays.inv[1 : self.n_rules + 1, :p])

    def covariance(self, slot: int) -> FloatArray:
        """Return Sigma_i of the features of the rule in `slot`, prior included, (p, p)."""
        return np.diag(self.variances()[slot - 1])

    def root_of_samples(self, slot: int) -> FloatArray:
        """Return a factor of the covariance of the samples that the rule in `slot` has seen, without prior, (p, p)."""
        p, a = self.n_features, self.arrays
        return np.diag(np.sqrt(a.M[slot, :p] / np.maximum(a.n[slot, :p], 1e-300)))

    def squares_in_order(self, slot: int, Z: FloatArray, order: IntArray) -> FloatArray:
        """Return what each feature of `order` adds to the squared distances of complete rows `Z` to the rule in `slot`.

        The sums of the first 1, 2, ... of them, (rows, p), are the squared distances over these features alone.
        """
        return np.asarray((Z[:, order] - self.arrays.c[slot, order]) ** 2 * self.arrays.inv[slot, order])

    @property
    def label_moments(self) -> LabelMoments | None:
        """The label moments of the rules; None where they are not kept."""
        return None

    # ------------------------------------------------------------------ P

    def derive_inverse(self, slot: int, settings: Settings | None = None) -> None:
        """Derive P of `slot` from H by `settings`, by default those of these rules, and set its age to 0."""
        inverses.derive_inverse(slot, self.arrays, settings or self.settings)

    def start_inverse(self, slot: int) -> None:
        """Set P of `slot` to that of consequents without samples."""
        inverses.start_inverse(slot, self.arrays, self.settings)

    def upkeep(self, slot: int) -> None:
        """Apply the pending rows of `slot` and derive its P from H."""
        inverses.apply_pending(slot, self.arrays)
        self.derive_inverse(slot)

    def derive_inverses(self) -> None:
        """Derive P of all slots in use from H; the age of the slots stays."""
        age = self.arrays.age.copy()
        for slot in range(self.n_rules + 1):
            self.upkeep(slot)
        self.arrays.age[:] = age

    # ------------------------------------------------------------------ what kernels take

    def packed(self) -> State:
        """Return the argument `state` of kernels; packed again when arrays or settings were replaced."""
        return self._kept().packed

    def _kept(self) -> Kept:
        """Return the packed state, packed again when arrays or settings were replaced."""
        kept = self._packed
        if kept is None or kept.arrays is not self.arrays or kept.settings is not self.settings:
            packed = pack(State(self.arrays, self.settings, self.workspace))
            self._packed = kept = Kept(self.arrays, self.settings, packed, self.n_labels)
        return kept

    @property
    def workspace(self) -> Workspace:
        """Scratch arrays that fit the state, allocated again only when it has grown."""
        if self._scratch is None or self._scratch[0] is not self.arrays:
            self._scratch = self.arrays, workspace(len(self.arrays.c), self.n_features, self.n_labels)
        return self._scratch[1]

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_scratch": None, "_packed": None}  # a copy has arrays of its own


def derive_inverses(states: Iterable[RuleState]) -> None:
    """Derive P of all slots of these `states` from H."""
    for state in states:
        state.derive_inverses()
