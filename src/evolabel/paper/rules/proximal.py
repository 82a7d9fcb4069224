"""Algorithm 1: the consequents of one rule in the batch phase, by proximal gradient until converged.

Objective, with W of shape (K, q), one row per label, the intercept last:

    1/2 tr(W H W') - tr(W G') + 1/2 sum_j penalty_j |w_j - a_j|^2 + alpha |W|_1 + beta/2 tr(W' B W)

Deviation: neither the L1 norm nor the coupling touches the intercept (eq. 7 leaves it out, eq. 10 does not; it has
the base rate). Deviation: the step is 1 / L with L = lmax(H + penalty) + beta lmax(B), a Lipschitz constant of the
gradient; the printed eq. (14) is its square root, with which the iteration diverges.
"""

from dataclasses import dataclass

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve, eigvalsh

from evolabel.engine.symmetric import one_blas_thread
from evolabel.errors import DivergenceError
from evolabel.paper.rules.loops.descent import descend
from evolabel.paper.rules.loops.iteration import DIVERGED_ABOVE
from evolabel.typing import FloatArray

SMALL = 64  # rows of a matrix
MOST_STEPS = 20_000
STILL = 1e-8  # change of the weights, relative to their norm, at which the iteration ends
RANK_TOLERANCE = 1e-15  # eigenvalues of H below this share of the largest are rounding

DIVERGED_TEXT = (
    f"the rule weights diverged {{when}} (weights beyond {DIVERGED_ABOVE:g}); use "
    'coupling="signed_laplacian" and lipschitz="safe", or smaller alpha and beta'
)


@dataclass(frozen=True)
class Problem:
    """The objective of one rule; `anchor`, (K, q), is what the ridge shrinks towards; `literal` steps as printed."""

    H: FloatArray
    G: FloatArray
    penalty: FloatArray
    anchor: FloatArray
    B: FloatArray
    alpha: float
    beta: float
    literal: bool = False

    def gradient(self, W: FloatArray) -> FloatArray:
        """Return the gradient of the smooth part at `W`, eq. (12), with the ridge; the coupling has the factor beta."""
        slope = W @ self.H - self.G + self.penalty * (W - self.anchor)
        slope[:, :-1] += self.beta * (self.B @ W[:, :-1])
        return np.asarray(slope)

    def value(self, W: FloatArray) -> float:
        """Return the objective at `W`, without the constant sum of psi |y|^2 / 2."""
        fit = 0.5 * np.sum((W @ self.H) * W) - np.sum(W * self.G)
        ridge = 0.5 * np.sum(self.penalty * (W - self.anchor) ** 2)
        slopes = W[:, :-1]
        return float(
            fit + ridge + self.alpha * np.abs(slopes).sum() + 0.5 * self.beta * np.sum(slopes * (self.B @ slopes))
        )

    def lipschitz(self) -> float:
        """Return L of the gradient: at least the spectral norm of the Kronecker sum of H + penalty and beta B."""
        if self.literal:  # eq. (14) as printed
            return float(np.sqrt(largest_eigenvalue(self.H) + self.beta * largest_eigenvalue(self.B)))
        return largest_eigenvalue(self.H + np.diag(self.penalty)) + self.beta * max(largest_eigenvalue(self.B), 0.0)


@one_blas_thread()
def largest_eigenvalue(A: FloatArray) -> float:
    """Return the largest eigenvalue of the symmetric matrix `A`."""
    n = len(A)
    if n < SMALL:  # all eigenvalues together take less time than one alone
        return float(np.linalg.eigvalsh(A)[-1]) if n else 0.0
    return float(eigvalsh(A, subset_by_index=(n - 1, n - 1))[0])


def soft_threshold(X: FloatArray, width: float) -> FloatArray:
    """Return `X` with the soft threshold `width`, eq. (17), except for the intercept."""
    shrunk = np.sign(X) * np.maximum(np.abs(X) - width, 0.0)
    shrunk[:, -1] = X[:, -1]
    return np.asarray(shrunk)


@one_blas_thread()
def minimise(problem: Problem, start: FloatArray, tolerance: float = STILL, most: int = MOST_STEPS) -> FloatArray:
    """Return the weights that minimise `problem`, from `start`: eq. (16) accelerated (FISTA), with restarts.

    It restarts where the momentum points uphill, and ends when W changes by less than `tolerance`, relative to its
    norm, or after `most` steps. DivergenceError if the weights diverge,
    which only the printed coupling or step length can cause. Without an L1 penalty the minimum is the solution of a
    linear system.
    """
    if problem.alpha == 0.0 and not problem.literal:
        exact = without_l1(problem, np.array([problem.beta]))
        if exact is not None:
            return np.asarray(exact[0])
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
        if not np.abs(W).max() < DIVERGED_ABOVE:
            raise DivergenceError(DIVERGED_TEXT.format(when="in the batch phase"))
        if np.sum(step * step) <= tolerance * tolerance * max(1.0, np.sum(W * W)):
            break
    return W


def without_l1(problem: Problem, betas: FloatArray) -> FloatArray | None:
    """Return the minima at alpha = 0 for each of `betas`, (n, K, q); None if one of them is not unique.

    In the eigenbasis of B the labels are independent: one linear system per eigenvalue.
    """
    ties, V = np.linalg.eigh(problem.B)
    target = V.T @ (problem.G + problem.penalty * problem.anchor)
    coupled = np.append(np.ones(problem.H.shape[0] - 1), 0.0)  # the intercept is not coupled
    own = problem.H + np.diag(problem.penalty)
    minima = np.empty((len(betas), *target.shape))
    for n, beta in enumerate(betas):
        for k, tie in enumerate(ties):
            try:
                factor = cho_factor(own + np.diag(beta * tie * coupled), check_finite=False)
            except LinAlgError:
                return None
            minima[n, k] = cho_solve(factor, target[k], check_finite=False)
        minima[n] = V @ minima[n]
    return minima


def minimise_all(
    problem: Problem, start: FloatArray, alphas: FloatArray, betas: FloatArray, tolerance: float = STILL
) -> FloatArray:
    """Return the minima for all pairs of `alphas` and `betas` on the same statistics, (n, K, q), as `minimise` does.

    `problem.alpha` and `problem.beta` are not used. Only for the safe step and a positive semidefinite coupling.
    """
    minima = np.repeat(start[None], len(alphas), axis=0)
    plain = alphas == 0.0
    exact = without_l1(problem, betas[plain]) if plain.any() else None
    if exact is None:
        plain[:] = False
    else:
        minima[plain] = exact
    rest = np.ascontiguousarray(minima[~plain])
    own, ties = largest_eigenvalue(problem.H + np.diag(problem.penalty)), max(largest_eigenvalue(problem.B), 0.0)
    target = problem.G + problem.penalty * problem.anchor
    L = own + betas[~plain] * ties
    pairs = alphas[~plain], betas[~plain]
    descend(
        np.ascontiguousarray(problem.H),
        _factor(problem.H),
        target,
        problem.penalty,
        problem.B,
        *pairs,
        L,
        tolerance,
        MOST_STEPS,
        rest,
    )
    minima[~plain] = rest
    return minima


def _factor(H: FloatArray) -> FloatArray:
    """Return F with H = F'F, with as many rows as the rank of `H`."""
    values, V = np.linalg.eigh(H)
    kept = values > RANK_TOLERANCE * max(values[-1], 0.0)
    return np.ascontiguousarray((V[:, kept] * np.sqrt(values[kept])).T)
