"""Twins of `stages.rules.loops.learn` and `consequents` beside it: the whole loop, weights solved at every answer."""

import numpy as np

from evolabel.typing import FloatArray
from naive.memberships import memberships, nearest
from naive.moments import update_moments
from naive.paper.rule_distances import fill_regressor
from naive.rule_changes import create_rule, prune, rule_distances, upkeep
from naive.slots import NaiveRules, Slot
from naive.statistics import add_labels, add_partial_labels, learn_regressor
from naive.structure import is_novel, update_winner_stats
from naive.symmetric import mirror


def any_due(slots: list[Slot], upkeep_every: int) -> bool:
    """Has one of the slots reached the age for upkeep?"""
    return max(slot.age for slot in slots) >= upkeep_every


def add_rule_output(
    psi: float, u: FloatArray, G: FloatArray, gamma: FloatArray, v: FloatArray, f: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """V + psi gamma D u and f + psi G u (G as the kernels keep it)."""
    return v + psi * np.diag(gamma) @ u, f + psi * G @ u


def add_global_output(
    v: FloatArray, P: FloatArray, pending_P: FloatArray, n_pending: int, G: FloatArray, f: FloatArray
) -> FloatArray:
    """Add W_0'v to f, with W_0 = P_0 G_0' (G as the kernels keep it)."""
    W = (mirror(P) - pending_P[:n_pending].T @ pending_P[:n_pending]) @ G.T
    return np.asarray(f + W.T @ v)


def solved_weights(slot: Slot, base: NaiveRules) -> FloatArray:
    """W of a slot, solved for from its statistics and the global model's."""
    ridge = np.diag(base.penalty(slot))
    towards = np.zeros(slot.G.shape) if slot is base.whole else solved_weights(base.whole, base)
    return np.asarray(np.linalg.solve(slot.H + ridge, slot.G + ridge @ towards), np.float64)


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
    return is_novel(D[winner], base.rules[winner].k, len(base.rules), base.winner_stats, base.settings)


def update_winner(z: FloatArray, weight: float, base: NaiveRules) -> None:
    """A sample that is not novel moves the rule it is nearest to, and the whole stream's moments."""
    D = rule_distances(z, base)
    base.winner_stats = update_winner_stats(float(D.min()), base.winner_stats)
    winner = base.rules[nearest(D)]
    winner.last_won = base.seen
    if base.antecedent_rate > 0.0:
        update_moments(winner, z, weight * base.antecedent_rate, base.seen, base.settings.most_count)
    update_moments(base.whole, z, weight, base.seen)


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
            slot.G = add_partial_labels(slot.G, A, W, r, y, confidence, w, w * share, np.zeros(len(y)))
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
    labelled = weight > 0.0 and share > 0.0
    birth = structure and labelled and starts_a_rule(z, base)
    if birth:
        create_rule(z, weight, base)
    elif structure:
        base.seen += 1
    if labelled:
        (psi,), _ = membership_rows(z[None], base)  # before the sample moves its winner, after a birth
        if structure and not birth:
            update_winner(z, weight * share, base)
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
