"""Consequents of one row: regressors, the outputs of the active rules, and the statistics that the row changes.

| symbol | array     | meaning                                                                 |
|--------|-----------|-------------------------------------------------------------------------|
| r      | (m+1, q)  | regressors (z, 1) of the m active rules, then of the global model       |
| u      | (m+1, q)  | P r of the same slots, before the sample is learned                     |
| psi    | (m,)      | normalised memberships of the active rules, eq. (2)                     |
| f      | (K,)      | output, eq. (2)                                                         |

The weights W_i = (H_i + gamma D)^-1 (G_i + gamma D W_0) are never formed: with u = P_i r the rule's output is
G_i u + gamma W_0'(D u), and W_0'v = G_0 (P_0 v), with the diagonal D of `arrays.Settings`. This is exact after
every sample, although W_0 changes. A locked rule answers with the W_i it had when it was locked, and learns nothing.

The statistics are sufficient: H = sum psi r r', G = sum psi y r', P = (H + penalty)^-1. A missing feature takes its
mean in the rule. G changes at every sample. H and P change by one outer product per sample. These outer products are
kept in blocks (`pending_H`, `pending_P`) and applied together; every product with P includes the pending rows, so it is
exact.
"""

import numpy as np

from evolabel.engine.compile import inlined, inner
from evolabel.engine.lanes import fma
from evolabel.engine.symmetric import add_outer_products, add_product, add_scaled, dot, pending_product
from evolabel.stages.rules.arrays import DONE, DUE, RuleArrays, Settings, Workspace
from evolabel.typing import FloatArray, IntArray


@inlined
def confidence_of_row(y: FloatArray, given: FloatArray, confidence: FloatArray) -> float:
    """Fill `confidence`: 0 where y is NaN, else `given`, 1 if that is empty. Return the mean over labels."""
    total = 0.0
    for b in range(y.shape[0]):
        confidence[b] = 0.0 if np.isnan(y[b]) else (given[b] if given.shape[0] > 0 else 1.0)
        total += confidence[b]
    return float(total / y.shape[0])


@inlined
def fill_regressor(z: FloatArray, centre: FloatArray, r: FloatArray) -> None:
    """Fill r with (z, 1); a missing feature takes its entry of `centre`, its mean under an axis-parallel Gaussian."""
    p = z.shape[0]
    for j in range(p):
        r[j] = centre[j] if np.isnan(z[j]) else z[j]
    r[p] = 1.0


@inlined
def fill_regressors(z: FloatArray, m: int, rules: RuleArrays, work: Workspace, r: FloatArray) -> None:
    """Fill the first m rows of r with the regressors of z for the m active rules of `work`."""
    for b in range(m):
        fill_regressor(z, rules.c[work.active[b]], r[b])


@inlined
def fill_products(m: int, rules: RuleArrays, work: Workspace) -> None:
    """Fill u = P r of `work` for the m active rules, whose regressors r are filled."""
    for b in range(m):
        a = work.active[b]
        pending_product(rules.P[a], rules.pending_P[a], rules.n_pending[a], work.r[b], work.u[b])


@inlined
def project(z: FloatArray, m: int, rules: RuleArrays, work: Workspace) -> None:
    """Fill r and u = P r of `work` for the m active rules; pending rank-one rows of P are included."""
    fill_regressors(z, m, rules, work, work.r)
    fill_products(m, rules, work)


@inner
def pending_rows(r: FloatArray, u: FloatArray, w: float, row_H: FloatArray, row_P: FloatArray) -> None:
    """Fill the rows of H += w r r' and P -= w u u' / (1 + w r'u), eqs. (26), (27) without their division by psi."""
    for_H, for_P = np.sqrt(w), np.sqrt(w / (1.0 + w * dot(r, u)))
    for j in range(r.shape[0]):
        row_H[j] = for_H * r[j]
        row_P[j] = for_P * u[j]


@inner
def learn_regressor(
    r: FloatArray,
    u: FloatArray,
    w: float,
    H: FloatArray,
    P: FloatArray,
    pending_H: FloatArray,
    pending_P: FloatArray,
    n_pending: int,
) -> int:
    """Add a regressor r of weight w to the blocks of H and P, and apply full blocks; return the pending rows."""
    pending_rows(r, u, w, pending_H[n_pending], pending_P[n_pending])
    if n_pending + 1 < pending_H.shape[0]:
        return n_pending + 1
    add_outer_products(H, pending_H, n_pending + 1, 1.0)
    add_outer_products(P, pending_P, n_pending + 1, -1.0)
    return 0


@inner
def add_labels(G: FloatArray, r: FloatArray, y: FloatArray, w: float) -> None:
    """Add w y r' to G, eq. (24); labels of 0 are skipped."""
    for b in range(y.shape[0]):
        if y[b] != 0.0:
            add_scaled(w * y[b], r, G[b])


@inner
def add_partial_labels(
    G: FloatArray,
    r: FloatArray,
    f: FloatArray,
    y: FloatArray,
    confidence: FloatArray,
    expected: FloatArray,
    q: float,
    psi: float,
    w: float,
) -> None:
    """Update G where labels are missing or uncertain (docs/decisions/005-partial-annotation.md).

    f is the slot's own prediction, q = r'P r before the update, psi the weight of the sample in the slot, w the weight
    by which H grows: psi times the mean confidence. A label of confidence 0
    keeps its weights: G changes by w f r, as H changes by w r r'. A label of confidence g changes its weights as a
    sample of weight psi g with all labels would. A label without an answer learns the error that is `expected` of it,
    by the whole weight psi.
    """
    for b in range(f.shape[0]):
        v, own, error = w * f[b], psi, expected[b]
        if confidence[b] > 0.0:
            own, error = psi * confidence[b], y[b] - f[b]
        v += own * (1.0 + w * q) / (1.0 + own * q) * error
        add_scaled(v, r, G[b])


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
def answer(m: int, rules: RuleArrays, gamma: FloatArray, work: Workspace, f: FloatArray) -> None:
    """Fill f with the output, eq. (2), from r and u of the m active rules; `gamma` is the diagonal of gamma D."""
    f[:] = 0.0
    work.v[:] = 0.0
    for b in range(m):
        if rules.locked[work.active[b]]:
            add_product(rules.W[work.active[b]], work.r[b], work.psi[b], f)
        else:
            add_rule_output(work.psi[b], work.u[b], rules.G[work.active[b]], gamma, work.v, f)
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
    m: int, y: FloatArray, share: float, weight: float, rules: RuleArrays, gamma: FloatArray, work: Workspace
) -> None:
    """Update H, G and P by a row with missing or uncertain labels y; unanswered labels keep their weights."""
    f = work.own
    for b in range(m + 1):  # all predictions before any update: those of the rules depend on W_0
        slot = work.active[b]
        f[b] = 0.0
        work.v[:] = 0.0
        add_rule_output(1.0, work.u[b], rules.G[slot], gamma, work.v, f[b])
        if slot > 0:
            add_global_output(work.v, rules.P[0], rules.pending_P[0], rules.n_pending[0], rules.G[0], work.t, f[b])
    for b in range(m + 1):
        slot, w = work.active[b], weight * work.psi[b]
        if rules.locked[slot]:
            continue
        q = dot(work.r[b], work.u[b])
        add_partial_labels(rules.G[slot], work.r[b], f[b], y, work.confidence, work.expected, q, w, w * share)
        update_inverse(slot, b, w * share, rules, work)


@inlined
def learn_sums(
    m: int, y: FloatArray, share: float, weight: float, rules: RuleArrays, gamma: FloatArray, work: Workspace
) -> None:
    """Update H, G and P of the m active rules and of the global model by labels y of the mean confidence `share`."""
    if share == 1.0:
        learn_complete(m, y, weight, rules, work)
    else:
        learn_partial(m, y, share, weight, rules, gamma, work)


@inner
def any_due(m: int, active: IntArray, age: IntArray, upkeep_every: int) -> bool:
    """Return whether the age of one of the m + 1 slots in `active` has reached `upkeep_every`."""
    due = False
    for b in range(m + 1):
        due = due or age[active[b]] >= upkeep_every
    return due


@inlined
def add_global_model(m: int, z: FloatArray, rules: RuleArrays, work: Workspace) -> None:
    """Add the global model to `work`, behind the m active rules: every sample belongs to it with membership 1."""
    work.active[m] = 0
    work.psi[m] = 1.0
    fill_regressor(z, rules.c[0], work.r[m])
    pending_product(rules.P[0], rules.pending_P[0], rules.n_pending[0], work.r[m], work.u[m])


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
) -> int:
    """Update statistics of the m active rules and of the global model; return DONE or DUE.

    `share` is the mean confidence over the labels y of the row z, 1 if all are known.
    """
    add_global_model(m, z, rules, work)
    learn_sums(m, y, share, weight, rules, settings.penalty[1], work)
    return DUE if any_due(m, work.active, rules.age, settings.upkeep_every) else DONE
