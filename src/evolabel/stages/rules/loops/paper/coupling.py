"""Label correlation inside a rule, and the matrix B that couples its labels' weights (eqs. 8, 9, 19-23).

| symbol | array | meaning                                                        |
|--------|-------|----------------------------------------------------------------|
| S      |       | sum of psi                                                     |
| S2     |       | sum of psi^2; S^2 / S2 is the effective number of samples      |
| ybar   | (K,)  | weighted mean of the labels                                    |
| Q      | (K,K) | weighted co-moments, sum psi (y - ybar)(y - ybar)'             |
| B      | (K,K) | coupling, positive semidefinite, largest row sum 1             |
"""

import numpy as np

from evolabel.engine.compile import inner, kernel
from evolabel.typing import FloatArray

# Kinds of coupling. PAPER is the printed A = 1 - corr, which is indefinite: for ablation only.
NONE, RIDGE, SHIFTED, SIGNED_LAPLACIAN, PAPER = 0, 1, 2, 3, 4  # the first two need no correlations

# Correlations are multiplied by n / (n + 10), because those of few samples are mostly noise.
SHRINK = 10.0


@kernel
def add_label_moments(y: FloatArray, psi: float, mass: FloatArray, ybar: FloatArray, Q: FloatArray) -> None:
    """Update `mass` = (S, S2), `ybar` and Q by the labels y, eqs. (19)-(23) for all pairs at once.

    A label that is not annotated counts as its mean, and changes nothing.
    """
    before = mass[0]
    mass[0] += psi
    mass[1] += psi * psi
    share, gain = psi / mass[0], psi * before / mass[0]
    K = y.shape[0]
    for c in range(K):
        e = 0.0 if np.isnan(y[c]) else gain * (y[c] - ybar[c])
        for d in range(c + 1):
            if e != 0.0 and not np.isnan(y[d]):
                Q[c, d] += e * (y[d] - ybar[d])
                Q[d, c] = Q[c, d]
    for c in range(K):
        if not np.isnan(y[c]):
            ybar[c] += share * (y[c] - ybar[c])


@kernel
def correlation(Q: FloatArray, mass: FloatArray, shrink: bool, C: FloatArray) -> None:
    """Fill C with correlations, eq. (9); a constant label has 0, where the literal formula divides 0 by 0."""
    K = Q.shape[0]
    n = mass[0] * mass[0] / mass[1] if mass[1] > 0.0 else 0.0
    factor = n / (n + SHRINK) if shrink else 1.0
    floor = 1e-12 * max(mass[0], 1e-300)
    for c in range(K):
        for d in range(K):
            if c == d:
                C[c, d] = 1.0
            elif Q[c, c] <= floor or Q[d, d] <= floor:
                C[c, d] = 0.0
            else:
                C[c, d] = factor * min(max(Q[c, d] / np.sqrt(Q[c, c] * Q[d, d]), -1.0), 1.0)


@inner
def row_sum(B: FloatArray, c: int) -> float:
    """Return the sum of the absolute values of row c of B."""
    total = 0.0
    for d in range(B.shape[1]):
        total += abs(B[c, d])
    return total


@inner
def largest_row_sum(B: FloatArray) -> float:
    """Return the largest sum of absolute values over the rows of B, a bound of the norm of a symmetric matrix."""
    most = 0.0
    for c in range(B.shape[0]):
        most = max(most, row_sum(B, c))
    return most


@kernel
def coupling(Q: FloatArray, mass: FloatArray, kind: int, B: FloatArray) -> None:
    """Fill B with the coupling matrix of this `kind` from the label moments Q and `mass` of a rule."""
    K = B.shape[0]  # there is no Q where labels are not coupled
    if kind <= RIDGE:
        for c in range(K):
            for d in range(K):
                B[c, d] = 1.0 if c == d and kind == RIDGE else 0.0
        return
    correlation(Q, mass, kind != PAPER, B)
    reach = largest_row_sum(B)  # at least the largest eigenvalue of the correlations
    for c in range(K):
        tie = row_sum(B, c) - 1.0  # of the other labels: the diagonal is 1
        for d in range(K):
            if kind == SIGNED_LAPLACIAN:
                B[c, d] = tie if c == d else -B[c, d]
            else:
                B[c, d] = (reach if kind == SHIFTED else 0.0) if c == d else 1.0 - B[c, d]
    if kind != PAPER:
        scale_to_unit(B)


@inner
def scale_to_unit(B: FloatArray) -> None:
    """Divide B by its largest absolute row sum, a bound of its norm, so that beta does not depend on K."""
    most = largest_row_sum(B)
    if most > 0.0:
        for c in range(B.shape[0]):
            for d in range(B.shape[0]):
                B[c, d] /= most
