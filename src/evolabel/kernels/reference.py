"""The naive twin of every kernel: slow, obvious, written straight from the mathematics.

Nothing here is shared with the kernels but the names. Matrices are full, nothing waits in blocks, no inverse is carried
along: W_0 = (H_0 + lambda D)^-1 G_0 and W_i = (H_i + gamma D)^-1 (G_i + gamma D W_0) are solved for at every answer.
A kernel that writes into an array has a twin that returns it; where a kernel takes a slot of the arrays, its twin
takes a `Slot`. G is (q, K) here, as in the paper. Tests hold the kernels against these functions.
"""

from dataclasses import dataclass, field
from itertools import combinations

import numpy as np
from scipy.special import softmax

from evolabel.kernels.state import FloatArray, Settings
from evolabel.kernels.structure import STRANGE_AFTER, STRANGE_WINDOW


@dataclass
class Slot:
    """A rule, or the whole stream: its moments, its statistics and its dates."""

    c: FloatArray
    M: FloatArray
    n: FloatArray
    k: float
    H: FloatArray
    G: FloatArray
    age: int = 0
    fresh: float = 0.0
    identity: int = 0
    born: int = 0
    won: int = 0


def empty_slot(p: int, K: int) -> Slot:
    """A slot without samples."""
    return Slot(np.zeros(p), np.zeros(p), np.zeros(p), 0.0, np.zeros((p + 1, p + 1)), np.zeros((p + 1, K)))


@dataclass
class NaiveRules:
    """A rule base: the whole stream, the rules, and what has happened (sample, kind, rule, other)."""

    settings: Settings
    whole: Slot
    rules: list[Slot] = field(default_factory=list)
    seen: int = 0
    next_identity: int = 0
    strange: FloatArray = field(default_factory=lambda: np.zeros(3))
    events: list[tuple[int, str, int, int | None]] = field(default_factory=list)
    mobility: float = 1.0

    def remove(self, rule: Slot) -> None:
        """Take a rule out; the last rule takes its place."""
        place = next(i for i, other in enumerate(self.rules) if other is rule)
        self.rules[place] = self.rules[-1]
        self.rules.pop()

    def penalty(self, slot: Slot) -> FloatArray:
        """Lambda D or gamma D."""
        return np.asarray(self.settings.penalty[0 if slot is self.whole else 1])


# symmetric


def mirrored(lower: FloatArray) -> FloatArray:
    """The symmetric matrix whose lower triangle is given."""
    return np.asarray(np.tril(lower) + np.tril(lower, -1).T)


def dot(a: FloatArray, b: FloatArray) -> float:
    """Inner product."""
    return float(np.sum(a * b))


def add_product(A: FloatArray, u: FloatArray, scale: float, f: FloatArray) -> FloatArray:
    """Add scale * A u to f."""
    return np.asarray(f + scale * A @ u)


def symmetric_product(P: FloatArray, r: FloatArray) -> FloatArray:
    """Compute P r; the lower triangle of P is given."""
    return np.asarray(mirrored(P) @ r)


def pending_product(P: FloatArray, waiting: FloatArray, b: int, r: FloatArray) -> FloatArray:
    """(P - sum of w w') r over the first b waiting rows."""
    return np.asarray((mirrored(P) - waiting[:b].T @ waiting[:b]) @ r)


def add_outer_products(A: FloatArray, w: FloatArray, b: int, sign: float) -> FloatArray:
    """A + sign * sum of w w' over the first b rows on the lower triangle; the upper one stays as it is."""
    return np.asarray(np.tril(A + sign * w[:b].T @ w[:b]) + np.triu(A, 1))


# checks


def first_bad_sample(X: FloatArray) -> tuple[int, int]:
    """(row, column) of the first value beyond 1e100; (row, -1) for the first row of NaN only; (-1, -1) if neither."""
    bad = (np.abs(X) > 1e100).any(axis=1) | np.isnan(X).all(axis=1)
    if not bad.any():
        return -1, -1
    i = int(np.argmax(bad))
    huge = np.abs(X[i]) > 1e100
    return i, int(np.argmax(huge)) if huge.any() else -1


def first_bad_label(Y: FloatArray) -> tuple[int, int]:
    """(row, column) of the first label that is neither 0 nor 1 nor NaN, (-1, -1) if there is none."""
    bad = np.argwhere(~(np.isin(Y, (0.0, 1.0)) | np.isnan(Y)))
    return (int(bad[0, 0]), int(bad[0, 1])) if len(bad) else (-1, -1)


# scaling


def scale_rows(
    X: FloatArray, x: FloatArray, z: FloatArray, used: FloatArray, slope: FloatArray, low: float, high: float
) -> FloatArray:
    """Interpolate between the knots, go on straight beyond them, cut to [low, high]; NaN stays NaN."""
    Z = np.zeros(X.shape)
    for j, m in enumerate(used):
        if m > 0:
            inside = np.interp(X[:, j], x[j, :m], z[j, :m])
            beyond = np.maximum(X[:, j] - x[j, m - 1], 0.0) - np.maximum(x[j, 0] - X[:, j], 0.0)
            Z[:, j] = np.clip(inside + slope[j] * beyond, low, high)
    return np.where(np.isnan(X), np.nan, Z)


# memberships


def observed_features(z: FloatArray) -> int:
    """How many features are not NaN."""
    return int(np.sum(~np.isnan(z)))


def observed_weight(z: FloatArray, lam: FloatArray) -> float:
    """Sum of the weights of the features that are not NaN."""
    return float(np.sum(lam[: len(z)][~np.isnan(z)]))


def distances(z: FloatArray, c: FloatArray, inv: FloatArray, lam: FloatArray) -> FloatArray:
    """Mean squared standardised distance over the observed features, weighted by lam (inv has it), per row of c."""
    shown = ~np.isnan(z)
    return np.asarray(np.average((z - c)[:, shown] ** 2 * inv[:, shown] / lam[shown], axis=1, weights=lam[shown]))


def nearest(D: FloatArray) -> int:
    """Place of the smallest distance."""
    return int(np.argmin(D))


def memberships(D: FloatArray, tau: float, min_activation: float) -> FloatArray:
    """Eqs. (2), (3): the softmax of the log memberships; idle rules get 0 and the others share what they had."""
    psi = softmax(-0.5 * D / tau)
    active = psi >= max(min_activation, 1e-12)
    active[nearest(D)] = True
    return np.asarray(np.where(active, psi, 0.0) / psi[active].sum())


# moments


def inverse_variance(n: float, M: float, nu0: float, S0: float) -> float:
    """One over the variance of n samples of scatter M and a prior worth nu0 samples of variance S0."""
    return float(1.0 / ((nu0 * S0 + M) / (nu0 + max(n - 1.0, 0.0))))


def derive_inverse_variance(slot: Slot, settings: Settings) -> FloatArray:
    """The inverse variances of a slot, feature by feature, times the weights of the features."""
    nu0, each = settings.prior_count, zip(slot.n, slot.M, settings.prior, settings.importance, strict=True)
    return np.array([lam * inverse_variance(n, M, nu0, S0) for n, M, S0, lam in each])


def pool_moments(a: Slot, b: Slot) -> None:
    """Slot a takes in the samples of b: mean of all, and the scatter of both around that mean."""
    n = a.n + b.n
    c = np.where(n > 0.0, (a.n * a.c + b.n * b.c) / np.where(n > 0.0, n, 1.0), a.c)
    a.M = a.M + a.n * (a.c - c) ** 2 + b.M + b.n * (b.c - c) ** 2
    a.c, a.n, a.k = c, n, a.k + b.k


def absorb(slot: Slot, z: FloatArray, weight: float, seen: int) -> None:
    """A sample is a set of samples with no scatter; a missing feature is an empty one."""
    shown = ~np.isnan(z)
    sample = empty_slot(len(z), 0)
    sample.c, sample.n, sample.k = np.where(shown, z, 0.0), np.where(shown, weight, 0.0), weight
    pool_moments(slot, sample)
    slot.won = seen


# statistics


def late_rows(r: FloatArray, u: FloatArray, w: float) -> tuple[FloatArray, FloatArray]:
    """Rows whose outer products H grows by and P shrinks by (Sherman and Morrison), u = P r."""
    return np.sqrt(w) * r, np.sqrt(w / (1.0 + w * r @ u)) * u


def learn_regressor(slot: Slot, r: FloatArray, w: float) -> None:
    """H += w r r'."""
    slot.H = slot.H + w * np.outer(r, r)
    slot.age += 1
    slot.fresh += w


def add_labels(G: FloatArray, r: FloatArray, y: FloatArray, w: float) -> FloatArray:
    """Eq. (24): G + w r y'."""
    return np.asarray(G + w * np.outer(r, y))


def partial_step(
    A: FloatArray, W: FloatArray, r: FloatArray, y: FloatArray, confidence: FloatArray, psi: float
) -> FloatArray:
    """W after a sample: a label of confidence g takes the full step of weight psi g, one of confidence 0 none."""
    P_r = np.linalg.solve(A, r)
    own = psi * confidence
    error = np.where(confidence > 0.0, np.nan_to_num(y) - W.T @ r, 0.0)
    return np.asarray(W + np.outer(P_r, own / (1.0 + own * (r @ P_r)) * error))


def add_partial_labels(
    G: FloatArray,
    A: FloatArray,
    W: FloatArray,
    r: FloatArray,
    y: FloatArray,
    confidence: FloatArray,
    psi: float,
    w: float,
) -> FloatArray:
    """The G for which A + w r r', A being H + penalty, gives just the weights of `partial_step`."""
    after = (A + w * np.outer(r, r)) @ partial_step(A, W, r, y, confidence, psi)
    return np.asarray(G + after - A @ W)


# structure


def note_winner_distance(d: float, strange: FloatArray) -> FloatArray:
    """Count, mean and variance; beyond `STRANGE_WINDOW` distances the old ones fade."""
    count, mean, variance = strange
    share = 1.0 / min(count + 1.0, STRANGE_WINDOW)
    new = (1.0 - share) * mean + share * d
    square = (1.0 - share) * (variance + mean**2) + share * d**2
    return np.array([count + 1.0, new, square - new**2])


def is_novel(d: float, support: float, C: int, strange: FloatArray, settings: Settings) -> bool:
    """With room: outside the winner's radius, which shrinks with its support. Full: only if very strange."""
    if settings.max_rules > C:
        return bool(d > settings.radius * ((support + 1.0) / support) ** 4)
    count, mean, variance = strange
    return bool(settings.max_rules > 1 and count > STRANGE_AFTER and d > mean + settings.novel_z * np.sqrt(variance))


def is_starved(slot: Slot, seen: int, settings: Settings) -> bool:
    """Little support, and no sample won for `prune_after` samples."""
    return seen - slot.won > settings.prune_after and slot.k < settings.min_support


def any_starved(base: NaiveRules) -> bool:
    """Is there a rule to remove?"""
    hungry = [is_starved(rule, base.seen, base.settings) for rule in base.rules]
    return base.settings.prune_after > 0 and len(base.rules) > 1 and any(hungry)


def let_be_born(z: FloatArray, weight: float, base: NaiveRules) -> None:
    """A rule starts at z, near the nearest rule; a full rule base first merges its closest pair."""
    base.seen += 1
    if len(base.rules) == base.settings.max_rules:
        merge_closest(base)
    parent = base.rules[nearest(rule_distances(z, base))] if base.rules else None
    absorb(base.whole, z, weight, base.seen)
    rule = empty_slot(len(z), base.whole.G.shape[1])
    rule.c = (parent or base.whole).c
    absorb(rule, z, weight, base.seen)
    rule.identity, rule.born = base.next_identity, base.seen
    base.next_identity += 1
    base.rules.append(rule)
    base.events.append((base.seen, "birth", rule.identity, parent.identity if parent else None))


def ward(a: Slot, b: Slot, settings: Settings) -> float:
    """How much the fit suffers from uniting two rules: d^2 k_a k_b / (k_a + k_b)."""
    variance = 1.0 / derive_inverse_variance(a, settings) + 1.0 / derive_inverse_variance(b, settings)
    return float(np.sum((a.c - b.c) ** 2 / variance) * a.k * b.k / (a.k + b.k))


def merge_closest(base: NaiveRules) -> None:
    """Unite the closest pair; the better supported rule keeps its identity."""
    a, b = min(combinations(base.rules, 2), key=lambda pair: ward(pair[0], pair[1], base.settings))
    if b.k > a.k:
        a, b = b, a
    pool_moments(a, b)
    a.H, a.G = a.H + b.H, a.G + b.G
    a.age, a.fresh, a.won, a.born = 0, 0.0, max(a.won, b.won), min(a.born, b.born)
    base.remove(b)
    base.events.append((base.seen, "merge", a.identity, b.identity))


def prune(base: NaiveRules) -> None:
    """Starved rules die; one rule always stays."""
    starved = [rule for rule in base.rules[::-1] if is_starved(rule, base.seen, base.settings)]
    for rule in starved[: len(base.rules) - 1] if any_starved(base) else []:
        base.events.append((base.seen, "death", rule.identity, None))
        base.remove(rule)


def any_due(slots: list[Slot], upkeep_every: int) -> bool:
    """Has one of the slots reached the age for upkeep?"""
    return max(slot.age for slot in slots) >= upkeep_every


def upkeep(base: NaiveRules) -> None:
    """Slots whose time has come fade by lambda^(evidence learned since the last time)."""
    for slot in [base.whole, *base.rules]:
        if slot.age >= base.settings.upkeep_every:
            fade = base.settings.forgetting**slot.fresh
            slot.H, slot.G = fade * slot.H, fade * slot.G
            slot.M, slot.n, slot.k = fade * slot.M, fade * slot.n, fade * slot.k
            slot.age, slot.fresh = 0, 0.0


# stream


def fill_regressor(z: FloatArray, centre: FloatArray) -> FloatArray:
    """(z, 1); a missing feature takes the centre's value."""
    return np.append(np.where(np.isnan(z), centre, z), 1.0)


def add_rule_output(
    psi: float, u: FloatArray, G: FloatArray, gamma: FloatArray, v: FloatArray, f: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """V + psi gamma D u and f + psi G u (G as the kernels keep it)."""
    return v + psi * np.diag(gamma) @ u, f + psi * G @ u


def add_global_output(
    v: FloatArray, P: FloatArray, late_P: FloatArray, late: int, G: FloatArray, f: FloatArray
) -> FloatArray:
    """Add W_0'v to f, with W_0 = P_0 G_0' (G as the kernels keep it)."""
    W = (mirrored(P) - late_P[:late].T @ late_P[:late]) @ G.T
    return np.asarray(f + W.T @ v)


def solved_weights(slot: Slot, base: NaiveRules) -> FloatArray:
    """W of a slot, solved for from its statistics and the global model's."""
    ridge = np.diag(base.penalty(slot))
    towards = np.zeros(slot.G.shape) if slot is base.whole else solved_weights(base.whole, base)
    return np.asarray(np.linalg.solve(slot.H + ridge, slot.G + ridge @ towards), np.float64)


def rule_distances(z: FloatArray, base: NaiveRules) -> FloatArray:
    """Distances of z to all rules."""
    inv = np.array([derive_inverse_variance(rule, base.settings) for rule in base.rules])
    return distances(z, np.array([rule.c for rule in base.rules]), inv, base.settings.importance)


def membership_rows(Z: FloatArray, base: NaiveRules) -> tuple[FloatArray, FloatArray]:
    """Normalised memberships (rows, C), zero for idle rules, and the distances to every rule."""
    far = np.array([rule_distances(z, base) for z in Z])
    return np.array([memberships(D, base.settings.tau, base.settings.min_activation) for D in far]), far


def answer(z: FloatArray, base: NaiveRules) -> FloatArray:
    """Eq. (2): sum of psi_i W_i' r_i; nothing known, nothing said."""
    if not base.rules:
        return np.zeros(base.whole.G.shape[1])
    (psi,), _ = membership_rows(z[None], base)
    said = [solved_weights(rule, base).T @ fill_regressor(z, rule.c) for rule in base.rules]
    return np.asarray(psi @ np.array(said))


def output_rows(Z: FloatArray, base: NaiveRules) -> FloatArray:
    """Continuous outputs of all rows."""
    return np.array([answer(z, base) for z in Z])


def confidence_of_row(y: FloatArray, given: FloatArray) -> tuple[FloatArray, float]:
    """Per label: 0 if not annotated, else the confidence given (1 if none is); and the mean over labels."""
    confidence = np.where(np.isnan(y), 0.0, given if len(given) else 1.0)
    return confidence, float(confidence.mean())


def starts_a_rule(z: FloatArray, base: NaiveRules) -> bool:
    """The first sample, and every novel one."""
    if not base.rules:
        return True
    D = rule_distances(z, base)
    winner = nearest(D)
    return is_novel(D[winner], base.rules[winner].k, len(base.rules), base.strange, base.settings)


def follow(z: FloatArray, weight: float, base: NaiveRules) -> None:
    """A sample that is not novel moves the rule it is nearest to, and the whole stream's moments."""
    D = rule_distances(z, base)
    base.strange = note_winner_distance(float(D.min()), base.strange)
    winner = base.rules[nearest(D)]
    winner.won = base.seen
    if base.mobility > 0.0:
        absorb(winner, z, weight * base.mobility, base.seen)
    absorb(base.whole, z, weight, base.seen)


def learn_consequents(
    psi: FloatArray, z: FloatArray, y: FloatArray, confidence: FloatArray, weight: float, base: NaiveRules
) -> None:
    """Active rules learn with psi, the global model fully; all weights are those from before the sample."""
    share = float(confidence.mean())
    learners = [(rule, w) for rule, w in zip(base.rules, psi, strict=True) if w > 0.0] + [(base.whole, 1.0)]
    before = [solved_weights(slot, base) for slot, _ in learners]
    for (slot, membership), W in zip(learners, before, strict=True):
        r, w = fill_regressor(z, slot.c), weight * membership
        if share == 1.0:
            slot.G = add_labels(slot.G, r, y, w)
        else:
            A = slot.H + np.diag(base.penalty(slot))
            slot.G = add_partial_labels(slot.G, A, W, r, y, confidence, w, w * share)
        learn_regressor(slot, r, w * share)


def learn_row(
    z: FloatArray,
    y: FloatArray,
    weight: float,
    given: FloatArray,
    base: NaiveRules,
    structure: bool = True,
    consequents: bool = True,
) -> None:
    """Learn one sample; without weight or answered label it only counts as seen."""
    confidence, share = confidence_of_row(y, given)
    taught = weight > 0.0 and share > 0.0
    birth = structure and taught and starts_a_rule(z, base)
    if birth:
        let_be_born(z, weight, base)
    elif structure:
        base.seen += 1
    if taught:
        (psi,), _ = membership_rows(z[None], base)  # before the sample moves its winner, after a birth
        if structure and not birth:
            follow(z, weight * share, base)
        if consequents:
            learn_consequents(psi, z, y, confidence, weight, base)
    upkeep(base)
    if structure:
        prune(base)


def learn_rows(
    Z: FloatArray,
    Y: FloatArray,
    weights: FloatArray,
    confidences: FloatArray,
    base: NaiveRules,
    structure: bool = True,
    consequents: bool = True,
) -> FloatArray:
    """Learn row after row; returns the answers given before each was learned. `weights`, `confidences` may be empty."""
    out = np.zeros(Y.shape)
    for i, (z, y) in enumerate(zip(Z, Y, strict=True)):
        out[i] = answer(z, base)
        weight = float(weights[i]) if len(weights) else 1.0
        learn_row(z, y, weight, confidences[i] if len(confidences) else np.empty(0), base, structure, consequents)
    return out
