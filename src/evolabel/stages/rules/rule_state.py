"""`RuleState`: the arrays of a rule base, and what is computed from them without learning.

`stages.rules.arrays` has the table of the arrays: which are exact statistics, and which are derived. Functions behind
the class return the shares of labels and the sums of regressors in every slot, and whether its matrices are sound.
"""

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import numpy as np

from evolabel.core.rows import check_rows, misfit
from evolabel.engine.compile import direct
from evolabel.engine.packed_state import pack
from evolabel.engine.symmetric import mirrored, one_blas_thread
from evolabel.stages.rules import inverses
from evolabel.stages.rules.arrays import RULES, SEEN, RuleArrays, Settings, State, Workspace, workspace
from evolabel.stages.rules.loops.answer import (
    add_moment_rows,
    answer_block,
    answer_rows,
    distance_rows,
    form_weights,
    variance_block,
    variance_rows,
)
from evolabel.stages.rules.loops.antecedents import novelty_bounds
from evolabel.stages.rules.slots import PER_SLOT
from evolabel.typing import Arrays, BoolArray, FloatArray, IntArray


class RuleShape:
    """Centre and spread of the rule in `slot` of `arrays` with these `settings`, in its `n_features` features."""

    def __init__(self, slot: int, n_features: int, arrays: RuleArrays, settings: Settings) -> None:
        self.slot = slot
        self.n_features = n_features
        self.arrays = arrays
        self.settings = settings

    @property
    def covariance(self) -> FloatArray:
        """Sigma_i, prior included, (p, p)."""
        p = self.n_features
        return np.diag(np.asarray(self.settings.importance[:p] / self.arrays.inv[self.slot, :p]))

    @property
    def root_of_samples(self) -> FloatArray:
        """A factor of the covariance of the samples that the rule has seen, without prior, (p, p)."""
        p, a, slot = self.n_features, self.arrays, self.slot
        return np.diag(np.sqrt(a.M[slot, :p] / np.maximum(a.n[slot, :p], 1e-300)))

    def squares_in_order(self, Z: FloatArray, order: IntArray) -> FloatArray:
        """Return what each feature of `order` adds to the squared distances of complete rows `Z` to the rule.

        The sums of the first 1, 2, ... of them, (rows, p), are the squared distances over these features alone.
        """
        a, slot = self.arrays, self.slot
        return np.asarray((Z[:, order] - a.c[slot, order]) ** 2 * a.inv[slot, order])


MomentArrays = tuple[FloatArray, FloatArray, IntArray]
"""M, pending_M and n_pending of `stages.rules.loops.answer`."""

Scratch = tuple[FloatArray, FloatArray, IntArray]
"""R, F and `rows` of `stages.rules.loops.answer`."""

Found = tuple[FloatArray, FloatArray, FloatArray]
"""`out`, psi and D of `stages.rules.loops.answer`."""

Terms = tuple[FloatArray, FloatArray, FloatArray]
"""q, s and t of `stages.rules.loops.answer`."""


class RowLoops:
    """The loops for the packed `state` of a rule base of `n_features`, one or more arguments; rows are scaled."""

    _answer_rows: Callable[..., None] = staticmethod(direct(answer_rows))
    _answer_block: Callable[..., None] = staticmethod(direct(answer_block))
    _variance_rows: Callable[..., None] = staticmethod(direct(variance_rows))
    _variance_block: Callable[..., None] = staticmethod(direct(variance_block))
    _add_moment_rows: Callable[..., None] = staticmethod(direct(add_moment_rows))

    def __init__(self, n_features: int, *state: Any) -> None:
        self.state = state
        self.n_features = n_features

    def answer_rows(self, Z: FloatArray, W: FloatArray, moments: MomentArrays, found: Found, terms: Terms) -> None:
        """Fill `found` and `terms` for the rows `Z`, row by row, as the loop of this name does."""
        V = np.empty((len(Z), self.n_features + 1))
        self._answer_rows(*self.state, Z, W, (*moments,), found, (*terms,), V)

    def answer_block(self, Z: FloatArray, psi: FloatArray, W: FloatArray, scratch: Scratch, out: FloatArray) -> None:
        """Fill `out` for the rows `Z` as the loop of this name does; `scratch` is its R, F and `rows`."""
        self._answer_block(*self.state, Z, psi, W, scratch, out)

    def variance_rows(self, Z: FloatArray, psi: FloatArray, moments: MomentArrays, terms: Terms) -> None:
        """Fill `terms`, which must be zeros, for rows `Z` of memberships `psi`, row by row."""
        self._variance_rows(*self.state, Z, psi, (*moments,), (*terms,))

    def variance_block(self, Z: FloatArray, psi: FloatArray, moments: MomentArrays, terms: Terms) -> None:
        """Fill `terms`, which must be zeros, for rows `Z` of memberships `psi`, all rows of a rule at once."""
        n, q = len(Z), self.n_features + 1
        R, U = np.empty((2, n, q))
        scratch = np.empty((q, q)), R, U, np.empty(n, np.int64)
        self._variance_block(*self.state, Z, psi, (*moments,), scratch, (*terms,))

    def add_moments(self, Z: FloatArray, psi: FloatArray, weight: float, moments: MomentArrays) -> None:
        """Add the rows `Z` of memberships `psi`, each of this `weight`, to the second `moments` of all slots."""
        self._add_moment_rows(*self.state, Z, psi, weight, (*moments,))


_distance_rows, _form_weights, _novelty_bounds = direct(distance_rows), direct(form_weights), direct(novelty_bounds)

_NONE = np.empty((0, 0))


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
        return self.arrays.counters.item(RULES)

    @property
    def n_seen(self) -> int:
        """N, the number of samples seen."""
        return self.arrays.counters.item(SEEN)

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

    @property
    def novelty_bounds(self) -> FloatArray:
        """The mean squared distance beyond which a sample is novel, for each rule, (C,); inf: never."""
        bounds = np.empty(self.n_rules)
        _novelty_bounds(self.packed, bounds)
        return bounds

    def _fill_distances(self, Z: FloatArray, psi: FloatArray, D: FloatArray) -> None:
        """Fill `D` for the rows `Z`, and `psi` unless it is empty."""
        _distance_rows(self.packed, Z, psi, D)

    @property
    def loops(self) -> RowLoops:
        """The compiled loops over rows that are answered."""
        return RowLoops(self.n_features, self.packed)

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

    @property
    def has_weights(self) -> BoolArray:
        """Whether W of each slot is stored, as that of a locked rule is; else it follows from the statistics."""
        return np.asarray(self.arrays.locked > 0)

    @one_blas_thread()
    def weights(self, slot: int) -> FloatArray:
        """Return W of `slot`, (q, K): the ridge solution towards the global model, or that model itself for slot 0."""
        if slot > 0 and self.has_weights[slot]:
            return np.array(self.arrays.W[slot].T)
        evidence = self.arrays.G[slot].T
        if slot > 0:
            evidence = evidence + self.anchor[:, None] * (self.inverse(0) @ self.arrays.G[0].T)
        return np.asarray(self.inverse(slot) @ evidence)

    @property
    def all_weights(self) -> FloatArray:
        """W of the global model and of all rules, (1 + C, K, q)."""
        K, q = self.arrays.G.shape[1:]
        W = np.empty((self.n_rules + 1, K, q))
        _form_weights(self.packed, self.anchor, np.empty((q, q)), np.empty((K, q)), W)
        return W

    def variances(self) -> FloatArray:
        """Return the variances of the rules per feature, prior included, (C, p)."""
        p = self.n_features
        return np.asarray(self.settings.importance[:p] / self.arrays.inv[1 : self.n_rules + 1, :p])

    def shape(self, slot: int) -> RuleShape:
        """Return centre and spread of the rule in `slot`."""
        return RuleShape(slot, self.n_features, self.arrays, self.settings)

    @property
    def label_moments(self) -> LabelMoments | None:
        """The label moments of the rules; None where they are not kept."""
        return None

    def derive_inverse(self, slot: int, settings: Settings | None = None) -> None:
        """Derive P of `slot` from H by `settings`, by default those of these rules, and set its age to 0."""
        inverses.derive_inverse(slot, self.arrays, settings or self.settings)

    # ------------------------------------------------------------------ what loops take

    @property
    def packed(self) -> State:
        """The argument `state` of loops; packed again when arrays or settings were replaced."""
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
    """Derive P of all slots in use of these `states` from H; the age of the slots stays."""
    for state in states:
        age = state.arrays.age.copy()
        for slot in range(state.n_rules + 1):
            inverses.apply_pending(slot, state.arrays)
            state.derive_inverse(slot)
        state.arrays.age[:] = age


def label_shares(base: RuleState) -> FloatArray:
    """Return how often each label was on among the samples of every slot of `base`, (1 + C, K), in [0, 1]."""
    used = range(base.n_rules + 1)
    evidence = np.array([base.hessian(slot)[-1, -1] for slot in used])
    shares = base.arrays.G[: len(used), :, -1] / np.maximum(evidence, 1e-300)[:, None]
    return np.asarray(np.clip(shares, 0.0, 1.0))


def set_rate(base: RuleState, extra: int, rate: float) -> None:
    """Set G of the last `extra` labels of `base` so that weights are 0 and intercepts are `rate`.

    All samples so far then count as if they had carried that rate as a soft label: G = rate * (H's last column).
    """
    arrays = base.arrays
    for slot in range(base.n_rules + 1):
        arrays.G[slot, -extra:] = rate * base.hessian(slot)[-1]
    arrays.G[0, -extra:, -1] += rate * base.settings.penalty[0, -1]  # W_0 = P_0 G_0 is then exact


def blend(array: FloatArray, at: IntArray, part: FloatArray, value: FloatArray) -> None:
    """Move the entries `at` of `array` towards `value`: a `part` of each, (len(at),), stays."""
    own = part.reshape(-1, *[1] * (value.ndim - 1))
    array[at] = own * array[at] + (1.0 - own) * value


WORST_CONDITION = 1e15  # condition number beyond which P has no correct digits in float64


def regressor_sums(rules: RuleState) -> tuple[FloatArray, FloatArray]:
    """Return the sums of psi r and of psi r^2 of all slots of `rules`, (1+C, q): last rows and diagonals of H."""
    used = slice(0, rules.n_rules + 1)
    H, rows = rules.arrays.H[used], _pending(rules.arrays.pending_H[used], rules.arrays.n_pending[used])
    sums = H[:, -1] + np.einsum("sb,sbq->sq", rows[:, :, -1], rows)
    return sums, np.diagonal(H, axis1=1, axis2=2) + (rows**2).sum(axis=1)


def is_well_posed(rules: RuleState) -> bool:
    """Return whether tr(H + penalty) tr(P), a bound of the condition number, is small enough in every slot."""
    traces = regressor_sums(rules)[1].sum(axis=1)
    traces[0] += rules.settings.penalty[0].sum()
    traces[1:] += rules.settings.penalty[1].sum()
    inverses = np.array([np.trace(rules.inverse(slot)) for slot in range(len(traces))])
    return bool((traces * inverses < WORST_CONDITION).all())


def is_sound(rules: RuleState) -> bool:
    """Return whether all arrays that outputs depend on are finite, and every P has a positive diagonal."""
    used = slice(0, rules.n_rules + 1)
    P, G, W, c = (getattr(rules.arrays, name)[used] for name in ("P", "G", "W", "c"))
    rows = _pending(rules.arrays.pending_P[used], rules.arrays.n_pending[used])
    variances = np.diagonal(P, axis1=1, axis2=2) - (rows**2).sum(axis=1)
    finite = all(np.isfinite(part).all() for part in (np.tril(P), rows, G, W, c))
    return bool(finite and (variances > 0.0).all())


def _pending(rows: FloatArray, n_pending: IntArray) -> FloatArray:
    """Return the pending `rows` (slots, B, q) with 0 in rows that are not in use."""
    return np.where((np.arange(rows.shape[1]) < n_pending[:, None])[:, :, None], rows, 0.0)
