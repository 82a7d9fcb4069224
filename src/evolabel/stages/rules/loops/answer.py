"""Distances, memberships, outputs and variance terms of rows that are not learned.

| symbol | array       | meaning                                                                        |
|--------|-------------|--------------------------------------------------------------------------------|
| Z      | (n, p)      | scaled rows, NaN where a feature is missing                                    |
| S      | (n, d)      | rows with their labels, in the product space; equal to Z in the input space    |
| psi    | (n, C)      | normalised memberships, eq. (2); 0: the rule is not active                     |
| D      | (n, C)      | mean squared distances in the input space; inf: too far away                   |
| J      | (n, C)      | mean squared distances with the labels; equal to D where there are none        |
| W      | (1+C, K, q) | weights of the global model and of the rules, formed beforehand; empty: none   |
| out    | (n, K)      | outputs, eq. (2)                                                               |
| q      | (n, C)      | r'u with u = P_i r: variance of the rule's output, in units of the noise       |
| s      | (n, C)      | u'u                                                                            |
| t      | (n, C)      | u'M_i u; M, pending_M and n_pending as in `stages.rules.loops.second_moments`             |
| V      | (n, q)      | scratch: sum of psi_i gamma D u, multiplied by the global weights at the end   |

In shapes, q is the length of a regressor; in gamma D, D is the diagonal matrix of `stages.rules.arrays.Settings`.

Learning a row would subtract psi u u' / (1 + psi q) from P_i, eq. (27); criteria use q, s and t to score a row by it.
Rows are answered rule by rule, so that the matrices of a rule stay in the processor's cache while all its rows are
answered. Many rows that have formed weights are answered faster by `loops.answer_block`, with the same bits.
"""

from evolabel.engine.compile import inner, kernel
from evolabel.engine.symmetric import add_product, dot
from evolabel.stages.rules.arrays import PaperArrays, RuleArrays, Settings, State, Workspace
from evolabel.stages.rules.loops.consequents import add_global_output, add_rule_output
from evolabel.stages.rules.loops.memberships import rule_distances, rule_memberships
from evolabel.stages.rules.loops.regressors import fill_regressors, project
from evolabel.stages.rules.loops.second_moments import quadratic_form
from evolabel.typing import FloatArray, IntArray


@kernel
def distance_rows(
    state: State, paper: PaperArrays | None, S: FloatArray, p: int, psi: FloatArray, D: FloatArray, J: FloatArray
) -> None:
    """Fill D with distances of the rows S to all rules, and psi with memberships; labels follow the p features.

    psi is not filled if it is empty, and J only if rows have labels; one of both is empty.
    """
    rules, settings, work = state.rules, state.settings, state.work
    for i in range(S.shape[0]):
        if psi.shape[0] > 0:
            memberships_of_row(S[i, :p], rules, settings, work, paper, psi[i], D[i])
        else:
            rule_distances(S[i], p, rules, settings, work, paper)
        for a in range(D.shape[1]):
            D[i, a] = work.D[a + 1]
            if S.shape[1] > p:
                J[i, a] = work.J[a + 1]


@inner
def memberships_of_row(
    z: FloatArray,
    rules: RuleArrays,
    settings: Settings,
    work: Workspace,
    paper: PaperArrays | None,
    psi: FloatArray,
    D: FloatArray,
) -> None:
    """Fill psi and D with memberships and distances of the row z, by the arithmetic of learning."""
    m = rule_memberships(z, z.shape[0], rules, settings, work, paper)
    for a in range(D.shape[0]):
        D[a] = work.D[a + 1]
        psi[a] = 0.0
    for b in range(m):
        psi[work.active[b] - 1] = work.psi[b]


@inner
def variance_terms(
    i: int,
    a: int,
    work: Workspace,
    M: FloatArray,
    pending_M: FloatArray,
    n_pending: IntArray,
    q: FloatArray,
    s: FloatArray,
    t: FloatArray,
) -> None:
    """Fill q, s and, unless M is empty, t of row i and rule a, from the first r and u of `work`."""
    q[i, a] = dot(work.r[0], work.u[0])
    s[i, a] = dot(work.u[0], work.u[0])
    if M.shape[0] > 0:
        t[i, a] = quadratic_form(M[a + 1], pending_M[a + 1], n_pending[a + 1], work.u[0])


@kernel
def variance_rows(
    state: State,
    paper: PaperArrays | None,
    Z: FloatArray,
    psi: FloatArray,
    M: FloatArray,
    pending_M: FloatArray,
    n_pending: IntArray,
    q: FloatArray,
    s: FloatArray,
    t: FloatArray,
) -> None:
    """Fill q, s and t, which must be zeros, for rows Z whose psi are given."""
    rules, settings, work = state.rules, state.settings, state.work
    for a in range(psi.shape[1]):
        work.active[0] = a + 1
        for i in range(Z.shape[0]):
            if psi[i, a] > 0.0:
                project(Z[i], 1, rules, settings, work, paper)
                variance_terms(i, a, work, M, pending_M, n_pending, q, s, t)


@kernel
def answer_rows(
    state: State,
    paper: PaperArrays | None,
    Z: FloatArray,
    W: FloatArray,
    M: FloatArray,
    pending_M: FloatArray,
    n_pending: IntArray,
    out: FloatArray,
    psi: FloatArray,
    D: FloatArray,
    q: FloatArray,
    s: FloatArray,
    t: FloatArray,
    V: FloatArray,
) -> None:
    """Fill `out` with eq. (2) for the rows Z, by the weights W, or from the state where W is empty; fill psi and D.

    q, s and t are filled as well unless q is empty; they must be zeros before.
    """
    rules, settings, work = state.rules, state.settings, state.work
    formed, with_variance = W.shape[0] > 0, q.shape[0] > 0
    for i in range(Z.shape[0]):
        memberships_of_row(Z[i], rules, settings, work, paper, psi[i], D[i])
    out[:] = 0.0
    V[:] = 0.0
    for a in range(psi.shape[1]):
        slot = a + 1
        work.active[0] = slot
        kept = formed or settings.iterated or rules.locked[slot] > 0
        weights = W if formed else rules.W
        for i in range(Z.shape[0]):
            if psi[i, a] == 0.0:
                continue
            if kept and not with_variance:
                fill_regressors(Z[i], 1, rules, settings, work, paper, work.r)
            else:
                project(Z[i], 1, rules, settings, work, paper)
            if with_variance:
                variance_terms(i, a, work, M, pending_M, n_pending, q, s, t)
            if kept:
                add_product(weights[slot], work.r[0], psi[i, a], out[i])
            else:
                add_rule_output(psi[i, a], work.u[0], rules.G[slot], settings.anchor, V[i], out[i])
    if not (formed or settings.iterated):
        for i in range(out.shape[0]):
            add_global_output(V[i], rules.P[0], rules.pending_P[0], rules.n_pending[0], rules.G[0], work.t, out[i])
