"""Twins of `paper.rules.loops.descent`."""

import numpy as np

from evolabel.typing import FloatArray
from naive.paper.iteration import soft


def add_rows(C: FloatArray, A: FloatArray, out: FloatArray) -> FloatArray:
    """Out + C A."""
    return np.asarray(out + C @ A)


def curvature(W: FloatArray, H: FloatArray) -> FloatArray:
    """W H."""
    return np.asarray(W @ H)


def add_coupling(W: FloatArray, B: FloatArray, beta: float, out: FloatArray) -> FloatArray:
    """Out + beta B W, the last column as it was."""
    coupled = out + beta * B @ W
    coupled[:, -1] = out[:, -1]
    return np.asarray(coupled)


def proximal_point(
    ahead: FloatArray, slope: FloatArray, target: FloatArray, penalty: FloatArray, alpha: float, L: float
) -> FloatArray:
    """Eq. (16), entry by entry; the intercept feels no alpha."""
    moved = ahead - (slope - target + ahead @ np.diag(penalty)) / L
    for b in range(len(moved)):
        for j in range(moved.shape[1] - 1):
            moved[b, j] = soft(moved[b, j], alpha / L)
    return np.asarray(moved)


def uphill(ahead: FloatArray, new: FloatArray, W: FloatArray) -> bool:
    """Is the angle between the step from `ahead` and the step from W more than a right one?"""
    return bool(np.sum((ahead - new) * (new - W)) > 0.0)


def advance(new: FloatArray, momentum: float, W: FloatArray) -> tuple[FloatArray, float, float]:
    """Where the momentum leads, and the squared norms of the step and of `new`."""
    return new + momentum * (new - W), float(np.linalg.norm(new - W) ** 2), float(np.linalg.norm(new) ** 2)


def descend(
    H: FloatArray,
    target: FloatArray,
    penalty: FloatArray,
    B: FloatArray,
    alpha: float,
    beta: float,
    L: float,
    tolerance: float,
    most: int,
    W: FloatArray,
) -> FloatArray:
    """The end of the accelerated walk of one pair (alpha, beta) from W."""
    ahead, time = W, 1.0
    for _ in range(most):
        new = proximal_point(ahead, add_coupling(ahead, B, beta, curvature(ahead, H)), target, penalty, alpha, L)
        time = 1.0 if uphill(ahead, new, W) else time
        after = (1.0 + np.sqrt(1.0 + 4.0 * time**2)) / 2.0
        ahead, change, size = advance(new, (time - 1.0) / after, W)
        W, time = new, after
        if change <= tolerance**2 * max(1.0, size):
            break
    return W
