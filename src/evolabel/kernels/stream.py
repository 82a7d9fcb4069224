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
from evolabel.kernels.state import DONE, DUE, NOVEL, RULES, SEEN, STARVED, FloatArray, IntArray, RuleArrays, Settings
from evolabel.kernels.statistics import add_labels, add_partial_labels, learn_regressor
from evolabel.kernels.structure import any_starved, is_novel, note_winner_distance
from evolabel.kernels.symmetric import add_product, dot, pending_product


@kernel
def fill_regressor(z: FloatArray, centre: FloatArray, r: FloatArray) -> None:
    """R = (z, 1); a missing feature takes the rule's mean, which is its best guess under a diagonal Gaussian."""
    p = z.shape[0]
    for j in range(p):
        r[j] = centre[j] if np.isnan(z[j]) else z[j]
    r[p] = 1.0


@hot_kernel
def activate(
    z: FloatArray,
    rules: RuleArrays,
    settings: Settings,
    D: FloatArray,
    psi: FloatArray,
    active: IntArray,
    r: FloatArray,
    u: FloatArray,
) -> int:
    """Find the active rules and compute r and u = P r for them; returns how many there are."""
    C = rules.tally[RULES]
    distances(z, C, rules.c, rules.inv, D)
    m = memberships(D, C, settings.tau, settings.min_activation, psi, active)
    for b in range(m):
        a = active[b]
        fill_regressor(z, rules.c[a], r[b])
        pending_product(rules.P[a], rules.late_P[a], rules.late[a], r[b], u[b])
    return m


@hot_kernel
def activate_global(
    z: FloatArray, m: int, rules: RuleArrays, psi: FloatArray, active: IntArray, r: FloatArray, u: FloatArray
) -> None:
    """The global model learns beside the m active rules: one more slot, which every sample belongs to fully."""
    active[m] = 0
    psi[m] = 1.0
    fill_regressor(z, rules.c[0], r[m])
    pending_product(rules.P[0], rules.late_P[0], rules.late[0], r[m], u[m])


@kernel
def global_part(
    v: FloatArray, P: FloatArray, late_P: FloatArray, late: int, G: FloatArray, t: FloatArray, f: FloatArray
) -> None:
    """Add W_0'v to f, with W_0 = P_0 G_0'."""
    pending_product(P, late_P, late, v, t)
    add_product(G, t, 1.0, f)


@hot_kernel
def mixed_output(
    m: int,
    psi: FloatArray,
    active: IntArray,
    u: FloatArray,
    rules: RuleArrays,
    settings: Settings,
    v: FloatArray,
    t: FloatArray,
    f: FloatArray,
) -> None:
    """Eq. (2): the memberships' mean of the active rules' outputs. One product with W_0 serves all rules."""
    f[:] = 0.0
    v[:] = 0.0
    gamma = settings.penalty[1]
    for b in range(m):
        for j in range(v.shape[0]):
            v[j] += psi[b] * gamma[j] * u[b, j]
        add_product(rules.G[active[b]], u[b], psi[b], f)
    global_part(v, rules.P[0], rules.late_P[0], rules.late[0], rules.G[0], t, f)


@kernel
def output_rows(Z: FloatArray, rules: RuleArrays, settings: Settings) -> FloatArray:
    """Continuous outputs of all rows, eq. (2). Reads the state, never writes it."""
    rows, K = Z.shape[0], rules.G.shape[1]
    C, q = rules.tally[RULES], rules.c.shape[1] + 1
    D, psi, active = np.empty(C + 1), np.empty(C + 1), np.empty(C + 1, np.int64)
    r, u = np.empty((C + 1, q)), np.empty((C + 1, q))
    v, t = np.empty(q), np.empty(q)
    out = np.empty((rows, K))
    for i in range(rows):
        m = activate(Z[i], rules, settings, D, psi, active, r, u)
        mixed_output(m, psi, active, u, rules, settings, v, t, out[i])
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
def learn_complete(
    m: int,
    psi: FloatArray,
    active: IntArray,
    r: FloatArray,
    u: FloatArray,
    y: FloatArray,
    weight: float,
    rules: RuleArrays,
) -> None:
    """Every label is known: H, G and P of the global model and of each active rule (Algorithm 2, alpha = beta = 0)."""
    for b in range(m + 1):
        w = weight * psi[b]
        add_labels(rules.G[active[b]], r[b], y, w)
        learn_regressor(active[b], r[b], u[b], w, rules)


@cold_kernel
def learn_partial(
    m: int,
    psi: FloatArray,
    active: IntArray,
    r: FloatArray,
    u: FloatArray,
    y: FloatArray,
    confidence: FloatArray,
    share: float,
    weight: float,
    rules: RuleArrays,
    settings: Settings,
) -> None:
    """Some labels are missing or unsure: unanswered labels keep their weights, H grows by the share answered."""
    K, q = y.shape[0], r.shape[1]
    f, v, t = np.empty((m + 1, K)), np.empty(q), np.empty(q)
    gamma = settings.penalty[1]
    for b in range(m + 1):  # all predictions before any update: the rules lean on W_0
        f[b] = 0.0
        add_product(rules.G[active[b]], u[b], 1.0, f[b])
        if active[b] > 0:
            for j in range(q):
                v[j] = gamma[j] * u[b, j]
            global_part(v, rules.P[0], rules.late_P[0], rules.late[0], rules.G[0], t, f[b])
    for b in range(m + 1):
        w = weight * psi[b]
        add_partial_labels(rules.G[active[b]], r[b], f[b], y, confidence, dot(r[b], u[b]), w, w * share)
        learn_regressor(active[b], r[b], u[b], w * share, rules)


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
    rows, q, K = Z.shape[0], Z.shape[1] + 1, Y.shape[1]
    R = rules.c.shape[0]
    D, psi, active = np.empty(R), np.empty(R), np.empty(R, np.int64)
    r, u = np.empty((R, q)), np.empty((R, q))
    v, t = np.empty(q), np.empty(q)
    confidence = np.empty(K)
    given = np.empty(0)
    for i in range(rows):
        fresh = born and i == 0
        weight = weights[i] if weights.shape[0] > 0 else 1.0
        if confidences.shape[0] > 0:
            given = confidences[i]
        share = confidence_of_row(Y[i], given, confidence)
        m = 0
        if consequents:
            m = activate(Z[i], rules, settings, D, psi, active, r, u)
        else:
            distances(Z[i], rules.tally[RULES], rules.c, rules.inv, D)
        if out.shape[0] > 0 and not fresh:
            mixed_output(m, psi, active, u, rules, settings, v, t, out[i])
        taught = weight > 0.0 and share > 0.0
        if structure and taught and not fresh and starts_a_rule(D, rules, settings):
            return i, NOVEL
        if structure and not fresh:
            rules.tally[SEEN] += 1
        if not taught:
            continue
        if structure and not fresh:
            follow(Z[i], weight, D, rules, settings)
        if consequents:
            activate_global(Z[i], m, rules, psi, active, r, u)
            if share == 1.0:
                learn_complete(m, psi, active, r, u, Y[i], weight, rules)
            else:
                learn_partial(m, psi, active, r, u, Y[i], confidence, share, weight, rules, settings)
            if any_due(m, active, rules.age, settings.upkeep_every):
                return i + 1, DUE
        if structure and any_starved(rules, settings):
            return i + 1, STARVED
    return rows, DONE
