"""The two loops over rows: answering, and learning one sample after the other.

| symbol | array     | meaning                                                                 |
|--------|-----------|-------------------------------------------------------------------------|
| z      | (p,)      | scaled sample, NaN where a feature is missing                           |
| r      | (m+1, q)  | regressors (z, 1) of the m active rules, then of the global model       |
| u      | (m+1, q)  | P r of the same slots, before the sample is learned                     |
| psi    | (m,)      | normalised memberships of the active rules, eq. (2)                     |
| f      | (K,)      | output, eq. (2)                                                         |

The weights W_i = (H_i + gamma D)^-1 (G_i + gamma D W_0) are never formed: with u = P_i r the rule's output is
G_i u + gamma W_0'(D u), and W_0'v = G_0 (P_0 v). Exact at every moment, also while W_0 moves.
"""

import numpy as np

from evolabel.kernels._compile import cold_kernel, hot_kernel, kernel
from evolabel.kernels.memberships import distances, memberships, nearest
from evolabel.kernels.moments import absorb
from evolabel.kernels.state import (
    DONE,
    DUE,
    NOVEL,
    RULES,
    SEEN,
    STARVED,
    FloatArray,
    IntArray,
    RuleArrays,
    Settings,
    Workspace,
)
from evolabel.kernels.statistics import add_labels, add_partial_labels, learn_regressor
from evolabel.kernels.structure import any_starved, is_novel, note_winner_distance
from evolabel.kernels.symmetric import add_product, dot, pending_product


@kernel
def fill_regressor(z: FloatArray, centre: FloatArray, r: FloatArray) -> None:
    """The regressor (z, 1); a missing feature takes the rule's mean, its best guess under a diagonal Gaussian."""
    p = z.shape[0]
    for j in range(p):
        r[j] = centre[j] if np.isnan(z[j]) else z[j]
    r[p] = 1.0


@hot_kernel
def weigh(
    z: FloatArray, rules: RuleArrays, settings: Settings, D: FloatArray, psi: FloatArray, active: IntArray
) -> int:
    """Distances to all rules, and the memberships of the active ones; returns how many these are."""
    C = rules.tally[RULES]
    distances(z, C, rules.c, rules.inv, D)
    return memberships(D, C, settings.tau, settings.min_activation, psi, active)


@hot_kernel
def solve(z: FloatArray, slot: int, rules: RuleArrays, r: FloatArray, u: FloatArray) -> None:
    """The regressor r of a slot and u = P r, waiting rows included."""
    fill_regressor(z, rules.c[slot], r)
    pending_product(rules.P[slot], rules.late_P[slot], rules.late[slot], r, u)


@kernel
def add_rule_output(psi: float, u: FloatArray, G: FloatArray, gamma: FloatArray, v: FloatArray, f: FloatArray) -> None:
    """Add a rule's own part psi G u to f, and to v what the rule asks of the global model: psi gamma D u."""
    for j in range(u.shape[0]):
        v[j] += psi * gamma[j] * u[j]
    add_product(G, u, psi, f)


@kernel
def add_global_output(
    v: FloatArray, P: FloatArray, late_P: FloatArray, late: int, G: FloatArray, t: FloatArray, f: FloatArray
) -> None:
    """Add W_0'v to f, with W_0 = P_0 G_0'. One product serves all rules."""
    pending_product(P, late_P, late, v, t)
    add_product(G, t, 1.0, f)


@kernel
def output_rows(Z: FloatArray, rules: RuleArrays, settings: Settings) -> FloatArray:
    """Continuous outputs of all rows, eq. (2). Reads the state, never writes it."""
    rows, K = Z.shape[0], rules.G.shape[1]
    C, q = rules.tally[RULES], rules.c.shape[1] + 1
    D, psi, active = np.empty(C + 1), np.empty(C + 1), np.empty(C + 1, np.int64)
    r, u, v, t = np.empty(q), np.empty(q), np.empty(q), np.empty(q)
    out = np.zeros((rows, K))
    for i in range(rows):
        m = weigh(Z[i], rules, settings, D, psi, active)
        v[:] = 0.0
        for b in range(m):
            solve(Z[i], active[b], rules, r, u)
            add_rule_output(psi[b], u, rules.G[active[b]], settings.penalty[1], v, out[i])
        add_global_output(v, rules.P[0], rules.late_P[0], rules.late[0], rules.G[0], t, out[i])
    return out


@kernel
def membership_rows(Z: FloatArray, rules: RuleArrays, settings: Settings) -> tuple[FloatArray, FloatArray]:
    """Normalised memberships (rows, C), zero for idle rules, and the distances to every rule."""
    rows, C = Z.shape[0], rules.tally[RULES]
    D, psi, active = np.empty(C + 1), np.empty(C + 1), np.empty(C + 1, np.int64)
    out, far = np.zeros((rows, C)), np.empty((rows, C))
    for i in range(rows):
        distances(Z[i], C, rules.c, rules.inv, D)
        far[i] = D[1:]
        m = memberships(D, C, settings.tau, settings.min_activation, psi, active)
        for b in range(m):
            out[i, active[b] - 1] = psi[b]
    return out, far


@kernel
def confidence_of_row(y: FloatArray, given: FloatArray, confidence: FloatArray) -> float:
    """Per label: 0 if not annotated, else the confidence given (1 if none is). Returns the mean over labels."""
    total = 0.0
    for b in range(y.shape[0]):
        confidence[b] = 0.0 if np.isnan(y[b]) else (given[b] if given.shape[0] > 0 else 1.0)
        total += confidence[b]
    return float(total / y.shape[0])


@hot_kernel
def answer(m: int, rules: RuleArrays, settings: Settings, work: Workspace, f: FloatArray) -> None:
    """Eq. (2) from u of the active rules."""
    f[:] = 0.0
    work.v[:] = 0.0
    for b in range(m):
        add_rule_output(work.psi[b], work.u[b], rules.G[work.active[b]], settings.penalty[1], work.v, f)
    add_global_output(work.v, rules.P[0], rules.late_P[0], rules.late[0], rules.G[0], work.t, f)


@hot_kernel
def learn_complete(m: int, y: FloatArray, weight: float, rules: RuleArrays, work: Workspace) -> None:
    """Every label is known: H, G and P of each active rule and of the global model (Algorithm 2, alpha = beta = 0)."""
    for b in range(m + 1):
        slot, w = work.active[b], weight * work.psi[b]
        add_labels(rules.G[slot], work.r[b], y, w)
        learn_regressor(slot, work.r[b], work.u[b], w, rules)


@cold_kernel
def learn_partial(
    m: int, y: FloatArray, share: float, weight: float, rules: RuleArrays, settings: Settings, work: Workspace
) -> None:
    """Some labels are missing or unsure: unanswered labels keep their weights, H grows by the share answered."""
    f = np.zeros((m + 1, y.shape[0]))
    for b in range(m + 1):  # all predictions before any update: the rules lean on W_0
        slot = work.active[b]
        work.v[:] = 0.0
        add_rule_output(1.0, work.u[b], rules.G[slot], settings.penalty[1], work.v, f[b])
        if slot > 0:
            add_global_output(work.v, rules.P[0], rules.late_P[0], rules.late[0], rules.G[0], work.t, f[b])
    for b in range(m + 1):
        slot, w = work.active[b], weight * work.psi[b]
        q = dot(work.r[b], work.u[b])
        add_partial_labels(rules.G[slot], work.r[b], f[b], y, work.confidence, q, w, w * share)
        learn_regressor(slot, work.r[b], work.u[b], w * share, rules)


@kernel
def any_due(m: int, active: IntArray, age: IntArray, upkeep_every: int) -> bool:
    """Has one of the slots that have just learned reached the age for upkeep?"""
    due = False
    for b in range(m + 1):
        due = due or age[active[b]] >= upkeep_every
    return due


@hot_kernel
def follow(z: FloatArray, weight: float, D: FloatArray, rules: RuleArrays, settings: Settings) -> None:
    """A sample that is not novel moves the rule it is nearest to, and the whole stream's moments."""
    w = nearest(D, rules.tally[RULES])
    note_winner_distance(D[w], rules.strange)
    absorb(w, z, weight, rules, settings)
    absorb(0, z, weight, rules, settings)


@hot_kernel
def starts_a_rule(D: FloatArray, rules: RuleArrays, settings: Settings) -> bool:
    """The first sample, and every novel one."""
    C = rules.tally[RULES]
    w = nearest(D, C)
    return C == 0 or is_novel(D[w], rules.k[w], C, rules.strange, settings)


@kernel
def learn_rows(
    Z: FloatArray,
    Y: FloatArray,
    weights: FloatArray,
    confidences: FloatArray,
    rules: RuleArrays,
    settings: Settings,
    work: Workspace,
    structure: bool,
    consequents: bool,
    born: bool,
    out: FloatArray,
) -> tuple[int, int]:
    """Learn row after row in place, answering each first if `out` has rows; returns the rows done and why it stopped.

    `weights` and `confidences` may be empty. `structure` and `consequents` say what is learned. A row without any
    answered label, or of weight 0, only counts as seen (rows count once: when the structure is learned).

    A row that starts a rule is answered and then handed back (NOVEL) before it has changed anything; the caller lets
    the rule be born and calls again from that row with `born`. Starved rules and slots due for upkeep are reported
    after their row (STARVED, DUE).
    """
    given = work.confidence[:0]
    for i in range(Z.shape[0]):
        fresh = born and i == 0
        weight = weights[i] if weights.shape[0] > 0 else 1.0
        if confidences.shape[0] > 0:
            given = confidences[i]
        share = confidence_of_row(Y[i], given, work.confidence)
        m = weigh(Z[i], rules, settings, work.D, work.psi, work.active)
        if consequents or out.shape[0] > 0:
            for b in range(m):
                solve(Z[i], work.active[b], rules, work.r[b], work.u[b])
        if out.shape[0] > 0 and not fresh:
            answer(m, rules, settings, work, out[i])
        taught = weight > 0.0 and share > 0.0
        if structure and not fresh:
            if taught and starts_a_rule(work.D, rules, settings):
                return i, NOVEL
            rules.tally[SEEN] += 1
            if taught:
                follow(Z[i], weight, work.D, rules, settings)
        if consequents and taught:
            work.active[m] = 0  # the global model learns beside the rules: a slot every sample belongs to fully
            work.psi[m] = 1.0
            solve(Z[i], work.active[m], rules, work.r[m], work.u[m])
            if share == 1.0:
                learn_complete(m, Y[i], weight, rules, work)
            else:
                learn_partial(m, Y[i], share, weight, rules, settings, work)
            if any_due(m, work.active, rules.age, settings.upkeep_every):
                return i + 1, DUE
        if structure and any_starved(rules, settings):
            return i + 1, STARVED
    return Z.shape[0], DONE
