"""`PaperRuleState`: the arrays of the paper's rules, and what is computed from them without learning."""

from typing import Any

import numpy as np
from scipy.linalg import cholesky, solve_triangular

from evolabel.core.sizes import misfit
from evolabel.engine.compile import direct
from evolabel.engine.one_thread import one_blas_thread
from evolabel.engine.packed_state import pack
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
from evolabel.stages.rules.inverses import mirrored
from evolabel.stages.rules.rule_state import Found, LabelMoments, MomentArrays, RuleState, Scratch, Terms
from evolabel.typing import Arrays, FloatArray, IntArray

_distance_rows, _answer_rows = direct(paper_distance_rows), direct(paper_answer_rows)
_answer_block, _variance_block = direct(paper_answer_block), direct(paper_variance_block)
_variance_rows, _bounds, _add_moments = direct(paper_variance_rows), direct(paper_bounds), direct(add_paper_moments)

_NONE = np.empty((0, 0))
_MIN_EIGENVALUE = 1e-9  # keeps the factor of a singular covariance defined


class PaperRuleState(RuleState):
    """A `RuleState` of the paper's rules: rotated, in the product space, with weights that are iterated.

    Attributes
    ----------
    own : PaperArrays
        State beside `arrays`.
    paper : PaperSettings
        Parameters of the paper's kernels.
    input_radius : float
        Radius within which a sample is not novel by its features alone.
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

    # ------------------------------------------------------------------ what kernels take

    def packed_paper(self) -> Any:
        """Return the argument `paper` of kernels; packed again when arrays or settings were replaced."""
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
        _distance_rows(self.packed(), self.packed_paper(), z[None], self.n_features, _NONE, D, J)
        near = J if len(z) > self.n_features else D
        return 1 + int(np.argmin(near)) if self.n_rules else 0

    def novelty_bounds(self) -> FloatArray:
        """Return the mean squared distance beyond which a sample is novel by its features, for each rule, (C,)."""
        bounds = np.empty(self.n_rules)
        _bounds(self.packed(), self.packed_paper(), float(self.input_radius), bounds)
        return bounds

    def _fill_distances(self, Z: FloatArray, psi: FloatArray, D: FloatArray) -> None:
        _distance_rows(self.packed(), self.packed_paper(), Z, self.n_features, psi, D, _NONE)

    def fill_answers(self, Z: FloatArray, W: FloatArray, moments: MomentArrays, found: Found, terms: Terms) -> None:
        """Fill `found` and `terms` for the rows `Z`, row by row."""
        V = np.empty((len(Z), self.n_features + 1))
        _answer_rows(self.packed(), self.packed_paper(), Z, W, *moments, *found, *terms, V)

    def fill_block(self, Z: FloatArray, psi: FloatArray, W: FloatArray, scratch: Scratch, out: FloatArray) -> None:
        """Fill `out` for the rows `Z`, all rows of a rule at once."""
        _answer_block(self.packed(), self.packed_paper(), Z, psi, W, *scratch, out)

    def fill_terms(self, Z: FloatArray, psi: FloatArray, moments: MomentArrays, terms: Terms) -> None:
        """Fill `terms`, which must be zeros, for rows `Z` of memberships `psi`, row by row."""
        _variance_rows(self.packed(), self.packed_paper(), Z, psi, *moments, *terms)

    def fill_block_terms(self, Z: FloatArray, psi: FloatArray, moments: MomentArrays, terms: Terms) -> None:
        """Fill `terms`, which must be zeros, for rows `Z` of memberships `psi`, all rows of a rule at once."""
        A, R, U, rows = self._block_scratch(len(Z))
        _variance_block(self.packed(), self.packed_paper(), Z, psi, *moments, A, R, U, rows, *terms)

    def add_moments(self, Z: FloatArray, weight: float, moments: MomentArrays) -> None:
        """Add the rows `Z`, each of this `weight`, to the second `moments` of all slots."""
        _add_moments(self.packed(), self.packed_paper(), Z, self.memberships(Z)[0], weight, *moments)

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

    def holds_weights(self, slot: int) -> bool:
        """Return whether W of `slot` is stored: it is iterated, or its rule is locked."""
        return self.paper.iterated or super().holds_weights(slot)

    def all_weights(self) -> FloatArray:
        """Return W of the global model and of all rules, (1 + C, K, q); iterated weights have further slots."""
        return self.arrays.W if self.paper.iterated else super().all_weights()

    def covariance(self, slot: int) -> FloatArray:
        """Return Sigma_i of the features of the rule in `slot`, prior included, (p, p); a marginal in product space."""
        if not self.paper.rotated:
            return super().covariance(slot)
        p = self.n_features
        F = np.tril(self.own.F[slot, :p, :p])
        return np.asarray(F @ F.T / degrees(self.arrays.k[slot], self.settings.prior_count))

    def root_of_samples(self, slot: int) -> FloatArray:
        """Return a factor of the covariance of the samples that the rule in `slot` has seen, without prior, (p, p)."""
        if not self.paper.rotated:
            return super().root_of_samples(slot)
        p = self.n_features
        seen = self.scatter(slot)[:p, :p] / max(float(self.arrays.k[slot]), 1e-300)
        values, vectors = np.linalg.eigh(seen)
        return np.asarray(vectors * np.sqrt(np.maximum(values, _MIN_EIGENVALUE)))

    def squares_in_order(self, slot: int, Z: FloatArray, order: IntArray) -> FloatArray:
        """Return what each feature of `order` adds to the squared distances of complete rows `Z` to the rule in `slot`.

        The covariance of a rotated rule is factored in this order: partial sums of one forward substitution are the
        marginal distances.
        """
        if not self.paper.rotated:
            return super().squares_in_order(slot, Z, order)
        p, a = self.n_features, self.arrays
        e = Z[:, order] - a.c[slot, order]
        F = np.tril(self.own.F[slot])[:p] / np.sqrt(degrees(float(a.k[slot]), self.settings.prior_count))
        factor = cholesky((F @ F.T)[np.ix_(order, order)], lower=True)
        stretched = np.sqrt(self.settings.importance[order]) * e
        return np.asarray(solve_triangular(factor, stretched.T, lower=True).T ** 2)

    @property
    def label_moments(self) -> LabelMoments | None:
        """The label moments of the rules; None where labels are not coupled."""
        used = slice(1, self.n_rules + 1)
        own = self.own
        return LabelMoments(own.Q[used], own.ybar[used], own.mass[used]) if own.Q.shape[1] else None

    @one_blas_thread()
    def scatter(self, slot: int) -> FloatArray:
        """Return the scatter matrix of the rotated rule in `slot`: F F' without the prior."""
        F = np.tril(self.own.F[slot])
        return np.asarray(F @ F.T - np.diag(self.settings.prior_count * self.settings.prior))

    @one_blas_thread()
    def set_scatter(self, slot: int, matrix: FloatArray, settings: Settings | None = None) -> None:
        """Set F of `slot` to the factor of the scatter `matrix` with the prior of `settings`, by default its own."""
        s = settings or self.settings
        self.own.F[slot] = cholesky(matrix + np.diag(s.prior_count * s.prior), lower=True)

    # ------------------------------------------------------------------ P and step bounds

    def derive_inverse(self, slot: int, settings: Settings | None = None) -> None:
        """Derive P of `slot` from H; of iterated weights the step bound and, for slot 0, the weights follow, too."""
        super().derive_inverse(slot, settings)
        if self.paper.iterated:
            self.tighten(slot, settings)
            if slot == 0:
                with one_blas_thread():
                    self.arrays.W[0] = self.arrays.G[0] @ mirrored(self.arrays.P[0])

    def start_inverse(self, slot: int) -> None:
        """Set P and the step bound of `slot` to those of consequents without samples."""
        super().start_inverse(slot)
        self.own.top[slot] = self.settings.penalty[min(slot, 1)].max()

    def tighten(self, slot: int, settings: Settings | None = None) -> None:
        """Set the step bound of `slot` to lmax(H + penalty). Iterated consequents store H as a whole matrix."""
        penalty = (settings or self.settings).penalty[min(slot, 1)]
        self.own.top[slot] = largest_eigenvalue(self.arrays.H[slot] + np.diag(penalty))

    def __getstate__(self) -> dict[str, Any]:
        return {**super().__getstate__(), "_paper_scratch": None, "_paper_packed": None}
