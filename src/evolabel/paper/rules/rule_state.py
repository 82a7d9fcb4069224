"""`PaperRuleState`: the arrays of the paper's rules, and what is computed from them without learning."""

from typing import Any

import numpy as np
from scipy.linalg import cholesky, solve_triangular

from evolabel.core.rows import misfit
from evolabel.engine.compile import direct
from evolabel.engine.packed_state import pack
from evolabel.engine.symmetric import mirrored, one_blas_thread
from evolabel.paper.rules.arrays import PaperArrays, PaperSettings, PaperState, PaperWorkspace, paper_workspace
from evolabel.paper.rules.loops.answer import (
    add_paper_moments,
    paper_answer_block,
    paper_answer_rows,
    paper_bounds,
    paper_distance_rows,
    paper_variance_block,
    paper_variance_rows,
)
from evolabel.paper.rules.loops.rotated import degrees, marginal_fill
from evolabel.paper.rules.proximal import largest_eigenvalue
from evolabel.stages.rules.arrays import RuleArrays, Settings
from evolabel.stages.rules.rule_state import LabelMoments, RowLoops, RuleShape, RuleState
from evolabel.typing import Arrays, BoolArray, FloatArray, IntArray

_MIN_EIGENVALUE = 1e-9  # keeps the factor of a singular covariance defined


class RotatedShape(RuleShape):
    """A `RuleShape` with a full covariance of the factor F; in the product space its features have the marginal."""

    def __init__(self, slot: int, n_features: int, arrays: RuleArrays, settings: Settings, F: FloatArray) -> None:
        super().__init__(slot, n_features, arrays, settings)
        self.F = np.tril(F)

    @property
    def scale(self) -> float:
        """Divisor that makes a covariance of F F'."""
        return float(degrees(float(self.arrays.k[self.slot]), self.settings.prior_count))

    @property
    def covariance(self) -> FloatArray:
        """Sigma_i, prior included, (p, p)."""
        F = self.F[: self.n_features, : self.n_features]
        return np.asarray(F @ F.T / self.scale)

    @property
    def scatter(self) -> FloatArray:
        """The scatter matrix: F F' without the prior, (d, d)."""
        with one_blas_thread():
            return np.asarray(self.F @ self.F.T - np.diag(self.settings.prior_count * self.settings.prior))

    @property
    def root_of_samples(self) -> FloatArray:
        """A factor of the covariance of the samples that the rule has seen, without prior, (p, p)."""
        p = self.n_features
        values, vectors = np.linalg.eigh(self.scatter[:p, :p] / max(float(self.arrays.k[self.slot]), 1e-300))
        return np.asarray(vectors * np.sqrt(np.maximum(values, _MIN_EIGENVALUE)))

    def squares_in_order(self, Z: FloatArray, order: IntArray) -> FloatArray:
        """Return what each feature of `order` adds to the squared distances of complete rows `Z` to the rule.

        The covariance is factored in this order: partial sums of one forward substitution are the marginal distances.
        """
        e = Z[:, order] - self.arrays.c[self.slot, order]
        F = self.F[: self.n_features] / np.sqrt(self.scale)
        factor = cholesky((F @ F.T)[np.ix_(order, order)], lower=True)
        stretched = np.sqrt(self.settings.importance[order]) * e
        return np.asarray(solve_triangular(factor, stretched.T, lower=True).T ** 2)


class PaperRowLoops(RowLoops):
    """The loops for the packed `state` and `paper` of the paper's rules; rows are scaled."""

    _answer_rows = staticmethod(direct(paper_answer_rows))
    _answer_block = staticmethod(direct(paper_answer_block))
    _variance_rows = staticmethod(direct(paper_variance_rows))
    _variance_block = staticmethod(direct(paper_variance_block))
    _add_moment_rows = staticmethod(direct(add_paper_moments))


_distance_rows, _bounds = direct(paper_distance_rows), direct(paper_bounds)

_NONE = np.empty((0, 0))


class PaperRuleState(RuleState):
    """A `RuleState` of the paper's rules: rotated, in the product space, with weights that are iterated.

    `own` is the state beside `arrays`, `paper` has the parameters of the paper's loops, and within `input_radius` a
    sample is not novel by its features alone.
    """

    own: PaperArrays
    paper: PaperSettings
    input_radius: float
    _paper_scratch: tuple[RuleArrays, PaperWorkspace] | None = None
    _paper_packed: tuple[PaperArrays, PaperSettings, Settings, Any] | None = None

    @property
    def by_slot(self) -> Arrays:
        """All arrays with an entry per slot, by name."""
        return {**super().by_slot, **self.own._asdict()}

    # ------------------------------------------------------------------ what loops take

    @property
    def packed_paper(self) -> Any:
        """The argument `paper` of loops; packed again when arrays or settings were replaced."""
        kept = self._paper_packed
        if (
            kept is None
            or kept[0] is not self.own
            or kept[1] is not self.paper
            or kept[2] is not self.settings
            or self._paper_scratch is None
            or self._paper_scratch[0] is not self.arrays
        ):
            sizes = len(self.arrays.c), self.n_features, self.n_labels
            self._paper_scratch = self.arrays, paper_workspace(*sizes, self.paper)
            packed = pack(PaperState(self.own, self.paper, self._paper_scratch[1], self.anchor))
            self._paper_packed = kept = self.own, self.paper, self.settings, packed
        return kept[3]

    # ------------------------------------------------------------------ distances and answers of scaled rows

    def nearest_rule(self, z: FloatArray) -> int:
        """Return the slot of the rule nearest to the sample `z`, with or without labels, eq. (28); 0 if none."""
        if z.shape not in (self.arrays.c.shape[1:], (self.n_features,)):
            raise misfit({"z": z}, f"{self.n_features} features")
        D, J = np.empty((2, 1, self.n_rules))
        _distance_rows(self.packed, self.packed_paper, z[None], self.n_features, _NONE, D, J)
        near = J if len(z) > self.n_features else D
        return 1 + int(np.argmin(near)) if self.n_rules else 0

    @property
    def novelty_bounds(self) -> FloatArray:
        """The mean squared distance beyond which a sample is novel by its features, for each rule, (C,)."""
        bounds = np.empty(self.n_rules)
        _bounds(self.packed, self.packed_paper, float(self.input_radius), bounds)
        return bounds

    def _fill_distances(self, Z: FloatArray, psi: FloatArray, D: FloatArray) -> None:
        _distance_rows(self.packed, self.packed_paper, Z, self.n_features, psi, D, _NONE)

    @property
    def loops(self) -> PaperRowLoops:
        """The compiled loops over rows that are answered."""
        return PaperRowLoops(self.n_features, self.packed, self.packed_paper)

    # ------------------------------------------------------------------ what the arrays stand for

    def regressor(self, z: FloatArray, slot: int) -> FloatArray:
        """Return (z, 1) for the rule in `slot`; missing features take their (conditional) means."""
        if not (self.paper.rotated and np.isnan(z).any()):
            return super().regressor(z, slot)
        p, centre = self.n_features, self.arrays.c[slot, : self.n_features]
        e = z - centre
        marginal_fill(self.own.F[slot], e, p, np.empty(p, np.int64), np.empty(p))
        return np.append(centre + e, 1.0)

    @property
    def anchor(self) -> FloatArray:
        """The diagonal of gamma D, by which rules are shrunk towards the global model, (q,); 0 where they are not."""
        penalty = np.asarray(self.settings.penalty[1])
        return penalty if self.paper.anchored else np.zeros_like(penalty)

    @property
    def has_weights(self) -> BoolArray:
        """Whether W of each slot is stored: it is iterated, or its rule is locked."""
        return np.ones(len(self.arrays.k), np.bool_) if self.paper.iterated else super().has_weights

    @property
    def all_weights(self) -> FloatArray:
        """W of the global model and of all rules, (1 + C, K, q); iterated weights have further slots."""
        return self.arrays.W if self.paper.iterated else super().all_weights

    def shape(self, slot: int) -> RuleShape:
        """Return centre and spread of the rule in `slot`."""
        return rotated_shape(self, slot) if self.paper.rotated else super().shape(slot)

    @property
    def label_moments(self) -> LabelMoments | None:
        """The label moments of the rules; None where labels are not coupled."""
        used = slice(1, self.n_rules + 1)
        own = self.own
        return LabelMoments(own.Q[used], own.ybar[used], own.mass[used]) if own.Q.shape[1] else None

    # ------------------------------------------------------------------ P and step bounds

    def derive_inverse(self, slot: int, settings: Settings | None = None) -> None:
        """Derive P of `slot` from H; of iterated weights the step bound and, for slot 0, the weights follow, too."""
        super().derive_inverse(slot, settings)
        if self.paper.iterated:
            tighten(self, slot, settings or self.settings)
            if slot == 0:
                with one_blas_thread():
                    self.arrays.W[0] = self.arrays.G[0] @ mirrored(self.arrays.P[0])

    def __getstate__(self) -> dict[str, Any]:
        return {**super().__getstate__(), "_paper_scratch": None, "_paper_packed": None}


def rotated_shape(rules: PaperRuleState, slot: int) -> RotatedShape:
    """Return centre and spread of the rotated rule in `slot` of `rules`."""
    return RotatedShape(slot, rules.n_features, rules.arrays, rules.settings, rules.own.F[slot])


def weights_by_least_squares(rules: PaperRuleState, slot: int) -> FloatArray:
    """Return the consequents of the rule in `slot` of `rules` by eq. (18), from its statistics alone, (K, q)."""
    if not rules.paper.iterated:
        return rules.weights(slot).T
    return np.asarray((rules.arrays.G[slot] + rules.anchor * rules.arrays.W[0]) @ rules.inverse(slot))


def tighten(rules: PaperRuleState, slot: int, settings: Settings) -> None:
    """Set the step bound of `slot` of `rules` to lmax(H + penalty), by `settings`; iterated weights keep H whole."""
    penalty = settings.penalty[min(slot, 1)]
    rules.own.top[slot] = largest_eigenvalue(rules.arrays.H[slot] + np.diag(penalty))
