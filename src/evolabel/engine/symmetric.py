"""Products of rows and matrices, and updates of symmetric matrices of which only the lower triangle is stored.

Half a matrix is half the memory traffic, and rounding cannot make P asymmetric. Rank-one updates are kept in
blocks: b of them at once read and write the matrix once instead of b times.

Every inner product is summed in the order of `dot`: four sums side by side, added up, then the last numbers one by one,
each step one fused multiply-add (`engine.lanes`). So it has the same bits in every function.

The inverse of a positive definite matrix does not come from LAPACK, whose bits depend on the number of BLAS threads.
Where rounding by BLAS and LAPACK reaches outputs, they run on one thread (`one_blas_thread`).
"""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache

import numpy as np
from threadpoolctl import ThreadpoolController

from evolabel.engine.compile import inner, kernel
from evolabel.engine.lanes import WIDTH, fma, load, minus, spread, store, total, zeros
from evolabel.typing import FloatArray


@inner
def dot(a: FloatArray, b: FloatArray) -> float:
    """Return the inner product of a and b. It is a loop because a BLAS call takes longer at these lengths."""
    q = a.shape[0]
    whole = q - q % WIDTH
    t = zeros()
    for j in range(0, whole, WIDTH):
        t = fma(load(a, j), load(b, j), t)
    s = total(t)
    for j in range(whole, q):
        s = fma(a[j], b[j], s)
    return s


@inner
def squared_distance(a: FloatArray, b: FloatArray) -> float:
    """Return the sum of the squared differences of a and b, in the order of `dot`."""
    q = a.shape[0]
    whole = q - q % WIDTH
    t = zeros()
    for j in range(0, whole, WIDTH):
        d = minus(load(a, j), load(b, j))
        t = fma(d, d, t)
    s = total(t)
    for j in range(whole, q):
        e = a[j] - b[j]
        s = fma(e, e, s)
    return s


@inner
def add_scaled(g: float, x: FloatArray, y: FloatArray) -> None:
    """Add g x to y, which may be longer than x."""
    for j in range(x.shape[0]):
        y[j] = fma(g, x[j], y[j])


@inner
def add_product(A: FloatArray, u: FloatArray, scale: float, f: FloatArray) -> None:
    """Add scale * A u to f, for any matrix A; four rows at a time, so that u is read less often.

    Only the first entries of a row of A are used, as many as u has.
    """
    K, q = f.shape[0], u.shape[0]
    whole = q - q % WIDTH
    b = 0
    while b + 3 < K:
        A0, A1, A2, A3 = A[b], A[b + 1], A[b + 2], A[b + 3]
        t0, t1, t2, t3 = zeros(), zeros(), zeros(), zeros()
        for j in range(0, whole, WIDTH):
            x = load(u, j)
            t0 = fma(load(A0, j), x, t0)
            t1 = fma(load(A1, j), x, t1)
            t2 = fma(load(A2, j), x, t2)
            t3 = fma(load(A3, j), x, t3)
        s0, s1, s2, s3 = total(t0), total(t1), total(t2), total(t3)
        for j in range(whole, q):
            s0 = fma(A0[j], u[j], s0)
            s1 = fma(A1[j], u[j], s1)
            s2 = fma(A2[j], u[j], s2)
            s3 = fma(A3[j], u[j], s3)
        f[b] = fma(scale, s0, f[b])
        f[b + 1] = fma(scale, s1, f[b + 1])
        f[b + 2] = fma(scale, s2, f[b + 2])
        f[b + 3] = fma(scale, s3, f[b + 3])
        b += 4
    while b < K:
        f[b] = fma(scale, dot(A[b, :q], u), f[b])
        b += 1


@inner
def row_products(A: FloatArray, B: FloatArray, out: FloatArray) -> None:
    """Fill `out`, (n, m), with A B': inner products of the rows of A, (n, q), and B, (m, q).

    Four rows of A and two of B at a time; every entry has the bits of `dot`.
    """
    n, m, q = A.shape[0], B.shape[0], A.shape[1]
    whole = q - q % WIDTH
    i = 0
    while i + 3 < n:
        A0, A1, A2, A3 = A[i], A[i + 1], A[i + 2], A[i + 3]
        k = 0
        while k + 1 < m:
            B0, B1 = B[k], B[k + 1]
            s0, s1, s2, s3 = zeros(), zeros(), zeros(), zeros()
            t0, t1, t2, t3 = zeros(), zeros(), zeros(), zeros()
            for j in range(0, whole, WIDTH):
                x, y = load(B0, j), load(B1, j)
                a0, a1, a2, a3 = load(A0, j), load(A1, j), load(A2, j), load(A3, j)
                s0, t0 = fma(a0, x, s0), fma(a0, y, t0)
                s1, t1 = fma(a1, x, s1), fma(a1, y, t1)
                s2, t2 = fma(a2, x, s2), fma(a2, y, t2)
                s3, t3 = fma(a3, x, s3), fma(a3, y, t3)
            c0, c1, c2, c3 = total(s0), total(s1), total(s2), total(s3)
            d0, d1, d2, d3 = total(t0), total(t1), total(t2), total(t3)
            for j in range(whole, q):
                c0, d0 = fma(A0[j], B0[j], c0), fma(A0[j], B1[j], d0)
                c1, d1 = fma(A1[j], B0[j], c1), fma(A1[j], B1[j], d1)
                c2, d2 = fma(A2[j], B0[j], c2), fma(A2[j], B1[j], d2)
                c3, d3 = fma(A3[j], B0[j], c3), fma(A3[j], B1[j], d3)
            out[i, k], out[i, k + 1] = c0, d0
            out[i + 1, k], out[i + 1, k + 1] = c1, d1
            out[i + 2, k], out[i + 2, k + 1] = c2, d2
            out[i + 3, k], out[i + 3, k + 1] = c3, d3
            k += 2
        if k < m:
            for row in range(i, i + 4):
                out[row, k] = dot(A[row], B[k])
        i += 4
    while i < n:
        out[i] = 0.0
        add_product(B, A[i], 1.0, out[i])
        i += 1


@inner
def add_rows(C: FloatArray, A: FloatArray, out: FloatArray) -> None:
    """Add C A to `out`, skipping zeros of C; four rows of A at a time."""
    q, r = A.shape[1], A.shape[0]
    i = 0
    while i + 3 < r:
        for b in range(C.shape[0]):
            c0, c1, c2, c3 = C[b, i], C[b, i + 1], C[b, i + 2], C[b, i + 3]
            if c0 != 0.0 or c1 != 0.0 or c2 != 0.0 or c3 != 0.0:
                for j in range(q):
                    low = fma(c1, A[i + 1, j], fma(c0, A[i, j], out[b, j]))
                    out[b, j] = fma(c3, A[i + 3, j], fma(c2, A[i + 2, j], low))
        i += 4
    while i < r:
        for b in range(C.shape[0]):
            add_scaled(C[b, i], A[i], out[b])
        i += 1


@inner
def symmetric_product(P: FloatArray, r: FloatArray, u: FloatArray) -> None:
    """Fill u with P r, reading the lower triangle once; four rows at a time."""
    q = r.shape[0]
    i = 0
    while i + 3 < q:
        P0, P1, P2, P3 = P[i], P[i + 1], P[i + 2], P[i + 3]
        r0, r1, r2, r3 = r[i], r[i + 1], r[i + 2], r[i + 3]
        v0, v1, v2, v3 = spread(r0), spread(r1), spread(r2), spread(r3)
        t0, t1, t2, t3 = zeros(), zeros(), zeros(), zeros()
        for j in range(0, i, WIDTH):
            p0, p1, p2, p3, x = load(P0, j), load(P1, j), load(P2, j), load(P3, j), load(r, j)
            t0 = fma(p0, x, t0)
            t1 = fma(p1, x, t1)
            t2 = fma(p2, x, t2)
            t3 = fma(p3, x, t3)
            store(u, j, fma(p3, v3, fma(p2, v2, fma(p1, v1, fma(p0, v0, load(u, j))))))
        a, b, c = P1[i], P2[i], P2[i + 1]  # the block on the diagonal
        d, e, f = P3[i], P3[i + 1], P3[i + 2]
        u[i] = fma(d, r3, fma(b, r2, fma(a, r1, fma(P0[i], r0, total(t0)))))
        u[i + 1] = fma(e, r3, fma(c, r2, fma(P1[i + 1], r1, fma(a, r0, total(t1)))))
        u[i + 2] = fma(f, r3, fma(P2[i + 2], r2, fma(c, r1, fma(b, r0, total(t2)))))
        u[i + 3] = fma(P3[i + 3], r3, fma(f, r2, fma(e, r1, fma(d, r0, total(t3)))))
        i += 4
    while i < q:
        u[i] = 0.0
        for j in range(i):
            u[j] = fma(P[i, j], r[i], u[j])
        u[i] = dot(P[i, : i + 1], r[: i + 1])
        i += 1


@inner
def symmetric_form(A: FloatArray, u: FloatArray) -> float:
    """Return u'A u from the lower triangle, at half the cost of A u."""
    q = u.shape[0]
    twice, once = 0.0, 0.0
    i = 0
    while i + 3 < q:
        A0, A1, A2, A3 = A[i], A[i + 1], A[i + 2], A[i + 3]
        t0, t1, t2, t3 = zeros(), zeros(), zeros(), zeros()
        for j in range(0, i, WIDTH):
            x = load(u, j)
            t0 = fma(load(A0, j), x, t0)
            t1 = fma(load(A1, j), x, t1)
            t2 = fma(load(A2, j), x, t2)
            t3 = fma(load(A3, j), x, t3)
        s1 = fma(A1[i], u[i], total(t1))
        s2 = fma(A2[i + 1], u[i + 1], fma(A2[i], u[i], total(t2)))
        s3 = fma(A3[i + 2], u[i + 2], fma(A3[i + 1], u[i + 1], fma(A3[i], u[i], total(t3))))
        twice = fma(s3, u[i + 3], fma(s2, u[i + 2], fma(s1, u[i + 1], fma(total(t0), u[i], twice))))
        i += 4
    while i < q:
        twice = fma(dot(A[i, :i], u[:i]), u[i], twice)
        i += 1
    for j in range(q):
        once = fma(A[j, j] * u[j], u[j], once)
    return 2.0 * twice + once


@inner
def pending_product(P: FloatArray, pending: FloatArray, b: int, r: FloatArray, u: FloatArray) -> None:
    """Fill u with (P - sum of w w' over the first b `pending` rows) r."""
    symmetric_product(P, r, u)
    for k in range(b):
        add_scaled(-dot(pending[k], r), pending[k], u)


@kernel
def add_outer_products(A: FloatArray, w: FloatArray, b: int, sign: float) -> None:
    """Add sign * sum of w_k w_k' over the first b rows of w to A, lower triangle; eight rows at a time."""
    k = 0
    while k + 7 < b:
        for i in range(A.shape[0]):
            a0, a1, a2, a3 = sign * w[k, i], sign * w[k + 1, i], sign * w[k + 2, i], sign * w[k + 3, i]
            a4, a5, a6, a7 = sign * w[k + 4, i], sign * w[k + 5, i], sign * w[k + 6, i], sign * w[k + 7, i]
            for j in range(i + 1):
                low = fma(a3, w[k + 3, j], fma(a2, w[k + 2, j], fma(a1, w[k + 1, j], a0 * w[k, j])))
                high = fma(a7, w[k + 7, j], fma(a6, w[k + 6, j], fma(a5, w[k + 5, j], a4 * w[k + 4, j])))
                A[i, j] += low + high
        k += 8
    while k < b:
        for i in range(A.shape[0]):
            add_scaled(sign * w[k, i], w[k, : i + 1], A[i])
        k += 1


@kernel
def mirror(A: FloatArray) -> None:
    """Copy the lower triangle of A to the upper one."""
    for i in range(A.shape[0]):
        for j in range(i):
            A[j, i] = A[i, j]


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


def mirrored(lower: FloatArray) -> FloatArray:
    """Return the symmetric matrix with this `lower` triangle."""
    half = np.tril(lower)
    return np.asarray(half + np.tril(half, -1).T)


@cache
def _libraries() -> ThreadpoolController:
    """The libraries that numpy and scipy have loaded; finding them takes milliseconds."""
    return ThreadpoolController()


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """A block, or a function that is decorated by it, in which BLAS uses one thread; costs some 25 microseconds."""
    with _libraries().limit(limits=1, user_api="blas"):
        yield
