"""The loop that learns one sample after the other; each is answered before it is learned.

| symbol | array     | meaning                                                                 |
|--------|-----------|-------------------------------------------------------------------------|
| z      | (p,)      | scaled sample, NaN where a feature is missing                           |
| r      | (m+1, q)  | regressors (z, 1) of the m active rules, then of the global model       |
| u      | (m+1, q)  | P r of the same slots, before the sample is learned                     |
| psi    | (m,)      | normalised memberships of the active rules, eq. (2)                     |
| f      | (K,)      | output, eq. (2)                                                         |

The weights W_i = (H_i + gamma D)^-1 (G_i + gamma D W_0) are never formed: with u = P_i r the rule's output is
G_i u + gamma W_0'(D u), and W_0'v = G_0 (P_0 v), with the diagonal D of `kernels.state.Settings`. This is exact after
every sample, although W_0 changes. A locked rule answers with the W_i it had when it was locked, and learns nothing.
"""

import numpy as np

from evolabel.kernels.compile import inlined, inner, kernel
from evolabel.kernels.lanes import fma
from evolabel.kernels.memberships import join, nearest, rule_memberships
from evolabel.kernels.moments import update_moments
from evolabel.kernels.paper.coupling import add_label_moments
from evolabel.kernels.paper.iteration import iterate, rls_step
from evolabel.kernels.regressors import fill_regressor, project
from evolabel.kernels.state import (
    DIVERGED,
    DONE,
    DUE,
    GROWN,
    INACTIVE,
    NOVEL,
    RULES,
    SEEN,
    PaperArrays,
    RuleArrays,
    Settings,
    State,
    Workspace,
)
from evolabel.kernels.statistics import add_labels, add_partial_labels, learn_regressor
from evolabel.kernels.structure import any_inactive, has_grown, is_novel, update_winner_stats
from evolabel.kernels.symmetric import add_product, dot, mirror, pending_product
from evolabel.typing import FloatArray, IntArray

LOOSE = 1.5  # factor by which a step bound may exceed the last exact largest eigenvalue


@inner
def add_rule_output(psi: float, u: FloatArray, G: FloatArray, gamma: FloatArray, v: FloatArray, f: FloatArray) -> None:
    """Add psi G u, the rule's own part, to f, and psi gamma D u to v, to be multiplied by the global weights later."""
    for j in range(u.shape[0]):
        v[j] = fma(psi * gamma[j], u[j], v[j])
    add_product(G, u, psi, f)


@inner
def add_global_output(
    v: FloatArray, P: FloatArray, pending_P: FloatArray, n_pending: int, G: FloatArray, t: FloatArray, f: FloatArray
) -> None:
    """Add W_0'v to f, with W_0 = P_0 G_0', one product for all rules; t is scratch."""
    pending_product(P, pending_P, n_pending, v, t)
    add_product(G, t, 1.0, f)


@inlined
def confidence_of_row(y: FloatArray, given: FloatArray, confidence: FloatArray) -> float:
    """Fill `confidence`: 0 where y is NaN, else `given`, 1 if that is empty. Return the mean over labels."""
    total = 0.0
    for b in range(y.shape[0]):
        confidence[b] = 0.0 if np.isnan(y[b]) else (given[b] if given.shape[0] > 0 else 1.0)
        total += confidence[b]
    return float(total / y.shape[0])


@inner
def answer(
    m: int, rules: RuleArrays, settings: Settings, work: Workspace, paper: PaperArrays | None, f: FloatArray
) -> None:
    """Fill f with the output, eq. (2), from r and u of the m active rules."""
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
            add_rule_output(work.psi[b], work.u[b], rules.G[work.active[b]], settings.anchor, work.v, f)
    add_global_output(work.v, rules.P[0], rules.pending_P[0], rules.n_pending[0], rules.G[0], work.t, f)


@inlined
def update_inverse(slot: int, b: int, w: float, rules: RuleArrays, work: Workspace) -> None:
    """Update H and P of `slot` by the b-th regressor of `work`, with weight w."""
    rules.n_pending[slot] = learn_regressor(
        work.r[b],
        work.u[b],
        w,
        rules.H[slot],
        rules.P[slot],
        rules.pending_H[slot],
        rules.pending_P[slot],
        rules.n_pending[slot],
    )
    rules.age[slot] += 1
    rules.new_weight[slot] += w


@inlined
def learn_complete(m: int, y: FloatArray, weight: float, rules: RuleArrays, work: Workspace) -> None:
    """Update H, G and P of the m active rules and of the global model by a row whose labels y are all known."""
    for b in range(m + 1):
        slot, w = work.active[b], weight * work.psi[b]
        if not rules.locked[slot]:
            add_labels(rules.G[slot], work.r[b], y, w)
            update_inverse(slot, b, w, rules, work)


@inner
def learn_partial(
    m: int, y: FloatArray, share: float, weight: float, rules: RuleArrays, settings: Settings, work: Workspace
) -> None:
    """Update H, G and P by a row with missing or uncertain labels y; unanswered labels keep their weights."""
    f = work.own
    for b in range(m + 1):  # all predictions before any update: those of the rules depend on W_0
        slot = work.active[b]
        f[b] = 0.0
        work.v[:] = 0.0
        add_rule_output(1.0, work.u[b], rules.G[slot], settings.anchor, work.v, f[b])
        if slot > 0:
            add_global_output(work.v, rules.P[0], rules.pending_P[0], rules.n_pending[0], rules.G[0], work.t, f[b])
    for b in range(m + 1):
        slot, w = work.active[b], weight * work.psi[b]
        if rules.locked[slot]:
            continue
        q = dot(work.r[b], work.u[b])
        add_partial_labels(rules.G[slot], work.r[b], f[b], y, work.confidence, q, w, w * share)
        update_inverse(slot, b, w * share, rules, work)


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
    """Run Algorithm 2 for the m active rules, and least squares for the global model; False if weights diverge."""
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
        update_inverse(slot, c, w * share, rules, work)
        mirror(rules.H[slot])  # a block of one row: H is up to date, and iterations need the whole matrix
        if slot > 0:
            sound = iterate(slot, c, y, w * share, rules, settings, work, paper) and sound
    return sound


@inner
def learn_label_moments(
    m: int, y: FloatArray, weight: float, rules: RuleArrays, work: Workspace, paper: PaperArrays
) -> None:
    """Update the label moments of the m active rules by y."""
    for b in range(m):
        slot = work.active[b]
        if not rules.locked[slot]:
            add_label_moments(y, weight * work.psi[b], paper.mass[slot], paper.ybar[slot], paper.Q[slot])


@inner
def any_due(m: int, active: IntArray, age: IntArray, upkeep_every: int) -> bool:
    """Return whether the age of one of the m + 1 slots in `active` has reached `upkeep_every`."""
    due = False
    for b in range(m + 1):
        due = due or age[active[b]] >= upkeep_every
    return due


@inner
def any_loose(m: int, active: IntArray, top: FloatArray) -> bool:
    """Return whether the step bound of one of the m + 1 slots in `active` exceeds `LOOSE` times its exact value."""
    loose = False
    for b in range(m + 1):
        slot = active[b]
        loose = loose or (top.shape[1] > 0 and top[slot, 0] > LOOSE * top[slot, 1])
    return loose


@inlined
def update_winner(
    w: int,
    d: float,
    s: FloatArray,
    weight: float,
    antecedent_rate: float,
    rules: RuleArrays,
    settings: Settings,
    paper: PaperArrays | None,
) -> None:
    """Update the moments of the winner w, at distance d from s, unless it is locked, and those of the whole stream."""
    update_winner_stats(d, rules.winner_stats)
    if not rules.locked[w]:
        rules.last_won[w] = rules.counters[SEEN]
        if antecedent_rate > 0.0:
            update_moments(w, s, weight * antecedent_rate, rules, settings, paper)
    update_moments(0, s, weight, rules, settings, paper)


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
    """Update statistics and weights of the m active rules and of the global model; return DONE, DUE or DIVERGED.

    `share` is the mean confidence over the labels y of the row z, 1 if all are known.
    """
    work.active[m] = 0  # the global model is slot 0; every sample belongs to it with membership 1
    work.psi[m] = 1.0
    fill_regressor(z, rules.c[0], work.r[m])
    pending_product(rules.P[0], rules.pending_P[0], rules.n_pending[0], work.r[m], work.u[m])
    if paper is not None and settings.iterated:
        if not learn_iterated(m, y, share, weight, rules, settings, work, paper):
            return DIVERGED
    else:
        if paper is not None and paper.Q.shape[1] > 0:
            learn_label_moments(m, y, weight * share, rules, work, paper)
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
    antecedent_rate: float,
    structure: bool,
    consequents: bool,
    created_first: bool,
    out: FloatArray,
) -> tuple[int, int]:
    """Learn the scaled rows Z; return how many are done, and the reason to stop.

    `out`, if it has rows, receives each row's output from before it is learned. `weights` and `confidences` may be
    empty. `antecedent_rate` multiplies the weight of a row in the moments of its winner. `structure` and `consequents`
    select what is learned. A row without answered labels, or of weight 0, only counts as seen (once: when the
    structure is learned).

    NOVEL is returned before the row has changed anything: the caller creates a rule and calls again from that row with
    `created_first`. INACTIVE, DUE and GROWN are returned after their row.
    """
    rules, settings, work = state.rules, state.settings, state.work
    given = work.confidence[:0]
    p = Z.shape[1]
    near = work.J if rules.c.shape[1] > p else work.D
    for i in range(Z.shape[0]):
        created = created_first and i == 0
        weight = weights[i] if weights.shape[0] > 0 else 1.0
        if confidences.shape[0] > 0:
            given = confidences[i]
        share = confidence_of_row(Y[i], given, work.confidence)
        join(Z[i], Y[i], settings.label_weight, work.s)
        m = rule_memberships(work.s, p, rules, settings, work, paper)
        if consequents or out.shape[0] > 0:
            project(Z[i], m, rules, settings, work, paper)
        if out.shape[0] > 0 and not created:
            answer(m, rules, settings, work, paper, out[i])
        labelled = weight > 0.0 and share > 0.0
        C = rules.counters[RULES]
        winner = nearest(near, C)
        if structure and not created:
            if labelled and (winner == 0 or is_novel(near[winner], rules.k[winner], C, rules.winner_stats, settings)):
                return i, NOVEL
            rules.counters[SEEN] += 1
            if labelled:
                update_winner(winner, near[winner], work.s, weight * share, antecedent_rate, rules, settings, paper)
        if consequents and labelled:
            reason = learn_consequents(m, Z[i], Y[i], share, weight, rules, settings, work, paper)
            if reason != DONE:
                return i + 1, reason
        if structure and settings.prune_after > 0 and any_inactive(rules, settings):
            return i + 1, INACTIVE
        if structure and labelled and settings.merge_every > 0 and has_grown(winner, rules, settings):
            return i + 1, GROWN
    return Z.shape[0], DONE
