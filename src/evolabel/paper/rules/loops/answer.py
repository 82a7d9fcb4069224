"""Distances, memberships, outputs and variance terms of rows that are not learned.

Symbols are those of `stages.rules.loops.answer`, and in the product space:

| symbol | array  | meaning                                                                 |
|--------|--------|-------------------------------------------------------------------------|
| S      | (n, d) | rows with their labels                                                  |
| J      | (n, C) | mean squared distances with the labels; equal to D where there are none |
"""

from evolabel.engine.compile import inner, kernel
from evolabel.paper.rules.arrays import PaperState
from evolabel.paper.rules.loops.memberships import bound_of_paper, paper_memberships, rule_distances
from evolabel.paper.rules.loops.rotated import fill_conditional, project_conditional
from evolabel.stages.rules.arrays import RuleArrays, State, Workspace
from evolabel.stages.rules.loops.answer import (
    add_active,
    add_block,
    add_global_outputs,
    add_moment,
    block_terms,
    copy_distances,
    copy_memberships,
    variance_terms,
)
from evolabel.stages.rules.loops.consequents import fill_regressor
from evolabel.stages.scaling.loops import Knots, scale_rows
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
    moments: tuple[FloatArray, FloatArray, IntArray],
    terms: tuple[FloatArray, FloatArray, FloatArray],
) -> None:
    """Fill the `terms` q, s and t, which must be zeros, for rows Z whose psi are given."""
    rules, work = state.rules, state.work
    for a in range(psi.shape[1]):
        work.active[0] = a + 1
        for i in range(Z.shape[0]):
            if psi[i, a] > 0.0:
                project_conditional(Z[i], 1, rules, work, paper)
                variance_terms(i, a, work, moments, terms)


@kernel
def paper_answer_rows(
    state: State,
    paper: PaperState,
    Z: FloatArray,
    W: FloatArray,
    moments: tuple[FloatArray, FloatArray, IntArray],
    found: tuple[FloatArray, FloatArray, FloatArray],
    terms: tuple[FloatArray, FloatArray, FloatArray],
    V: FloatArray,
) -> None:
    """Fill `found` and `terms` for the rows Z, as `stages.rules.loops.answer.answer_rows` does."""
    rules, settings, work = state.rules, state.settings, state.work
    out, psi, D = found
    for i in range(Z.shape[0]):
        m = paper_memberships(Z[i], Z.shape[1], rules, settings, work, paper)
        copy_memberships(m, work, psi[i], D[i])
    out[:] = 0.0
    V[:] = 0.0
    for a in range(psi.shape[1]):
        work.active[0] = a + 1
        weights = rules.W if W.shape[0] == 0 and (paper.settings.iterated or rules.locked[a + 1] > 0) else W
        for i in range(Z.shape[0]):
            if psi[i, a] != 0.0:
                fill_conditional(Z[i], 1, rules, work, paper, work.r)
                add_active(i, a, weights, paper.anchor, rules, work, moments, terms, psi, V, out)
    if not (W.shape[0] > 0 or paper.settings.iterated):
        add_global_outputs(V, rules, work, out)


@kernel
def paper_answer_few(
    state: State,
    paper: PaperState,
    knots: Knots,
    W: FloatArray,
    moments: tuple[FloatArray, FloatArray, IntArray],
    scratch: tuple[FloatArray, FloatArray],
    X: FloatArray,
    found: tuple[FloatArray, FloatArray, FloatArray],
    terms: tuple[FloatArray, FloatArray, FloatArray],
) -> None:
    """Fill `found` and `terms` for few raw rows X, scaled by `knots`, as `answer_few` does; `scratch` is Z and V."""
    Z, V = scratch
    scale_rows(knots, X, Z)
    paper_answer_rows(state, paper, Z, W, moments, found, terms, V)


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
    scratch: tuple[FloatArray, FloatArray, IntArray],
    out: FloatArray,
) -> None:
    """Fill `out` for rows Z whose psi are given, as `stages.rules.loops.answer.answer_block` does."""
    out[:] = 0.0
    for a in range(psi.shape[1]):
        m = gather_conditional(a, Z, psi, state.rules, state.work, paper, scratch[0], scratch[2])
        add_block(m, a, psi, W, scratch, out)


@kernel
def paper_variance_block(
    state: State,
    paper: PaperState,
    Z: FloatArray,
    psi: FloatArray,
    moments: tuple[FloatArray, FloatArray, IntArray],
    scratch: tuple[FloatArray, FloatArray, FloatArray, IntArray],
    terms: tuple[FloatArray, FloatArray, FloatArray],
) -> None:
    """Fill the `terms` as `stages.rules.loops.answer.variance_block` does."""
    for a in range(psi.shape[1]):
        m = gather_conditional(a, Z, psi, state.rules, state.work, paper, scratch[1], scratch[3])
        block_terms(m, a, state.rules, moments, scratch, terms)


@kernel
def add_paper_moments(
    state: State,
    paper: PaperState,
    Z: FloatArray,
    psi: FloatArray,
    weight: float,
    moments: tuple[FloatArray, FloatArray, IntArray],
) -> None:
    """Add all rows Z to M of the active rules and of the whole stream, with `weight` times psi."""
    rules, work = state.rules, state.work
    for i in range(Z.shape[0]):
        fill_regressor(Z[i], rules.c[0], work.r[0])
        add_moment(0, work.r[0], weight, moments)
        for a in range(psi.shape[1]):
            if psi[i, a] > 0.0:
                work.active[0] = a + 1
                fill_conditional(Z[i], 1, rules, work, paper, work.r)
                add_moment(a + 1, work.r[0], weight * psi[i, a], moments)
