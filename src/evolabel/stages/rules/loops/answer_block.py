"""Outputs and variance terms of many rows, rule by rule: one product of matrices for all rows of a rule.

| symbol  | array       | meaning                                                                         |
|---------|-------------|---------------------------------------------------------------------------------|
| W       | (1+C, K, q) | weights of the global model and of the rules                                    |
| psi     | (n, C)      | normalised memberships, eq. (2); 0: the rule is not active                      |
| R       | (n, q)      | regressors (z, 1) of the rows a rule answers; missing features filled by it     |
| U       | (n, q)      | R P of the same rows                                                            |
| A       | (q, q)      | P or M of the rule as a whole, pending rows included                            |
| E       | (K, q)      | G_i + gamma D W_0: what P_i is multiplied by                                    |
| F       | (n, K)      | R W' of the same rows                                                           |
| rows    | (n,)        | numbers of the same rows                                                        |
| q, s, t | (n, C)      | r'u, u'u and u'M u with u = P r, see `stages.rules.loops.answer`                           |

In shapes, q is the length of a regressor.

Outputs have the bits of `loops.answer.answer_rows` with the same W; q, s and t agree with it up to rounding.
"""

from evolabel.engine.compile import inner, kernel
from evolabel.engine.lanes import fma
from evolabel.engine.symmetric import add_outer_products, add_scaled, dot, mirror, row_products
from evolabel.stages.rules.arrays import RuleArrays, State, Workspace
from evolabel.stages.rules.loops.consequents import fill_regressors
from evolabel.typing import FloatArray, IntArray


@inner
def gather(
    a: int, Z: FloatArray, psi: FloatArray, rules: RuleArrays, work: Workspace, R: FloatArray, rows: IntArray
) -> int:
    """Fill R and `rows` with regressors and numbers of the rows for which rule a is active; return their number."""
    m = 0
    work.active[0] = a + 1
    for i in range(Z.shape[0]):
        if psi[i, a] > 0.0:
            fill_regressors(Z[i], 1, rules, work, R[m:])
            rows[m] = i
            m += 1
    return m


@inner
def unfold(A: FloatArray, pending: FloatArray, b: int, sign: float, whole: FloatArray) -> None:
    """Fill `whole` with A + sign * sum of w w' over the first b `pending` rows, from the lower triangle of A."""
    for i in range(A.shape[0]):
        for j in range(i + 1):
            whole[i, j] = A[i, j]
    add_outer_products(whole, pending, b, sign)
    mirror(whole)


@kernel
def form_weights(state: State, gamma: FloatArray, A: FloatArray, E: FloatArray, W: FloatArray) -> None:
    """Fill W with P_i (G_i + gamma D W_0) of all slots; weights of locked rules are copied. A and E are scratch.

    `gamma` is the diagonal of gamma D.
    """
    rules = state.rules
    for slot in range(W.shape[0]):
        locked = slot > 0 and rules.locked[slot] > 0
        for b in range(E.shape[0]):
            for j in range(E.shape[1]):
                if locked:
                    W[slot, b, j] = rules.W[slot, b, j]
                else:
                    E[b, j] = fma(gamma[j], W[0, b, j], rules.G[slot, b, j]) if slot > 0 else rules.G[0, b, j]
        if locked:
            continue
        unfold(rules.P[slot], rules.pending_P[slot], rules.n_pending[slot], -1.0, A)
        row_products(E, A, W[slot])  # A is symmetric


@inner
def add_block(
    m: int,
    a: int,
    psi: FloatArray,
    W: FloatArray,
    scratch: tuple[FloatArray, FloatArray, IntArray],
    out: FloatArray,
) -> None:
    """Add psi_a W_a r of the m rows that were gathered for rule a to `out`; `scratch` is R, F and `rows`."""
    R, F, rows = scratch
    row_products(R[:m], W[a + 1], F[:m])
    for k in range(m):
        add_scaled(psi[rows[k], a], F[k], out[rows[k]])


@kernel
def answer_block(
    state: State,
    Z: FloatArray,
    psi: FloatArray,
    W: FloatArray,
    scratch: tuple[FloatArray, FloatArray, IntArray],
    out: FloatArray,
) -> None:
    """Fill `out` with the sum of psi_i W_i r, eq. (2), for rows Z whose psi are given; `scratch` is R, F and `rows`."""
    out[:] = 0.0
    for a in range(psi.shape[1]):
        m = gather(a, Z, psi, state.rules, state.work, scratch[0], scratch[2])
        add_block(m, a, psi, W, scratch, out)


@inner
def block_terms(
    m: int,
    a: int,
    rules: RuleArrays,
    moments: tuple[FloatArray, FloatArray, IntArray],
    scratch: tuple[FloatArray, FloatArray, FloatArray, IntArray],
    terms: tuple[FloatArray, FloatArray, FloatArray],
) -> None:
    """Fill q, s and, unless M is empty, t of the m rows that were gathered for rule a; R is overwritten."""
    if m == 0:
        return
    slot, (M, pending_M, n_pending), (A, R, U, rows), (q, s, t) = a + 1, moments, scratch, terms
    unfold(rules.P[slot], rules.pending_P[slot], rules.n_pending[slot], -1.0, A)
    row_products(R[:m], A, U[:m])  # A is symmetric
    for k in range(m):
        q[rows[k], a] = dot(R[k], U[k])
        s[rows[k], a] = dot(U[k], U[k])
    if M.shape[0] > 0:
        unfold(M[slot], pending_M[slot], n_pending[slot], 1.0, A)
        row_products(U[:m], A, R[:m])
        for k in range(m):
            t[rows[k], a] = dot(U[k], R[k])


@kernel
def variance_block(
    state: State,
    Z: FloatArray,
    psi: FloatArray,
    moments: tuple[FloatArray, FloatArray, IntArray],
    scratch: tuple[FloatArray, FloatArray, FloatArray, IntArray],
    terms: tuple[FloatArray, FloatArray, FloatArray],
) -> None:
    """Fill the `terms` q, s and, unless M is empty, t, which must be zeros, for rows Z whose psi are given.

    `scratch` is A (q, q), R and U (n, q) and `rows` (n,).
    """
    for a in range(psi.shape[1]):
        m = gather(a, Z, psi, state.rules, state.work, scratch[1], scratch[3])
        block_terms(m, a, state.rules, moments, scratch, terms)
