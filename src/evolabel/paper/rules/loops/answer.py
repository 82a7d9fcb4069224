"""Distances, memberships, outputs and variance terms of rows that are not learned.

Symbols are those of `stages.rules.loops.answer`, and in the product space:

| symbol | array  | meaning                                                                 |
|--------|--------|-------------------------------------------------------------------------|
| S      | (n, d) | rows with their labels                                                  |
| J      | (n, C) | mean squared distances with the labels; equal to D where there are none |
"""

from evolabel.engine.compile import inner, kernel
from evolabel.engine.symmetric import add_product
from evolabel.paper.rules.arrays import PaperState
from evolabel.paper.rules.loops.memberships import bound_of_paper, paper_memberships, rule_distances
from evolabel.paper.rules.loops.regressors import fill_conditional, project_conditional
from evolabel.stages.rules.arrays import RuleArrays, State, Workspace
from evolabel.stages.rules.loops.answer import copy_distances, copy_memberships, variance_terms
from evolabel.stages.rules.loops.answer_block import add_block, block_terms
from evolabel.stages.rules.loops.consequents import add_global_output, add_rule_output, fill_regressor
from evolabel.stages.rules.loops.second_moments import add_moment
from evolabel.stages.scaling.loops.scale import Knots, scale_rows
from evolabel.typing import FloatArray, IntArray


@kernel
def paper_distance_rows(
    state: State, paper: PaperState, S: FloatArray, p: int, psi: FloatArray, D: FloatArray, J: FloatArray
) -> None:
    """Fill D with distances of the rows S to all rules, and psi with memberships; labels follow the p features.

    psi is not filled if it is empty, and J only if rows have labels; one of both is empty.
    """
    rules, settings, work = state.rules, state.settings, state.work
    for i in range(S.shape[0]):
        if psi.shape[0] > 0:
            m = paper_memberships(S[i, :p], p, rules, settings, work, paper)
            copy_memberships(m, work, psi[i], D[i])
        else:
            rule_distances(S[i], p, rules, settings, work, paper)
            copy_distances(work, D[i])
            if S.shape[1] > p:
                for a in range(D.shape[1]):
                    J[i, a] = paper.work.J[a + 1]


@kernel
def paper_bounds(state: State, paper: PaperState, radius: float, bounds: FloatArray) -> None:
    """Fill `bounds`, (C,), with the distance beyond which a sample is novel, for each rule, by this `radius`."""
    rules, C = state.rules, bounds.shape[0]
    for a in range(C):
        bounds[a] = bound_of_paper(rules.k[a + 1], C, rules, radius, state.settings, paper.settings.by_radius)


@kernel
def paper_variance_rows(
    state: State,
    paper: PaperState,
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
    rules, work = state.rules, state.work
    for a in range(psi.shape[1]):
        work.active[0] = a + 1
        for i in range(Z.shape[0]):
            if psi[i, a] > 0.0:
                project_conditional(Z[i], 1, rules, work, paper)
                variance_terms(i, a, work, M, pending_M, n_pending, q, s, t)


@kernel
def paper_answer_rows(
    state: State,
    paper: PaperState,
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
        m = paper_memberships(Z[i], Z.shape[1], rules, settings, work, paper)
        copy_memberships(m, work, psi[i], D[i])
    out[:] = 0.0
    V[:] = 0.0
    for a in range(psi.shape[1]):
        slot = a + 1
        work.active[0] = slot
        kept = formed or paper.settings.iterated or rules.locked[slot] > 0
        weights = W if formed else rules.W
        for i in range(Z.shape[0]):
            if psi[i, a] == 0.0:
                continue
            if kept and not with_variance:
                fill_conditional(Z[i], 1, rules, work, paper, work.r)
            else:
                project_conditional(Z[i], 1, rules, work, paper)
            if with_variance:
                variance_terms(i, a, work, M, pending_M, n_pending, q, s, t)
            if kept:
                add_product(weights[slot], work.r[0], psi[i, a], out[i])
            else:
                add_rule_output(psi[i, a], work.u[0], rules.G[slot], paper.anchor, V[i], out[i])
    if not (formed or paper.settings.iterated):
        for i in range(out.shape[0]):
            add_global_output(V[i], rules.P[0], rules.pending_P[0], rules.n_pending[0], rules.G[0], work.t, out[i])


@kernel
def paper_answer_few(
    state: State,
    paper: PaperState,
    knots: Knots,
    W: FloatArray,
    moments: tuple[FloatArray, FloatArray, IntArray],
    scratch: tuple[FloatArray, FloatArray],
    X: FloatArray,
    f: FloatArray,
    psi: FloatArray,
    D: FloatArray,
    terms: tuple[FloatArray, FloatArray, FloatArray],
) -> None:
    """Fill f, psi, D and the `terms` q, s and t for few raw rows X, scaled by `knots`, as `model.loops.answer` does.

    `moments` are M, pending_M and n_pending, `scratch` Z and V.
    """
    M, pending_M, n_pending = moments
    q, s, t = terms
    Z, V = scratch
    scale_rows(knots, X, Z)
    paper_answer_rows(state, paper, Z, W, M, pending_M, n_pending, f, psi, D, q, s, t, V)


@inner
def gather_conditional(
    a: int,
    Z: FloatArray,
    psi: FloatArray,
    rules: RuleArrays,
    work: Workspace,
    paper: PaperState,
    R: FloatArray,
    rows: IntArray,
) -> int:
    """Fill R and `rows` with regressors and numbers of the rows for which rule a is active; return their number."""
    m = 0
    work.active[0] = a + 1
    for i in range(Z.shape[0]):
        if psi[i, a] > 0.0:
            fill_conditional(Z[i], 1, rules, work, paper, R[m:])
            rows[m] = i
            m += 1
    return m


@kernel
def paper_answer_block(
    state: State,
    paper: PaperState,
    Z: FloatArray,
    psi: FloatArray,
    W: FloatArray,
    R: FloatArray,
    F: FloatArray,
    rows: IntArray,
    out: FloatArray,
) -> None:
    """Fill `out` with the sum of psi_i W_i r, eq. (2), for rows Z whose psi are given. R, F and `rows` are scratch."""
    out[:] = 0.0
    for a in range(psi.shape[1]):
        m = gather_conditional(a, Z, psi, state.rules, state.work, paper, R, rows)
        add_block(m, a, psi, W, R, F, rows, out)


@kernel
def paper_variance_block(
    state: State,
    paper: PaperState,
    Z: FloatArray,
    psi: FloatArray,
    M: FloatArray,
    pending_M: FloatArray,
    n_pending: IntArray,
    A: FloatArray,
    R: FloatArray,
    U: FloatArray,
    rows: IntArray,
    q: FloatArray,
    s: FloatArray,
    t: FloatArray,
) -> None:
    """Fill q, s and t as `stages.rules.loops.answer_block.variance_block` does."""
    for a in range(psi.shape[1]):
        m = gather_conditional(a, Z, psi, state.rules, state.work, paper, R, rows)
        block_terms(m, a + 1, state.rules, M, pending_M, n_pending, A, R, U, rows, q, s, t)


@kernel
def add_paper_moments(
    state: State,
    paper: PaperState,
    Z: FloatArray,
    psi: FloatArray,
    weight: float,
    M: FloatArray,
    pending_M: FloatArray,
    n_pending: IntArray,
) -> None:
    """Add all rows Z to M of the active rules and of the whole stream, with `weight` times psi."""
    rules, work = state.rules, state.work
    for i in range(Z.shape[0]):
        fill_regressor(Z[i], rules.c[0], work.r[0])
        n_pending[0] = add_moment(work.r[0], weight, M[0], pending_M[0], n_pending[0])
        for a in range(psi.shape[1]):
            if psi[i, a] > 0.0:
                slot = a + 1
                work.active[0] = slot
                fill_conditional(Z[i], 1, rules, work, paper, work.r)
                n_pending[slot] = add_moment(work.r[0], weight * psi[i, a], M[slot], pending_M[slot], n_pending[slot])
