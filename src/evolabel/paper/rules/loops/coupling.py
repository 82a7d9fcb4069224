"""The matrix B that couples the weights of the labels of a rule, (K, K), from their correlations (eq. 8).

It is positive semidefinite, with a largest row sum of 1.
"""

from evolabel.engine.compile import inner, kernel
from evolabel.stages.rules.loops.label_moments import correlation
from evolabel.typing import FloatArray

# Kinds of coupling. PAPER is the printed A = 1 - corr, which is indefinite: for ablation only.
NONE, RIDGE, SHIFTED, SIGNED_LAPLACIAN, PAPER = 0, 1, 2, 3, 4  # the first two need no correlations


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
