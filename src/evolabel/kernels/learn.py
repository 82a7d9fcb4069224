"""The loop that learns one sample after the other, answering each first.

| symbol | array     | meaning                                                                 |
|--------|-----------|-------------------------------------------------------------------------|
| z      | (p,)      | scaled sample, NaN where a feature is missing                           |
| r      | (m+1, q)  | regressors (z, 1) of the m active rules, then of the global model       |
| u      | (m+1, q)  | P r of the same slots, before the sample is learned                     |
| psi    | (m,)      | normalised memberships of the active rules, eq. (2)                     |
| f      | (K,)      | output, eq. (2)                                                         |

The weights W_i = (H_i + gamma D)^-1 (G_i + gamma D W_0) are never formed: with u = P_i r the rule's output is
G_i u + gamma W_0'(D u), and W_0'v = G_0 (P_0 v). Exact at every moment, also while W_0 moves. A locked rule
answers with the W_i it was locked with, and learns nothing.
"""

import numpy as np

from evolabel.kernels.antecedents import fill_regressor, fill_rotated, join, weigh
from evolabel.kernels.compile import inlined, inner, kernel
from evolabel.kernels.lanes import fma
from evolabel.kernels.memberships import nearest, observed_features
from evolabel.kernels.moments import absorb
from evolabel.kernels.paper.coupling import add_label_moments
from evolabel.kernels.paper.iteration import iterate, rls_step
from evolabel.kernels.state import (
    DIVERGED,
    DONE,
    DUE,
    GROWN,
    NOVEL,
    RULES,
    SEEN,
    STARVED,
    PaperArrays,
    RuleArrays,
    Settings,
    State,
    Workspace,
)
from evolabel.kernels.statistics import add_labels, add_partial_labels, learn_regressor
from evolabel.kernels.structure import any_starved, has_grown, is_novel, note_winner_distance
from evolabel.kernels.symmetric import add_product, dot, mirror, pending_product
from evolabel.typing import FloatArray, IntArray

LOOSE = 1.5  # a step bound may exceed the last exact largest eigenvalue by this factor


@inlined
def fill_regressors(
    z: FloatArray,
    m: int,
    rules: RuleArrays,
    settings: Settings,
    work: Workspace,
    paper: PaperArrays | None,
    r: FloatArray,
) -> None:
    """The regressors r of the m active rules."""
    if paper is not None and settings.rotated and observed_features(z) < z.shape[0]:
        for b in range(m):
            fill_rotated(z, work.active[b], rules, work, paper, r[b])
    else:
        for b in range(m):
            fill_regressor(z, rules.c[work.active[b]], r[b])


@inlined
def solve(
    z: FloatArray, m: int, rules: RuleArrays, settings: Settings, work: Workspace, paper: PaperArrays | None
) -> None:
    """The regressors r of the m active rules and u = P r, waiting rows included."""
    fill_regressors(z, m, rules, settings, work, paper, work.r)
    for b in range(m):
        a = work.active[b]
        pending_product(rules.P[a], rules.late_P[a], rules.late[a], work.r[b], work.u[b])


@inner
def add_rule_output(psi: float, u: FloatArray, G: FloatArray, gamma: FloatArray, v: FloatArray, f: FloatArray) -> None:
    """Add a rule's own part psi G u to f, and to v what the rule asks of the global model: psi gamma D u."""
    for j in range(u.shape[0]):
        v[j] = fma(psi * gamma[j], u[j], v[j])
    add_product(G, u, psi, f)


@inner
def add_global_output(
    v: FloatArray, P: FloatArray, late_P: FloatArray, late: int, G: FloatArray, t: FloatArray, f: FloatArray
) -> None:
    """Add W_0'v to f, with W_0 = P_0 G_0'. One product serves all rules."""
    pending_product(P, late_P, late, v, t)
    add_product(G, t, 1.0, f)


@inlined
def confidence_of_row(y: FloatArray, given: FloatArray, confidence: FloatArray) -> float:
    """Per label: 0 if not annotated, else the confidence given (1 if none is). Returns the mean over labels."""
    total = 0.0
    for b in range(y.shape[0]):
        confidence[b] = 0.0 if np.isnan(y[b]) else (given[b] if given.shape[0] > 0 else 1.0)
        total += confidence[b]
    return float(total / y.shape[0])


@inner
def answer(
    m: int, rules: RuleArrays, settings: Settings, work: Workspace, paper: PaperArrays | None, f: FloatArray
) -> None:
    """Eq. (2) from r and u of the active rules."""
    f[:] = 0.0
    if paper is not None and settings.iterated:
        for b in range(m):
            add_product(rules.W[work.active[b]], work.r[b], work.psi[b], f)
        return
    work.v[:] = 0.0
    for b in range(m):
        if rules.locked[work.active[b]]:
            add_product(rules.W[work.active[b]], work.r[b], work.psi[b], f)
        else:
            add_rule_output(work.psi[b], work.u[b], rules.G[work.active[b]], settings.lean, work.v, f)
    add_global_output(work.v, rules.P[0], rules.late_P[0], rules.late[0], rules.G[0], work.t, f)


@inlined
def take_in(slot: int, b: int, w: float, rules: RuleArrays, work: Workspace) -> None:
    """H and P of a slot learn the b-th regressor, with weight w."""
    rules.late[slot] = learn_regressor(
        work.r[b],
        work.u[b],
        w,
        rules.H[slot],
        rules.P[slot],
        rules.late_H[slot],
        rules.late_P[slot],
        rules.late[slot],
    )
    rules.age[slot] += 1
    rules.fresh[slot] += w


@inlined
def learn_complete(m: int, y: FloatArray, weight: float, rules: RuleArrays, work: Workspace) -> None:
    """Every label is known, closed form: H, G and P of each active rule and of the global model."""
    for b in range(m + 1):
        slot, w = work.active[b], weight * work.psi[b]
        if not rules.locked[slot]:
            add_labels(rules.G[slot], work.r[b], y, w)
            take_in(slot, b, w, rules, work)


@inner
def learn_partial(
    m: int, y: FloatArray, share: float, weight: float, rules: RuleArrays, settings: Settings, work: Workspace
) -> None:
    """Some labels are missing or unsure: unanswered labels keep their weights, H grows by the share answered."""
    f = work.own
    for b in range(m + 1):  # all predictions before any update: the rules lean on W_0
        slot = work.active[b]
        f[b] = 0.0
        work.v[:] = 0.0
        add_rule_output(1.0, work.u[b], rules.G[slot], settings.lean, work.v, f[b])
        if slot > 0:
            add_global_output(work.v, rules.P[0], rules.late_P[0], rules.late[0], rules.G[0], work.t, f[b])
    for b in range(m + 1):
        slot, w = work.active[b], weight * work.psi[b]
        if rules.locked[slot]:
            continue
        q = dot(work.r[b], work.u[b])
        add_partial_labels(rules.G[slot], work.r[b], f[b], y, work.confidence, q, w, w * share)
        take_in(slot, b, w * share, rules, work)


@inner
def learn_iterated(
    m: int,
    y: FloatArray,
    share: float,
    weight: float,
    rules: RuleArrays,
    settings: Settings,
    work: Workspace,
    paper: PaperArrays,
) -> bool:
    """Algorithm 2 for each active rule; the global model takes its exact least squares step. False: blown up."""
    sound = True
    for c in range(m, -1, -1):  # the global model first: the rules' ridge may pull towards it
        slot, w = work.active[c], weight * work.psi[c]
        if rules.locked[slot]:
            continue
        q = dot(work.r[c], work.u[c])
        if settings.rls or slot == 0:
            rls_step(rules.W[slot], work.r[c], work.u[c], y, work.confidence, w, work.f)
        else:
            work.f[:] = 0.0
            add_product(rules.W[slot], work.r[c], 1.0, work.f)
        if share == 1.0:
            add_labels(rules.G[slot], work.r[c], y, w)
        else:
            add_partial_labels(rules.G[slot], work.r[c], work.f, y, work.confidence, q, w, w * share)
        take_in(slot, c, w * share, rules, work)
        mirror(rules.H[slot])  # a block of one row: H is up to date, and iterations need the whole matrix
        if slot > 0:
            sound = iterate(slot, c, y, w * share, rules, settings, work, paper) and sound
    return sound


@inner
def learn_moments(m: int, y: FloatArray, weight: float, rules: RuleArrays, work: Workspace, paper: PaperArrays) -> None:
    """Label moments of the active rules, where labels are coupled."""
    for b in range(m):
        slot = work.active[b]
        if not rules.locked[slot]:
            add_label_moments(y, weight * work.psi[b], paper.mass[slot], paper.ybar[slot], paper.Q[slot])


@inner
def any_due(m: int, active: IntArray, age: IntArray, upkeep_every: int) -> bool:
    """Has one of the slots that have just learned reached the age for upkeep?"""
    due = False
    for b in range(m + 1):
        due = due or age[active[b]] >= upkeep_every
    return due


@inner
def any_loose(m: int, active: IntArray, top: FloatArray) -> bool:
    """Is the step bound of one of the slots that have just learned too loose?"""
    loose = False
    for b in range(m + 1):
        slot = active[b]
        loose = loose or (top.shape[1] > 0 and top[slot, 0] > LOOSE * top[slot, 1])
    return loose


@inlined
def follow(
    w: int,
    d: float,
    s: FloatArray,
    weight: float,
    mobility: float,
    rules: RuleArrays,
    settings: Settings,
    paper: PaperArrays | None,
) -> None:
    """A sample that is not novel moves the rule it is nearest to, and the whole stream's moments."""
    note_winner_distance(d, rules.strange)
    if not rules.locked[w]:
        rules.won[w] = rules.tally[SEEN]
        if mobility > 0.0:
            absorb(w, s, weight * mobility, rules, settings, paper)
    absorb(0, s, weight, rules, settings, paper)


@inlined
def learn_consequents(
    m: int,
    z: FloatArray,
    y: FloatArray,
    share: float,
    weight: float,
    rules: RuleArrays,
    settings: Settings,
    work: Workspace,
    paper: PaperArrays | None,
) -> int:
    """Statistics and weights of the m active rules and of the global model learn a row; returns DONE, DUE or DIVERGED.

    `share` of the labels of the row are answered.
    """
    work.active[m] = 0  # the global model learns beside the rules: a slot every sample belongs to fully
    work.psi[m] = 1.0
    fill_regressor(z, rules.c[0], work.r[m])
    pending_product(rules.P[0], rules.late_P[0], rules.late[0], work.r[m], work.u[m])
    if paper is not None and settings.iterated:
        if not learn_iterated(m, y, share, weight, rules, settings, work, paper):
            return DIVERGED
    else:
        if paper is not None and paper.Q.shape[1] > 0:
            learn_moments(m, y, weight * share, rules, work, paper)
        if share == 1.0:
            learn_complete(m, y, weight, rules, work)
        else:
            learn_partial(m, y, share, weight, rules, settings, work)
    if any_due(m, work.active, rules.age, settings.upkeep_every):
        return DUE
    if paper is not None and any_loose(m, work.active, paper.top):
        return DUE
    return DONE


@kernel
def learn_rows(
    state: State,
    paper: PaperArrays | None,
    Z: FloatArray,
    Y: FloatArray,
    weights: FloatArray,
    confidences: FloatArray,
    mobility: float,
    structure: bool,
    consequents: bool,
    born: bool,
    out: FloatArray,
) -> tuple[int, int]:
    """Learn scaled rows in place, answering each first if `out` has rows; returns the rows done and why it stopped.

    `weights` and `confidences` may be empty. `mobility` is how far a row moves the rule it falls into. `structure` and
    `consequents` say what is learned. A row without any answered label, or of weight 0, only counts as seen (rows
    count once: when the structure is learned).

    A row that starts a rule is answered and then handed back (NOVEL) before it has changed anything; the caller lets
    the rule be born and calls again from that row with `born`. Starved rules and slots due for upkeep are reported
    after their row (STARVED, DUE).
    """
    rules, settings, work = state.rules, state.settings, state.work
    given = work.confidence[:0]
    p = Z.shape[1]
    near = work.J if rules.c.shape[1] > p else work.D
    for i in range(Z.shape[0]):
        fresh = born and i == 0
        weight = weights[i] if weights.shape[0] > 0 else 1.0
        if confidences.shape[0] > 0:
            given = confidences[i]
        share = confidence_of_row(Y[i], given, work.confidence)
        join(Z[i], Y[i], settings.label_weight, work.s)
        m = weigh(work.s, p, rules, settings, work, paper)
        if consequents or out.shape[0] > 0:
            solve(Z[i], m, rules, settings, work, paper)
        if out.shape[0] > 0 and not fresh:
            answer(m, rules, settings, work, paper, out[i])
        taught = weight > 0.0 and share > 0.0
        winner = nearest(near, rules.tally[RULES])
        if structure and not fresh:
            if taught and (
                winner == 0 or is_novel(near[winner], rules.k[winner], rules.tally[RULES], rules.strange, settings)
            ):
                return i, NOVEL
            rules.tally[SEEN] += 1
            if taught:
                follow(winner, near[winner], work.s, weight * share, mobility, rules, settings, paper)
        if consequents and taught:
            reason = learn_consequents(m, Z[i], Y[i], share, weight, rules, settings, work, paper)
            if reason != DONE:
                return i + 1, reason
        if structure and settings.prune_after > 0 and any_starved(rules, settings):
            return i + 1, STARVED
        if structure and taught and settings.merge_every > 0 and has_grown(winner, rules, settings):
            return i + 1, GROWN
    return Z.shape[0], DONE
