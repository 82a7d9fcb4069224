"""`RotatedShape`: where a rotated rule lies, and how far it reaches."""

import numpy as np
from scipy.linalg import cholesky, solve_triangular

from evolabel.engine.symmetric import one_blas_thread
from evolabel.paper.rules.loops.rotated import degrees
from evolabel.stages.rules.arrays import RuleArrays, Settings
from evolabel.stages.rules.rule_state import RuleShape
from evolabel.typing import FloatArray, IntArray

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
