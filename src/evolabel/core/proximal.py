"""Algorithm 1: the consequents of one rule in the batch phase, by proximal gradient until converged.

Objective, with W of shape (K, q), one row per label, the intercept last:

    1/2 tr(W H W') - tr(W G') + 1/2 sum_j penalty_j |w_j - a_j|^2 + alpha |W|_1 + beta/2 tr(W' B W)

Deviation: neither the L1 norm nor the coupling touches the intercept (eq. 7 spares it, eq. 10 does not; it holds the
base rate). Deviation: the step is 1 / L with L = lmax(H) + max penalty + beta lmax(B), the Lipschitz constant of the
gradient; the printed eq. (14) is its square root, with which the iteration diverges.
"""

from dataclasses import dataclass

import numpy as np
from scipy.linalg import eigvalsh

from evolabel.errors import DivergenceError
from evolabel.kernels.iteration import BLOW_UP
from evolabel.kernels.state import FloatArray

SMALL = 64

BLOWN_UP = (
    f"the consequents blew up {{when}} (weights beyond {BLOW_UP:g}); use "
    'coupling="signed_laplacian" and lipschitz="safe", or smaller alpha and beta'
)


@dataclass(frozen=True)
class Problem:
    """The objective of one rule; `anchor` is what the ridge pulls towards, (K, q); `literal` steps as printed."""

    H: FloatArray
    G: FloatArray
    penalty: FloatArray
    anchor: FloatArray
    B: FloatArray
    alpha: float
    beta: float
    literal: bool = False

    def gradient(self, W: FloatArray) -> FloatArray:
        """Eq. (12) of the smooth part, with the ridge. The coupling's factor is beta, as the objective has beta/2."""
        slope = W @ self.H - self.G + self.penalty * (W - self.anchor)
        slope[:, :-1] += self.beta * (self.B @ W[:, :-1])
        return np.asarray(slope)

    def value(self, W: FloatArray) -> float:
        """The objective, without the constant sum of psi |y|^2 / 2."""
        fit = 0.5 * np.sum((W @ self.H) * W) - np.sum(W * self.G)
        ridge = 0.5 * np.sum(self.penalty * (W - self.anchor) ** 2)
        slopes = W[:, :-1]
        return float(
            fit + ridge + self.alpha * np.abs(slopes).sum() + 0.5 * self.beta * np.sum(slopes * (self.B @ slopes))
        )

    def lipschitz(self) -> float:
        """L of the gradient: at least the spectral norm of the Kronecker sum of H + penalty and beta B."""
        if self.literal:  # eq. (14) as printed
            return float(np.sqrt(largest_eigenvalue(self.H) + self.beta * largest_eigenvalue(self.B)))
        return largest_eigenvalue(self.H + np.diag(self.penalty)) + self.beta * max(largest_eigenvalue(self.B), 0.0)


def largest_eigenvalue(A: FloatArray) -> float:
    """The largest eigenvalue of a symmetric matrix."""
    n = len(A)
    if n < SMALL:  # all eigenvalues at once cost less than asking for one
        return float(np.linalg.eigvalsh(A)[-1]) if n else 0.0
    return float(eigvalsh(A, subset_by_index=(n - 1, n - 1))[0])


def soft_threshold(X: FloatArray, width: float) -> FloatArray:
    """Eq. (17), the intercept spared."""
    shrunk = np.sign(X) * np.maximum(np.abs(X) - width, 0.0)
    shrunk[:, -1] = X[:, -1]
    return np.asarray(shrunk)


def minimise(problem: Problem, start: FloatArray, tolerance: float = 1e-10, most: int = 20_000) -> FloatArray:
    """Eq. (16) accelerated (FISTA), restarted whenever the momentum points uphill; stops when W stands still.

    Raises DivergenceError when the weights blow up, which only the printed coupling or step length can do.
    """
    L = problem.lipschitz()
    W, ahead, t = start.copy(), start.copy(), 1.0
    for _ in range(most):
        new = soft_threshold(ahead - problem.gradient(ahead) / L, problem.alpha / L)
        step = new - W
        if np.sum((ahead - new) * step) > 0.0:
            t = 1.0
        t_next = (1.0 + np.sqrt(1.0 + 4.0 * t * t)) / 2.0
        ahead = new + ((t - 1.0) / t_next) * step
        W, t = new, t_next
        if not np.abs(W).max() < BLOW_UP:
            raise DivergenceError(BLOWN_UP.format(when="in the batch phase"))
        if np.abs(step).max() <= tolerance * max(1.0, np.abs(W).max()):
            break
    return W
