"""The state of a rule base, and what follows from it. Nothing here learns.

The arrays themselves, and which of them are exact statistics and which derived, are explained in `kernels.state`.
"""

from typing import NamedTuple

import numpy as np

from evolabel.core.one_thread import one_blas_thread
from evolabel.core.rules.inverses import mirrored
from evolabel.core.rules.proximal import Problem
from evolabel.core.sizes import check_rows, misfit
from evolabel.kernels.answer import distance_rows
from evolabel.kernels.antecedents import degrees
from evolabel.kernels.compile import direct_by_profile
from evolabel.kernels.packed_state import pack
from evolabel.kernels.paper.coupling import NONE, coupling
from evolabel.kernels.paper.rotated import marginal_fill
from evolabel.kernels.state import (
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
from evolabel.typing import FloatArray

_distance_rows = direct_by_profile(distance_rows)

_NONE = np.empty((0, 0))

WORST_CONDITION = 1e15  # beyond it nothing of P is left in float64


class Kept(NamedTuple):
    """Arrays and settings, the same as kernels take them, and the number of labels."""

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
        return int(self.arrays.tally[RULES])

    @property
    def n_seen(self) -> int:
        """N, the number of samples seen."""
        return int(self.arrays.tally[SEEN])

    @property
    def n_labels(self) -> int:
        """K, the number of labels."""
        return int(self.arrays.G.shape[1])

    def memberships(self, Z: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Normalised memberships and mean squared distances, both (rows, C)."""
        check_rows(Z, self.n_features)
        psi, D = np.empty((2, len(Z), self.n_rules))
        _distance_rows(*self.packed(), Z, self.n_features, psi, D, _NONE)
        return psi, D

    def nearest_rule(self, s: FloatArray) -> int:
        """Slot of the rule nearest to the sample s, which may hold its labels, eq. (28); 0 if there is none yet."""
        if s.shape != self.arrays.c.shape[1:] and s.shape != (self.n_features,):
            raise misfit({"s": s}, f"{self.n_features} features")
        D, J = np.empty((2, 1, self.n_rules))
        _distance_rows(*self.packed(), s[None], self.n_features, _NONE, D, J)
        near = J if len(s) > self.n_features else D
        return 1 + int(np.argmin(near)) if self.n_rules else 0

    def regressor(self, z: FloatArray, slot: int) -> FloatArray:
        """(z, 1) as a rule sees it: missing features at their mean, given the others if the rule is rotated."""
        p, a = self.n_features, self.arrays
        filled = np.where(np.isnan(z), a.c[slot, :p], z)
        if self.settings.rotated and np.isnan(z).any():
            e = z - a.c[slot, :p]
            marginal_fill(a.F[slot], e, p, np.empty(p, np.int64), np.empty(p))
            filled = a.c[slot, :p] + e
        return np.append(filled, 1.0)

    def hessian(self, slot: int) -> FloatArray:
        """H of a slot as a full symmetric matrix, waiting rows included."""
        rows = self.arrays.late_H[slot, : self.arrays.late[slot]]
        return mirrored(self.arrays.H[slot]) + rows.T @ rows

    def regressor_sums(self) -> tuple[FloatArray, FloatArray]:
        """Sums of psi r and of psi r^2 of all slots, (1+C, q): last rows and diagonals of H, waiting rows included."""
        used = slice(0, self.n_rules + 1)
        H, rows, late = self.arrays.H[used], self.arrays.late_H[used], self.arrays.late[used]
        rows = np.where((np.arange(rows.shape[1]) < late[:, None])[:, :, None], rows, 0.0)
        sums = H[:, -1] + np.einsum("sb,sbq->sq", rows[:, :, -1], rows)
        return sums, np.diagonal(H, axis1=1, axis2=2) + (rows**2).sum(axis=1)

    def inverse(self, slot: int) -> FloatArray:
        """P of a slot as a full symmetric matrix, waiting rows included."""
        rows = self.arrays.late_P[slot, : self.arrays.late[slot]]
        return mirrored(self.arrays.P[slot]) - rows.T @ rows

    def is_well_posed(self) -> bool:
        """Whether the condition number of every H + penalty leaves P some digits: at most tr(H + penalty) tr(P)."""
        traces = self.regressor_sums()[1].sum(axis=1)
        traces[0] += self.settings.penalty[0].sum()
        traces[1:] += self.settings.penalty[1].sum()
        inverses = np.array([np.trace(self.inverse(slot)) for slot in range(len(traces))])
        return bool((traces * inverses < WORST_CONDITION).all())

    def is_sound(self) -> bool:
        """Whether all numbers that answers are made of are finite, and every P has a positive diagonal."""
        used = slice(0, self.n_rules + 1)
        P, G, W, c = (getattr(self.arrays, name)[used] for name in ("P", "G", "W", "c"))
        rows, late = self.arrays.late_P[used], self.arrays.late[used]
        rows = np.where((np.arange(rows.shape[1]) < late[:, None])[:, :, None], rows, 0.0)
        variances = np.diagonal(P, axis1=1, axis2=2) - (rows**2).sum(axis=1)
        finite = all(np.isfinite(part).all() for part in (np.tril(P), rows, G, W, c))
        return bool(finite and (variances > 0.0).all())

    @one_blas_thread()
    def weights(self, slot: int) -> FloatArray:
        """W of a slot, (q, K): the ridge solution towards the global model, or that model itself for slot 0.

        Iterated weights, and those of a locked rule, are kept.
        """
        if slot > 0 and (self.settings.iterated or self.arrays.locked[slot]):
            return np.array(self.arrays.W[slot].T)
        evidence = self.arrays.G[slot].T
        if slot > 0:
            evidence = evidence + self.settings.lean[:, None] * self.weights(0)
        return np.asarray(self.inverse(slot) @ evidence)

    def variances(self) -> FloatArray:
        """Spread of the rules per feature, squared, prior included, (C, p)."""
        p = self.n_features
        return np.asarray(self.settings.importance[:p] / self.arrays.inv[1 : self.n_rules + 1, :p])

    def covariance(self, slot: int) -> FloatArray:
        """Sigma_i of the features, prior included: the marginal of a rule of the product space, (p, p)."""
        p, a = self.n_features, self.arrays
        if not self.settings.rotated:
            return np.diag(self.variances()[slot - 1])
        F = np.tril(a.F[slot, :p, :p])
        return np.asarray(F @ F.T / degrees(a.k[slot], self.settings.prior_count))

    def problem(self, slot: int) -> Problem:
        """The objective of a rule, from its statistics."""
        a, s = self.arrays, self.settings
        B = np.zeros((self.n_labels, self.n_labels))
        if s.coupling > NONE:
            coupling(a.Q[slot], a.mass[slot], s.coupling, B)
        anchor = a.W[0] * (s.lean > 0.0)
        return Problem(self.hessian(slot), a.G[slot], s.penalty[1], anchor, B, s.alpha, s.beta, s.literal_step)

    def packed(self) -> tuple[State, PaperArrays | None]:
        """The arguments `state` and `paper` of kernels; made anew when arrays or settings were replaced."""
        return self._kept().packed

    def _kept(self) -> Kept:
        """What kernels take, made anew when arrays or settings were replaced."""
        kept = self._packed
        if kept is None or kept.arrays is not self.arrays or kept.settings is not self.settings:
            state, paper = State(self.arrays, self.settings, self.scratch()), paper_arrays(self.arrays)
            made = pack(state), None if paper is None else pack(paper)
            self._packed = kept = Kept(self.arrays, self.settings, made, self.n_labels)
        return kept

    def scratch(self) -> Workspace:
        """Scratch arrays that fit the state; made anew only when it has grown."""
        if self._scratch is None or self._scratch[0] is not self.arrays:
            slots, d = self.arrays.c.shape
            made = workspace(slots, self.n_features, self.n_labels, d, self.settings.iterated)
            self._scratch = self.arrays, made
        return self._scratch[1]
