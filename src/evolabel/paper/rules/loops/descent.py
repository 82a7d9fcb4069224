"""Algorithm 1 for many penalties at once: accelerated proximal gradient on the same statistics.

| symbol  | array      | meaning                                                                        |
|---------|------------|--------------------------------------------------------------------------------|
| F       | (r, q)     | factor of H = F'F: few rows for a rule of few samples                          |
| W       | (n, K, q)  | consequents, one matrix per pair (alpha, beta); start values, then the minima  |
| L       | (n,)       | Lipschitz constants of the gradients                                           |

The arithmetic of a pair does not depend on the other pairs.
"""

import numpy as np

from evolabel.engine.compile import allocating_kernel, inner
from evolabel.engine.symmetric import add_product, add_rows, add_scaled
from evolabel.typing import FloatArray


@inner
def curvature(W: FloatArray, H: FloatArray, F: FloatArray, T: FloatArray, out: FloatArray) -> None:
    """Fill `out` with W H, without the weights of 0, or as (W F') F where that takes fewer products; T is scratch."""
    present = 0
    for b in range(W.shape[0]):
        for j in range(W.shape[1]):
            present += W[b, j] != 0.0
    out[:] = 0.0
    if present <= 2 * F.shape[0] * W.shape[0]:  # each times q: the products of the first and of the second way
        add_rows(W, H, out)
        return
    T[:] = 0.0
    for b in range(W.shape[0]):
        add_product(F, W[b], 1.0, T[b])
    add_rows(T, F, out)


@inner
def add_coupling(W: FloatArray, B: FloatArray, beta: float, out: FloatArray) -> None:
    """Add beta B W to `out`, except for the intercept."""
    K, last = W.shape[0], W.shape[1] - 1
    for b in range(K):
        for d in range(K):
            tie = beta * B[b, d]
            if tie != 0.0:
                add_scaled(tie, W[d, :last], out[b])


@inner
def proximal_point(
    ahead: FloatArray,
    slope: FloatArray,
    target: FloatArray,
    penalty: FloatArray,
    alpha: float,
    L: float,
    new: FloatArray,
) -> None:
    """Fill `new` with a gradient step from `ahead` and the soft threshold, eq. (16); target = G + penalty * anchor."""
    K, last = ahead.shape[0], ahead.shape[1] - 1
    step, width = 1.0 / L, alpha / L
    for b in range(K):
        for j in range(last):
            moved = ahead[b, j] - (slope[b, j] - target[b, j] + penalty[j] * ahead[b, j]) * step
            new[b, j] = max(moved - width, 0.0) - max(-moved - width, 0.0)  # eq. (17) without branches
        new[b, last] = ahead[b, last] - (slope[b, last] - target[b, last] + penalty[last] * ahead[b, last]) * step


@inner
def uphill(ahead: FloatArray, new: FloatArray, W: FloatArray) -> bool:
    """Return whether the momentum of `ahead` points away from the step from W to `new`, so that it has to restart."""
    total = 0.0
    for b in range(W.shape[0]):
        for j in range(W.shape[1]):
            total += (ahead[b, j] - new[b, j]) * (new[b, j] - W[b, j])
    return total > 0.0


@inner
def advance(new: FloatArray, momentum: float, W: FloatArray, ahead: FloatArray) -> tuple[float, float]:
    """Set W to `new`, `ahead` to a point beyond it by `momentum`; return the squared norms of the change and of W."""
    change, size = 0.0, 0.0
    for b in range(W.shape[0]):
        for j in range(W.shape[1]):
            step = new[b, j] - W[b, j]
            ahead[b, j] = new[b, j] + momentum * step
            W[b, j] = new[b, j]
            change += step * step
            size += new[b, j] * new[b, j]
    return change, size


@allocating_kernel
def descend(
    H: FloatArray,
    F: FloatArray,
    target: FloatArray,
    penalty: FloatArray,
    B: FloatArray,
    alpha: FloatArray,
    beta: FloatArray,
    L: FloatArray,
    tolerance: float,
    most: int,
    W: FloatArray,
) -> None:
    """Set W to the minima of the objective for every pair (alpha, beta), each from its own start in W.

    A pair is done when W changes by less than `tolerance`, relative to its norm, or after `most` steps.
    """
    K, q = target.shape
    ahead, new, slope = np.empty((K, q)), np.empty((K, q)), np.empty((K, q))
    T = np.empty((K, F.shape[0]))
    for n in range(W.shape[0]):
        ahead[:] = W[n]
        time = 1.0
        for _ in range(most):
            curvature(ahead, H, F, T, slope)
            add_coupling(ahead, B, beta[n], slope)
            proximal_point(ahead, slope, target, penalty, alpha[n], L[n], new)
            if uphill(ahead, new, W[n]):
                time = 1.0
            after = (1.0 + np.sqrt(1.0 + 4.0 * time * time)) / 2.0
            change, size = advance(new, (time - 1.0) / after, W[n], ahead)
            time = after
            if change <= tolerance * tolerance * max(1.0, size):
                break
