"""Twins of `paper.rules.loops.iteration`."""

import numpy as np

from evolabel.paper.rules.loops.iteration import DIVERGED_ABOVE
from evolabel.typing import FloatArray


def rls_step(
    W: FloatArray, A: FloatArray, r: FloatArray, y: FloatArray, confidence: FloatArray, w: float
) -> tuple[FloatArray, FloatArray]:
    """The minimum of |W' - W|_A^2 + own (y - W' r)^2 per label, A = H + penalty; and the prediction from before."""
    new = W.copy()
    for b in np.flatnonzero(confidence > 0.0):
        own = w * confidence[b]
        new[b] = np.linalg.solve(A + own * np.outer(r, r), A @ W[b] + own * y[b] * r)
    return new, np.asarray(W @ r)


def soft(x: float, width: float) -> float:
    """Eq. (17): the minimum of (w - x)^2 / 2 + width |w|."""
    return float(np.sign(x) * max(abs(x) - width, 0.0))


def prox_step(
    W: FloatArray,
    H: FloatArray,
    B: FloatArray,
    G: FloatArray,
    penalty: FloatArray,
    anchor: FloatArray,
    W0: FloatArray,
    alpha: float,
    beta: float,
    L: float,
) -> FloatArray:
    """Eq. (16), entry by entry; the intercept feels neither alpha nor beta."""
    new, last = W.copy(), W.shape[1] - 1
    gradient = W @ H - G + W @ np.diag(penalty) - W0 @ np.diag(anchor)
    coupled = gradient + beta * B @ W
    for b in range(len(W)):
        for j in range(last):
            new[b, j] = soft(W[b, j] - coupled[b, j] / L, alpha / L)
        new[b, last] = W[b, last] - gradient[b, last] / L
    return new


def power_iteration(A: FloatArray) -> float:
    """The largest eigenvalue in size, of a symmetric matrix."""
    return float(np.abs(np.linalg.eigvalsh(A)).max())


def has_diverged(W: FloatArray) -> bool:
    """Is a weight NaN, infinite or absurd?"""
    return not bool(np.all(np.isfinite(W)) and np.max(np.abs(W), initial=0.0) < DIVERGED_ABOVE)
