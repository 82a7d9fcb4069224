"""What learning a row would bring, without learning it: closed forms on u = P r, and second moments of all rows.

| symbol | array     | meaning                                                                        |
|--------|-----------|--------------------------------------------------------------------------------|
| psi    | (rows, C) | normalised memberships, eq. (2); 0: the rule is idle                           |
| D      | (rows, C) | mean squared distances in the input space; inf: abandoned                      |
| q      | (rows, C) | r'u with u = P_i r: variance of the rule's output, in units of the noise       |
| s      | (rows, C) | u'u                                                                            |
| t      | (rows, C) | u'M_i u                                                                        |
| V      | (rows, q) | sum of psi_i gamma D u: what the rules ask of the global model                 |
| M      | (1+C, ..) | second moments: sum of psi r r', lower triangle, without the rows in `late_M`  |
| late_M | (1+C, ..) | rows h = sqrt(psi) r: M still lacks their h h'; `late` says how many wait      |

Learning a row would take psi u u' / (1 + psi q) off P_i, eq. (27); everything here follows from that. Rows are seen
rule by rule, so that the matrices of a rule stay at hand while all its rows are.
"""

import numpy as np

from evolabel.kernels._compile import hot_kernel, kernel
from evolabel.kernels.antecedents import fill_regressor
from evolabel.kernels.places import place
from evolabel.kernels.state import FloatArray, IntArray, RuleArrays, Settings, Workspace
from evolabel.kernels.stream import add_global_output, add_rule_output, fill_regressors, solve
from evolabel.kernels.structure import novelty_bound
from evolabel.kernels.symmetric import add_outer_products, add_product, dot, symmetric_form

SMALLEST_BOUND = 1e-200  # of a distance: keeps 0 / 0 out where the radius is 0


@kernel
def quadratic_form(M: FloatArray, waiting: FloatArray, b: int, u: FloatArray) -> float:
    """Compute u'M u, the first b waiting rows included."""
    total = symmetric_form(M, u)
    for k in range(b):
        part = dot(waiting[k], u)
        total += part * part
    return total


@hot_kernel
def inform(
    i: int,
    a: int,
    Z: FloatArray,
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
    """q, s and, unless M is empty, t of row i and rule a; r and u are the first in `work`."""
    slot = a + 1
    work.active[0] = slot
    solve(Z[i], 1, rules, settings, work.active, work.missing, work.r, work.u)
    q[i, a] = dot(work.r[0], work.u[0])
    s[i, a] = dot(work.u[0], work.u[0])
    if M.shape[0] > 0:
        t[i, a] = quadratic_form(M[slot], late_M[slot], late[slot], work.u[0])


@kernel
def inform_rows(
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
    """q, s and t of rows whose psi are known; they must come as zeros."""
    for a in range(psi.shape[1]):
        for i in range(Z.shape[0]):
            if psi[i, a] > 0.0:
                inform(i, a, Z, rules, settings, work, M, late_M, late, q, s, t)


@kernel
def look_rows(
    Z: FloatArray,
    rules: RuleArrays,
    settings: Settings,
    work: Workspace,
    M: FloatArray,
    late_M: FloatArray,
    late: IntArray,
    out: FloatArray,
    psi: FloatArray,
    D: FloatArray,
    q: FloatArray,
    s: FloatArray,
    t: FloatArray,
    V: FloatArray,
) -> None:
    """Everything in one pass, outputs included, eq. (2). q, s and t must come as zeros."""
    for i in range(Z.shape[0]):
        place(Z[i], rules, settings, work, psi[i], D[i])
    out[:] = 0.0
    V[:] = 0.0
    for a in range(psi.shape[1]):
        slot = a + 1
        for i in range(Z.shape[0]):
            if psi[i, a] > 0.0:
                inform(i, a, Z, rules, settings, work, M, late_M, late, q, s, t)
                if settings.iterated or rules.locked[slot]:
                    add_product(rules.W[slot], work.r[0], psi[i, a], out[i])
                else:
                    add_rule_output(psi[i, a], work.u[0], rules.G[slot], settings.lean, V[i], out[i])
    if not settings.iterated:
        for i in range(out.shape[0]):
            add_global_output(V[i], rules.P[0], rules.late_P[0], rules.late[0], rules.G[0], work.t, out[i])


@kernel
def novelty_rows(D: FloatArray, rules: RuleArrays, settings: Settings, out: FloatArray) -> None:
    """Distance to the nearest rule over that at which a rule would be born; d / (1 + d) where none is enough."""
    for i in range(D.shape[0]):
        w = np.argmin(D[i])
        d = D[i, w]
        bound = novelty_bound(rules.k[w + 1], D.shape[1], rules.strange, settings)
        out[i] = d / max(bound, SMALLEST_BOUND) if bound < np.inf else d / (1.0 + d)


@kernel
def leverage_rows(psi: FloatArray, q: FloatArray, out: FloatArray) -> None:
    """Sum of psi_i h_i with h_i = psi_i q_i / (1 + psi_i q_i): what learning the row would take off q_i, as a share."""
    for i in range(psi.shape[0]):
        total = 0.0
        for a in range(psi.shape[1]):
            gain = psi[i, a] * q[i, a]
            total += psi[i, a] * gain / (1.0 + gain)
        out[i] = total


@kernel
def trace(P: FloatArray, waiting: FloatArray, b: int) -> float:
    """Trace of P without the squares of its first b waiting rows."""
    total = 0.0
    for j in range(P.shape[0]):
        total += P[j, j]
    for k in range(b):
        total -= dot(waiting[k], waiting[k])
    return total


@kernel
def trace_drop_rows(
    psi: FloatArray, q: FloatArray, s: FloatArray, rules: RuleArrays, traces: FloatArray, out: FloatArray
) -> None:
    """Eq. (32): largest relative drop of trace(P_i), psi s / (1 + psi q) / trace(P_i). `traces` must come as zeros."""
    for i in range(psi.shape[0]):
        out[i] = 0.0
        for a in range(psi.shape[1]):
            if psi[i, a] > 0.0:
                if traces[a] == 0.0:  # only those of rules that answer a row are needed
                    traces[a] = trace(rules.P[a + 1], rules.late_P[a + 1], rules.late[a + 1])
                out[i] = max(out[i], psi[i, a] * s[i, a] / (1.0 + psi[i, a] * q[i, a]) / traces[a])


@kernel
def variance_reduction_rows(psi: FloatArray, q: FloatArray, t: FloatArray, out: FloatArray) -> None:
    """Sum of psi_i u'M_i u / (1 + psi_i q_i): by how much the variance at all rows in M would sink."""
    for i in range(psi.shape[0]):
        total = 0.0
        for a in range(psi.shape[1]):
            total += psi[i, a] * t[i, a] / (1.0 + psi[i, a] * q[i, a])
        out[i] = total


@kernel
def add_moment(r: FloatArray, weight: float, M: FloatArray, late_M: FloatArray, late: int) -> int:
    """M += weight r r', in blocks; returns the rows then waiting."""
    root = np.sqrt(weight)
    for j in range(r.shape[0]):
        late_M[late, j] = root * r[j]
    if late + 1 < late_M.shape[0]:
        return late + 1
    add_outer_products(M, late_M, late + 1, 1.0)
    return 0


@kernel
def add_moment_rows(
    Z: FloatArray,
    psi: FloatArray,
    weight: float,
    rules: RuleArrays,
    settings: Settings,
    work: Workspace,
    M: FloatArray,
    late_M: FloatArray,
    late: IntArray,
) -> None:
    """M of the active rules and of the whole stream take in all rows, each with this weight times psi."""
    for i in range(Z.shape[0]):
        fill_regressor(Z[i], rules.c[0], work.r[0])
        late[0] = add_moment(work.r[0], weight, M[0], late_M[0], late[0])
        for a in range(psi.shape[1]):
            if psi[i, a] > 0.0:
                slot = a + 1
                work.active[0] = slot
                fill_regressors(Z[i], 1, rules, settings, work.active, work.missing, work.r)
                late[slot] = add_moment(work.r[0], weight * psi[i, a], M[slot], late_M[slot], late[slot])
