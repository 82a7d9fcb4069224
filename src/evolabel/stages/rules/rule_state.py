"""`RuleState`: the arrays of a rule base, and what is computed from them without learning.

`stages.rules.arrays` has the table of the arrays: which are exact statistics, and which are derived.
"""

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from evolabel.core.sizes import check_rows, misfit
from evolabel.engine.compile import direct_by_profile
from evolabel.engine.one_thread import one_blas_thread
from evolabel.engine.packed_state import pack
from evolabel.stages.rules.arrays import (
    RULES,
    SEEN,
    PaperArrays,
    RuleArrays,
    Settings,
    State,
    Workspace,
    paper_arrays,
    workspace,
)
from evolabel.stages.rules.inverses import derive_all_inverses, mirrored
from evolabel.stages.rules.loops.answer import distance_rows
from evolabel.stages.rules.loops.paper.rotated import degrees, marginal_fill
from evolabel.typing import FloatArray

_distance_rows = direct_by_profile(distance_rows)

_NONE = np.empty((0, 0))


class Kept(NamedTuple):
    """Arrays and settings, the packed state made from them, and the number of labels."""

    arrays: RuleArrays
    settings: Settings
    packed: tuple[State, PaperArrays | None]
    n_labels: int


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

    def memberships(self, Z: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return normalised memberships and mean squared distances of the scaled rows `Z`, both (rows, C)."""
        check_rows(Z, self.n_features)
        psi, D = np.empty((2, len(Z), self.n_rules))
        _distance_rows(*self.packed(), Z, self.n_features, psi, D, _NONE)
        return psi, D

    def nearest_rule(self, s: FloatArray) -> int:
        """Return the slot of the rule nearest to the sample `s`, with or without labels, eq. (28); 0 if none."""
        if s.shape != self.arrays.c.shape[1:] and s.shape != (self.n_features,):
            raise misfit({"s": s}, f"{self.n_features} features")
        D, J = np.empty((2, 1, self.n_rules))
        _distance_rows(*self.packed(), s[None], self.n_features, _NONE, D, J)
        near = J if len(s) > self.n_features else D
        return 1 + int(np.argmin(near)) if self.n_rules else 0

    def regressor(self, z: FloatArray, slot: int) -> FloatArray:
        """Return (z, 1) for the rule in `slot`; missing features take their (conditional) means."""
        p, a = self.n_features, self.arrays
        filled = np.where(np.isnan(z), a.c[slot, :p], z)
        if self.settings.rotated and np.isnan(z).any():
            e = z - a.c[slot, :p]
            marginal_fill(a.F[slot], e, p, np.empty(p, np.int64), np.empty(p))
            filled = a.c[slot, :p] + e
        return np.append(filled, 1.0)

    def hessian(self, slot: int) -> FloatArray:
        """Return H of `slot` as a full symmetric matrix, pending rows included."""
        rows = self.arrays.pending_H[slot, : self.arrays.n_pending[slot]]
        return mirrored(self.arrays.H[slot]) + rows.T @ rows

    def inverse(self, slot: int) -> FloatArray:
        """Return P of `slot` as a full symmetric matrix, pending rows included."""
        rows = self.arrays.pending_P[slot, : self.arrays.n_pending[slot]]
        return mirrored(self.arrays.P[slot]) - rows.T @ rows

    @one_blas_thread()
    def weights(self, slot: int) -> FloatArray:
        """Return W of `slot`, (q, K): the ridge solution towards the global model, or that model itself for slot 0.

        Iterated weights, and those of a locked rule, are stored.
        """
        if slot > 0 and (self.settings.iterated or self.arrays.locked[slot]):
            return np.array(self.arrays.W[slot].T)
        evidence = self.arrays.G[slot].T
        if slot > 0:
            evidence = evidence + self.settings.anchor[:, None] * (self.inverse(0) @ self.arrays.G[0].T)
        return np.asarray(self.inverse(slot) @ evidence)

    def variances(self) -> FloatArray:
        """Return the variances of the rules per feature, prior included, (C, p)."""
        p = self.n_features
        return np.asarray(self.settings.importance[:p] / self.arrays.inv[1 : self.n_rules + 1, :p])

    def covariance(self, slot: int) -> FloatArray:
        """Return Sigma_i of the features of the rule in `slot`, prior included, (p, p); a marginal in product space."""
        p, a = self.n_features, self.arrays
        if not self.settings.rotated:
            return np.diag(self.variances()[slot - 1])
        F = np.tril(a.F[slot, :p, :p])
        return np.asarray(F @ F.T / degrees(a.k[slot], self.settings.prior_count))

    def packed(self) -> tuple[State, PaperArrays | None]:
        """Return the arguments `state` and `paper` of kernels; packed again when arrays or settings were replaced."""
        return self._kept().packed

    def _kept(self) -> Kept:
        """Return the packed state, packed again when arrays or settings were replaced."""
        kept = self._packed
        if kept is None or kept.arrays is not self.arrays or kept.settings is not self.settings:
            state, paper = State(self.arrays, self.settings, self.workspace), paper_arrays(self.arrays)
            made = pack(state), None if paper is None else pack(paper)
            self._packed = kept = Kept(self.arrays, self.settings, made, self.n_labels)
        return kept

    @property
    def workspace(self) -> Workspace:
        """Scratch arrays that fit the state, allocated again only when it has grown."""
        if self._scratch is None or self._scratch[0] is not self.arrays:
            slots, d = self.arrays.c.shape
            made = workspace(slots, self.n_features, self.n_labels, d, self.settings.iterated)
            self._scratch = self.arrays, made
        return self._scratch[1]


def derive_inverses(states: Iterable[RuleState]) -> None:
    """Derive P of all slots of these `states` from H."""
    for state in states:
        derive_all_inverses(state.arrays, state.settings)
