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
    """Add scale * A u to f, for any matrix A; four rows at a time share what they read of u."""
    K, q = f.shape[0], u.shape[0]
    b = 0
    while b + 3 < K:
        s0, s1, s2, s3 = 0.0, 0.0, 0.0, 0.0
        for j in range(q):
            s0 += A[b, j] * u[j]
            s1 += A[b + 1, j] * u[j]
            s2 += A[b + 2, j] * u[j]
            s3 += A[b + 3, j] * u[j]
        f[b] += scale * s0
        f[b + 1] += scale * s1
        f[b + 2] += scale * s2
        f[b + 3] += scale * s3
        b += 4
    while b < K:
        f[b] += scale * dot(A[b], u)
        b += 1


@kernel
def symmetric_product(P: FloatArray, r: FloatArray, u: FloatArray) -> None:
    """Compute u = P r, reading the lower triangle once; four rows at a time share what they read of r and u."""
    q = r.shape[0]
    i = 0
    while i + 3 < q:
        r0, r1, r2, r3 = r[i], r[i + 1], r[i + 2], r[i + 3]
        s0, s1, s2, s3 = 0.0, 0.0, 0.0, 0.0
        for j in range(i):
            p0, p1, p2, p3 = P[i, j], P[i + 1, j], P[i + 2, j], P[i + 3, j]
            s0 += p0 * r[j]
            s1 += p1 * r[j]
            s2 += p2 * r[j]
            s3 += p3 * r[j]
            u[j] += p0 * r0 + p1 * r1 + p2 * r2 + p3 * r3
        a, b, c = P[i + 1, i], P[i + 2, i], P[i + 2, i + 1]  # the block on the diagonal
        d, e, f = P[i + 3, i], P[i + 3, i + 1], P[i + 3, i + 2]
        u[i] = s0 + P[i, i] * r0 + a * r1 + b * r2 + d * r3
        u[i + 1] = s1 + a * r0 + P[i + 1, i + 1] * r1 + c * r2 + e * r3
        u[i + 2] = s2 + b * r0 + c * r1 + P[i + 2, i + 2] * r2 + f * r3
        u[i + 3] = s3 + d * r0 + e * r1 + f * r2 + P[i + 3, i + 3] * r3
        i += 4
    while i < q:
        s0 = 0.0
        for j in range(i):
            s0 += P[i, j] * r[j]
            u[j] += P[i, j] * r[i]
        u[i] = s0 + P[i, i] * r[i]
        i += 1


@kernel
def symmetric_form(A: FloatArray, u: FloatArray) -> float:
    """Compute u'A u from the lower triangle: half the work of A u, and nothing is written."""
    q = u.shape[0]
    twice, once = 0.0, 0.0
    i = 0
    while i + 3 < q:
        s0, s1, s2, s3 = 0.0, 0.0, 0.0, 0.0
        for j in range(i):
            s0 += A[i, j] * u[j]
            s1 += A[i + 1, j] * u[j]
            s2 += A[i + 2, j] * u[j]
            s3 += A[i + 3, j] * u[j]
        s1 += A[i + 1, i] * u[i]
        s2 += A[i + 2, i] * u[i] + A[i + 2, i + 1] * u[i + 1]
        s3 += A[i + 3, i] * u[i] + A[i + 3, i + 1] * u[i + 1] + A[i + 3, i + 2] * u[i + 2]
        twice += s0 * u[i] + s1 * u[i + 1] + s2 * u[i + 2] + s3 * u[i + 3]
        i += 4
    while i < q:
        twice += dot(A[i, :i], u[:i]) * u[i]
        i += 1
    for j in range(q):
        once += A[j, j] * u[j] * u[j]
    return 2.0 * twice + once


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


@kernel
def mirror(A: FloatArray) -> None:
    """Copy the lower triangle to the upper one."""
    for i in range(A.shape[0]):
        for j in range(i):
            A[j, i] = A[i, j]
