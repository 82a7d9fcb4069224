"""Products and updates of symmetric matrices of which only the lower triangle is kept.

Half the memory traffic of a full matrix, and symmetric by construction: rounding cannot make P lopsided. Rank-one
changes wait in blocks: applying b of them at once moves the matrix through memory once instead of b times.
"""

from evolabel.kernels._compile import kernel
from evolabel.kernels.state import FloatArray


@kernel
def dot(a: FloatArray, b: FloatArray) -> float:
    """Inner product. Written out: a BLAS call costs more than the sum at these lengths, and may start threads."""
    s = 0.0
    for j in range(a.shape[0]):
        s += a[j] * b[j]
    return s


@kernel
def add_product(A: FloatArray, u: FloatArray, scale: float, f: FloatArray) -> None:
    """Add scale * A u to f, for any matrix A."""
    for b in range(f.shape[0]):
        f[b] += scale * dot(A[b], u)


@kernel
def symmetric_product(P: FloatArray, r: FloatArray, u: FloatArray) -> None:
    """Compute u = P r, reading the lower triangle once."""
    for i in range(r.shape[0]):
        row = P[i]
        ri = r[i]
        s = 0.0
        for j in range(i):
            s += row[j] * r[j]
            u[j] += row[j] * ri
        u[i] = s + row[i] * ri


@kernel
def pending_product(P: FloatArray, waiting: FloatArray, b: int, r: FloatArray, u: FloatArray) -> None:
    """Compute u = (P - sum of w w' over the first b waiting rows) r."""
    symmetric_product(P, r, u)
    for k in range(b):
        w = waiting[k]
        s = dot(w, r)
        for j in range(r.shape[0]):
            u[j] -= s * w[j]


@kernel
def add_outer_products(A: FloatArray, w: FloatArray, b: int, sign: float) -> None:
    """A += sign * sum of w_k w_k' over the first b rows of w, lower triangle; eight rows at a time."""
    k = 0
    while k + 7 < b:
        for i in range(A.shape[0]):
            a0, a1, a2, a3 = sign * w[k, i], sign * w[k + 1, i], sign * w[k + 2, i], sign * w[k + 3, i]
            a4, a5, a6, a7 = sign * w[k + 4, i], sign * w[k + 5, i], sign * w[k + 6, i], sign * w[k + 7, i]
            for j in range(i + 1):
                low = a0 * w[k, j] + a1 * w[k + 1, j] + a2 * w[k + 2, j] + a3 * w[k + 3, j]
                high = a4 * w[k + 4, j] + a5 * w[k + 5, j] + a6 * w[k + 6, j] + a7 * w[k + 7, j]
                A[i, j] += low + high
        k += 8
    while k < b:
        for i in range(A.shape[0]):
            a0 = sign * w[k, i]
            for j in range(i + 1):
                A[i, j] += a0 * w[k, j]
        k += 1
