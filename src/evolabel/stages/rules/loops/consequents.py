"""Consequents of one row: the outputs of the active rules, and the statistics H, G and P that the row changes.

| symbol | array     | meaning                                                                 |
|--------|-----------|-------------------------------------------------------------------------|
| r      | (m+1, q)  | regressors (z, 1) of the m active rules, then of the global model       |
| u      | (m+1, q)  | P r of the same slots, before the sample is learned                     |
| psi    | (m,)      | normalised memberships of the active rules, eq. (2)                     |
| f      | (K,)      | output, eq. (2)                                                         |

The weights W_i = (H_i + gamma D)^-1 (G_i + gamma D W_0) are never formed: with u = P_i r the rule's output is
G_i u + gamma W_0'(D u), and W_0'v = G_0 (P_0 v), with the diagonal D of `arrays.Settings`. This is exact after
every sample, although W_0 changes. A locked rule answers with the W_i it had when it was locked, and learns nothing.
"""

from evolabel.engine.compile import inlined, inner
from evolabel.engine.lanes import fma
from evolabel.engine.symmetric import add_product, dot, mirror, pending_product
from evolabel.stages.rules.arrays import DIVERGED, DONE, DUE, PaperArrays, RuleArrays, Settings, Workspace
from evolabel.stages.rules.loops.paper.coupling import add_label_moments
from evolabel.stages.rules.loops.paper.iteration import iterate, rls_step
from evolabel.stages.rules.loops.regressors import fill_regressor
from evolabel.stages.rules.loops.statistics import add_labels, add_partial_labels, learn_regressor
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
