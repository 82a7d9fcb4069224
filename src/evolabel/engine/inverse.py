"""The inverse of a positive definite matrix, without LAPACK: its bits would depend on the number of BLAS threads."""

import numpy as np

from evolabel.engine.compile import inner, kernel
from evolabel.engine.symmetric import add_outer_products, add_product, add_scaled
from evolabel.typing import FloatArray


@inner
def factor(A: FloatArray, L: FloatArray, column: FloatArray) -> bool:
    """Fill L with the lower Cholesky factor of A, column by column; return False if A is not positive definite.

    Only the lower triangle of A is read, and only that of L is written. `column` is scratch of q numbers.
    """
    q = A.shape[0]
    for j in range(q):
        below = column[j:]
        for i in range(j, q):
            column[i] = A[i, j]
        add_product(L[j:], L[j, :j], -1.0, below)
        if not column[j] > 0.0 or column[j] == np.inf:
            return False
        L[j, j] = np.sqrt(column[j])
        for i in range(j + 1, q):
            L[i, j] = column[i] / L[j, j]
    return True


@kernel
def positive_inverse(A: FloatArray, L: FloatArray, V: FloatArray, column: FloatArray, P: FloatArray) -> bool:
    """Fill the lower triangle of P with A^-1; return False, and leave P, if A is not positive definite.

    A = L L', V = L^-1, P = V'V. L, V and `column` are scratch; of A only the lower triangle is read.
    """
    q = A.shape[0]
    if not factor(A, L, column):
        return False
    V[:] = 0.0
    for i in range(q):
        for k in range(i):
            add_scaled(-L[i, k], V[k, : k + 1], V[i])
        for j in range(i):
            V[i, j] /= L[i, i]
        V[i, i] = 1.0 / L[i, i]
    P[:] = 0.0
    for k in range(0, q, 8):
        last = min(k + 8, q)
        add_outer_products(P[:last], V[k:last], last - k, 1.0)
    return True
