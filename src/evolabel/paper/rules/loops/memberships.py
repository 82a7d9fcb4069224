"""Distances of a sample to rotated rules and in the product space, its memberships, and whether it is novel."""

import numpy as np

from evolabel.engine.compile import inlined, inner, kernel
from evolabel.engine.values import observed_weight
from evolabel.paper.rules.arrays import PaperState
from evolabel.paper.rules.loops.rotated import rotated_distances
from evolabel.stages.rules.arrays import RULES, RuleArrays, Settings, Workspace
from evolabel.stages.rules.loops.antecedents import distances, memberships, novelty_bound
from evolabel.typing import FloatArray

_YOUNG_POWER = 8.0  # of 1 + 1/k in the bound of the squared distance to a winner of support k


@kernel
def join(z: FloatArray, y: FloatArray, label_weight: float, s: FloatArray) -> None:
    """Fill s with the joint vector (z, omega y), omega = `label_weight`; in the input space s is z."""
    p = z.shape[0]
    for j in range(s.shape[0]):
        s[j] = z[j] if j < p else label_weight * y[j - p]


@inner
def add_label_distances(
    s: FloatArray, p: int, C: int, c: FloatArray, inv: FloatArray, lam: FloatArray, D: FloatArray, J: FloatArray
) -> None:
    """Fill J with mean squared distances over the observed features and labels of s; D has those of the features."""
    features = observed_weight(s[:p], lam)
    for a in range(1, C + 1):
        total, seen = D[a] * features, features
        for j in range(p, s.shape[0]):
            if not np.isnan(s[j]):
                e = s[j] - c[a, j]
                total += e * e * inv[a, j]
                seen += lam[j]
        J[a] = total / seen


@inlined
def rule_distances(
    s: FloatArray, p: int, rules: RuleArrays, settings: Settings, work: Workspace, paper: PaperState
) -> None:
    """Fill D of `work` with distances of the first p entries of s to all rules, and J of `paper` with those of all."""
    if paper.settings.rotated:
        rotated_distances(s, p, rules, settings, work, paper)
    else:
        C, lam = rules.counters[RULES], settings.metric[1]
        distances(s[:p], C, rules.c, rules.inv, lam, work.D)
        if s.shape[0] > p:
            add_label_distances(s, p, C, rules.c, rules.inv, lam, work.D, paper.work.J)


@inlined
def paper_memberships(
    s: FloatArray, p: int, rules: RuleArrays, settings: Settings, work: Workspace, paper: PaperState
) -> int:
    """Fill distances and memberships of `work` for s; memberships use its p features only. Return the active rules."""
    rule_distances(s, p, rules, settings, work, paper)
    return memberships(work.D, rules.counters[RULES], settings.tau, settings.min_activation, work.psi, work.active)


@inner
def bound_of_paper(
    support: float, C: int, rules: RuleArrays, radius: float, settings: Settings, by_radius: bool
) -> float:
    """Return the mean squared distance to a winner of this `support` beyond which a sample is novel; inf: never.

    `by_radius`: it is that of eq. (5) in terms of ma^2 / p, also in a full rule base, unless that has one rule at most.
    """
    if not by_radius:
        return novelty_bound(support, C, rules.winner_stats, settings)
    if settings.max_rules > C or C > 1:
        return float(radius * (1.0 + 1.0 / support) ** _YOUNG_POWER)
    return np.inf


@inner
def is_beyond(d: float, winner: int, rules: RuleArrays, settings: Settings, paper: PaperState) -> bool:
    """Return whether a sample at mean squared distance d from the rule `winner` is novel."""
    C = rules.counters[RULES]
    bound = bound_of_paper(rules.k[winner], C, rules, settings.radius, settings, paper.settings.by_radius)
    return bool(d > bound)
