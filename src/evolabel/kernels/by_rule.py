"""Many rows at a time, rule by rule: all rows that a rule answers share one product of matrices.

| symbol | array       | meaning                                                                          |
|--------|-------------|----------------------------------------------------------------------------------|
| W      | (1+C, K, q) | weights of the global model and of the rules, formed beforehand                  |
| psi    | (rows, C)   | normalised memberships, eq. (2); 0: the rule is idle                             |
| R      | (rows, q)   | regressors (z, 1) of the rows a rule answers, as it sees them                    |
| U      | (rows, q)   | R P of the same rows                                                             |
| A      | (q, q)      | P or M of the rule as a whole, waiting rows included                             |
| q, s, t | (rows, C)  | r'u, u'u and u'M u with u = P r, see `kernels.information`                       |

Row by row a matrix would be read anew for every row; the results are the same up to rounding.
"""

import numpy as np

from evolabel.kernels._compile import allocating_kernel, hot_kernel, kernel
from evolabel.kernels.state import FloatArray, IntArray, RuleArrays, Settings, Workspace
from evolabel.kernels.stream import fill_regressors
from evolabel.kernels.symmetric import add_outer_products, dot, mirror


@hot_kernel
def gather(
    a: int,
    Z: FloatArray,
    psi: FloatArray,
    rules: RuleArrays,
    settings: Settings,
    work: Workspace,
    R: FloatArray,
    rows: IntArray,
) -> int:
    """Regressors and numbers of the rows that rule a answers; returns how many these are."""
    m = 0
    work.active[0] = a + 1
    for i in range(Z.shape[0]):
        if psi[i, a] > 0.0:
            fill_regressors(Z[i], 1, rules, settings, work.active, work.missing, R[m:])
            rows[m] = i
            m += 1
    return m


@kernel
def unfold(A: FloatArray, waiting: FloatArray, b: int, sign: float, whole: FloatArray) -> None:
    """The symmetric matrix A + sign * sum of w w' over the first b waiting rows, from the lower triangle of A."""
    for i in range(A.shape[0]):
        for j in range(i + 1):
            whole[i, j] = A[i, j]
    add_outer_products(whole, waiting, b, sign)
    mirror(whole)


@allocating_kernel
def answer_by_rule(
    Z: FloatArray,
    psi: FloatArray,
    W: FloatArray,
    rules: RuleArrays,
    settings: Settings,
    work: Workspace,
    out: FloatArray,
) -> None:
    """Eq. (2) of all rows: the sum of psi_i W_i r."""
    n, K, q = Z.shape[0], out.shape[1], W.shape[2]
    R, F, rows = np.empty((n, q)), np.empty((n, K)), np.empty(n, np.int64)
    out[:] = 0.0
    for a in range(psi.shape[1]):
        m = gather(a, Z, psi, rules, settings, work, R, rows)
        if m > 0:
            np.dot(R[:m], W[a + 1].T, F[:m])
            for k in range(m):
                i = rows[k]
                for b in range(K):
                    out[i, b] += psi[i, a] * F[k, b]


@allocating_kernel
def inform_by_rule(
    Z: FloatArray,
    psi: FloatArray,
    rules: RuleArrays,
    settings: Settings,
    work: Workspace,
    M: FloatArray,
    late_M: FloatArray,
    late: IntArray,
    q: FloatArray,
    s: FloatArray,
    t: FloatArray,
) -> None:
    """q, s and, unless M is empty, t of all rows; they must come as zeros."""
    n, width = Z.shape[0], rules.P.shape[1]
    A, rows = np.empty((width, width)), np.empty(n, np.int64)
    R, U = np.empty((n, width)), np.empty((n, width))
    for a in range(psi.shape[1]):
        slot = a + 1
        m = gather(a, Z, psi, rules, settings, work, R, rows)
        if m == 0:
            continue
        unfold(rules.P[slot], rules.late_P[slot], rules.late[slot], -1.0, A)
        np.dot(R[:m], A, U[:m])
        for k in range(m):
            q[rows[k], a] = dot(R[k], U[k])
            s[rows[k], a] = dot(U[k], U[k])
        if M.shape[0] > 0:
            unfold(M[slot], late_M[slot], late[slot], 1.0, A)
            np.dot(U[:m], A, R[:m])
            for k in range(m):
                t[rows[k], a] = dot(U[k], R[k])
