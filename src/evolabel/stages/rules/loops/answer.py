"""Distances, memberships, outputs and variance terms of rows that are not learned.

| symbol | array       | meaning                                                                        |
|--------|-------------|--------------------------------------------------------------------------------|
| Z      | (n, p)      | scaled rows, NaN where a feature is missing                                    |
| psi    | (n, C)      | normalised memberships, eq. (2); 0: the rule is not active                     |
| D      | (n, C)      | mean squared distances                                                         |
| W      | (1+C, K, q) | weights of the global model and of the rules, formed beforehand; empty: none   |
| out    | (n, K)      | outputs, eq. (2)                                                               |
| q      | (n, C)      | r'u with u = P_i r: variance of the rule's output, in units of the noise       |
| s      | (n, C)      | u'u                                                                            |
| t      | (n, C)      | u'M_i u, with the second moments M of rows of the stream, labelled or not      |
| V      | (n, q)      | scratch: sum of psi_i gamma D u, multiplied by the global weights at the end   |

Second moments of slots 0..C:

| symbol    | array       | meaning                                                          |
|-----------|-------------|------------------------------------------------------------------|
| M         | (1+C, q, q) | sum of psi r r', lower triangle, without the rows in `pending_M` |
| pending_M | (1+C, B, q) | rows h = sqrt(psi) r whose h h' is not yet added to M            |
| n_pending | (1+C,)      | number of rows in `pending_M`                                    |

In shapes, q is the length of a regressor; in gamma D, D is the diagonal matrix of `stages.rules.arrays.Settings`.

Learning a row would subtract psi u u' / (1 + psi q) from P_i, eq. (27); criteria use q, s and t to score a row by it.
Rows are answered rule by rule, so that the matrices of a rule stay in the processor's cache while all its rows are
answered. Many rows that have formed weights are answered faster by `answer_block`, with the same bits: one product of
matrices for all rows of a rule. Its q, s and t agree with those of `answer_rows` up to rounding. Its symbols:

| symbol | array     | meaning                                                                     |
|--------|-----------|-----------------------------------------------------------------------------|
| R      | (n, q)    | regressors (z, 1) of the rows a rule answers; missing features filled by it |
| U      | (n, q)    | R P of the same rows                                                        |
| A      | (q, q)    | P or M of the rule as a whole, pending rows included                        |
| E      | (K, q)    | G_i + gamma D W_0: what P_i is multiplied by                                |
| F      | (n, K)    | R W' of the same rows                                                       |
| rows   | (n,)      | numbers of the same rows                                                    |
"""

import numpy as np

from evolabel.engine.compile import inner, kernel
from evolabel.engine.lanes import fma
from evolabel.engine.symmetric import (
    add_outer_products,
    add_product,
    add_scaled,
    dot,
    mirror,
    row_products,
    symmetric_form,
)
from evolabel.stages.rules.arrays import RULES, RuleArrays, State, Workspace
from evolabel.stages.rules.loops.antecedents import distances, rule_memberships
from evolabel.stages.rules.loops.consequents import (
    add_global_output,
    add_rule_output,
    fill_products,
    fill_regressor,
    fill_regressors,
    project,
)
from evolabel.typing import FloatArray, IntArray


@inner
def quadratic_form(M: FloatArray, pending: FloatArray, b: int, u: FloatArray) -> float:
    """Return u'M u, the first b `pending` rows included."""
    total = symmetric_form(M, u)
    for k in range(b):
        part = dot(pending[k], u)
        total += part * part
    return total


@inner
def add_moment(slot: int, r: FloatArray, weight: float, moments: tuple[FloatArray, FloatArray, IntArray]) -> None:
    """Add weight r r' to M of `slot` in `moments`, in blocks."""
    M, pending_M, n_pending = moments
    b, root = n_pending[slot], np.sqrt(weight)
    for j in range(r.shape[0]):
        pending_M[slot, b, j] = root * r[j]
    n_pending[slot] = b + 1
    if b + 1 == pending_M.shape[1]:
        add_outer_products(M[slot], pending_M[slot], b + 1, 1.0)
        n_pending[slot] = 0


@kernel
def add_moment_rows(
    state: State, Z: FloatArray, psi: FloatArray, weight: float, moments: tuple[FloatArray, FloatArray, IntArray]
) -> None:
    """Add all rows Z to M of the active rules and of the whole stream, with `weight` times psi."""
    rules, work = state.rules, state.work
    for i in range(Z.shape[0]):
        fill_regressor(Z[i], rules.c[0], work.r[0])
        add_moment(0, work.r[0], weight, moments)
        for a in range(psi.shape[1]):
            if psi[i, a] > 0.0:
                work.active[0] = a + 1
                fill_regressors(Z[i], 1, rules, work, work.r)
                add_moment(a + 1, work.r[0], weight * psi[i, a], moments)


@kernel
def distance_rows(state: State, Z: FloatArray, psi: FloatArray, D: FloatArray) -> None:
    """Fill D with distances of the rows Z to all rules, and psi, unless it is empty, with memberships."""
    rules, settings, work = state.rules, state.settings, state.work
    for i in range(Z.shape[0]):
        if psi.shape[0] > 0:
            m = rule_memberships(Z[i], rules, settings, work)
            copy_memberships(m, work, psi[i], D[i])
        else:
            distances(Z[i], rules.counters[RULES], rules.c, rules.inv, settings.metric[1], work.D)
            copy_distances(work, D[i])


@inner
def copy_distances(work: Workspace, D: FloatArray) -> None:
    """Fill D with the distances of `work`, without slot 0."""
    for a in range(D.shape[0]):
        D[a] = work.D[a + 1]


@inner
def copy_memberships(m: int, work: Workspace, psi: FloatArray, D: FloatArray) -> None:
    """Fill psi and D with memberships and distances of `work`, in which m rules are active."""
    copy_distances(work, D)
    for a in range(psi.shape[0]):
        psi[a] = 0.0
    for b in range(m):
        psi[work.active[b] - 1] = work.psi[b]


@inner
def variance_terms(
    i: int,
    a: int,
    work: Workspace,
    moments: tuple[FloatArray, FloatArray, IntArray],
    terms: tuple[FloatArray, FloatArray, FloatArray],
) -> None:
    """Fill q, s and, unless M is empty, t of row i and rule a, from the first r and u of `work`."""
    M, pending_M, n_pending = moments
    q, s, t = terms
    q[i, a] = dot(work.r[0], work.u[0])
    s[i, a] = dot(work.u[0], work.u[0])
    if M.shape[0] > 0:
        t[i, a] = quadratic_form(M[a + 1], pending_M[a + 1], n_pending[a + 1], work.u[0])


@kernel
def variance_rows(
    state: State,
    Z: FloatArray,
    psi: FloatArray,
    moments: tuple[FloatArray, FloatArray, IntArray],
    terms: tuple[FloatArray, FloatArray, FloatArray],
) -> None:
    """Fill the `terms` q, s and t, which must be zeros, for rows Z whose psi are given."""
    rules, work = state.rules, state.work
    for a in range(psi.shape[1]):
        work.active[0] = a + 1
        for i in range(Z.shape[0]):
            if psi[i, a] > 0.0:
                project(Z[i], 1, rules, work)
                variance_terms(i, a, work, moments, terms)


@inner
def add_active(
    i: int,
    a: int,
    weights: FloatArray,
    gamma: FloatArray,
    rules: RuleArrays,
    work: Workspace,
    moments: tuple[FloatArray, FloatArray, IntArray],
    terms: tuple[FloatArray, FloatArray, FloatArray],
    psi: FloatArray,
    V: FloatArray,
    out: FloatArray,
) -> None:
    """Add what rule a adds to the output of row i, whose first r of `work` is filled; fill its `terms` unless empty.

    It answers by its `weights`, (1+C, K, q), or from its statistics if they are empty; `gamma` is the diagonal of
    gamma D.
    """
    kept, with_variance = weights.shape[0] > 0, terms[0].shape[0] > 0
    if with_variance or not kept:
        fill_products(1, rules, work)
    if with_variance:
        variance_terms(i, a, work, moments, terms)
    if kept:
        add_product(weights[a + 1], work.r[0], psi[i, a], out[i])
    else:
        add_rule_output(psi[i, a], work.u[0], rules.G[a + 1], gamma, V[i], out[i])


@inner
def add_global_outputs(V: FloatArray, rules: RuleArrays, work: Workspace, out: FloatArray) -> None:
    """Add W_0'v to `out` for each row v of V, one product for all rules of a row."""
    for i in range(out.shape[0]):
        add_global_output(V[i], rules.P[0], rules.pending_P[0], rules.n_pending[0], rules.G[0], work.t, out[i])


@kernel
def answer_rows(
    state: State,
    Z: FloatArray,
    W: FloatArray,
    moments: tuple[FloatArray, FloatArray, IntArray],
    found: tuple[FloatArray, FloatArray, FloatArray],
    terms: tuple[FloatArray, FloatArray, FloatArray],
    V: FloatArray,
) -> None:
    """Fill `found`, `out`, psi and D, for the rows Z, by the weights W, or from the state where W is empty; eq. (2).

    `terms`, q, s and t, are filled as well unless they are empty; they must be zeros before.
    """
    rules, settings, work = state.rules, state.settings, state.work
    out, psi, D = found
    for i in range(Z.shape[0]):
        m = rule_memberships(Z[i], rules, settings, work)
        copy_memberships(m, work, psi[i], D[i])
    out[:] = 0.0
    V[:] = 0.0
    for a in range(psi.shape[1]):
        work.active[0] = a + 1
        weights = rules.W if W.shape[0] == 0 and rules.locked[a + 1] > 0 else W
        for i in range(Z.shape[0]):
            if psi[i, a] != 0.0:
                fill_regressors(Z[i], 1, rules, work, work.r)
                add_active(i, a, weights, settings.penalty[1], rules, work, moments, terms, psi, V, out)
    if W.shape[0] == 0:
        add_global_outputs(V, rules, work, out)


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
