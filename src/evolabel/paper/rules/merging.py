"""Which rules are merged, and their weights afterwards (eq. 29).

Two rules are merged if their ellipsoids touch, their shapes are similar, the merged rule is not much wider than
the wider of both, and their consequents agree. Volumes are compared per dimension, because the ratio of two volumes
grows without bound with the number of dimensions.
"""

import numpy as np
from scipy.linalg import cho_solve, cholesky

from evolabel.engine.symmetric import one_blas_thread
from evolabel.paper.rules.loops.rotated import degrees, substitute
from evolabel.paper.rules.rule_state import PaperRuleState
from evolabel.stages.rules.slots import stronger_first
from evolabel.typing import FloatArray

ALIKE = 0.95  # Bhattacharyya coefficient per dimension
CONFLICT = 0.5  # labels whose outputs differ by more disagree ...
MOST_CONFLICTS = 0.2  # ... and more than this share of them forbids the merge
CONTACT = 2.0  # radius of a rule's ellipsoid in root mean squared standard deviations


def partner_of(slot: int, base: PaperRuleState) -> int:
    """Return the slot of the rule to merge that in `slot` with: the most similar one that passes all tests, or 0."""
    best, partner = 0.0, 0
    for other in range(1, base.n_rules + 1):
        if other != slot and not base.arrays.locked[other] and touches(slot, other, base):
            likeness = similarity(slot, other, base)
            if likeness > max(best, ALIKE) and not is_too_wide(slot, other, base) and agrees(slot, other, base):
                best, partner = likeness, other
    return partner


def log_determinant(slot: int, base: PaperRuleState) -> float:
    """Return the logarithm of the determinant of the covariance of the rule in `slot`."""
    p, arrays = base.n_features, base.arrays
    if not base.paper.rotated:
        return float(np.log(base.variances()[slot - 1]).sum())
    diagonal = np.diag(base.own.F[slot])[:p]
    return float(2.0 * np.log(diagonal).sum() - p * np.log(degrees(arrays.k[slot], base.settings.prior_count)))


def touches(a: int, b: int, base: PaperRuleState) -> bool:
    """Return whether rules `a` and `b` touch on the line of their centres: r / m_a + r / m_b >= 1.

    r is `CONTACT`, and m_a the distance of the centres in standard deviations of `a`.
    """
    apart = base.arrays.c[b, : base.n_features] - base.arrays.c[a, : base.n_features]
    return sum(CONTACT / max(root_distance(slot, apart, base), 1e-12) for slot in (a, b)) >= 1.0


def root_distance(slot: int, apart: FloatArray, base: PaperRuleState) -> float:
    """Return the root mean squared Mahalanobis length of the difference `apart` by the rule in `slot`."""
    p, arrays = base.n_features, base.arrays
    if not base.paper.rotated:
        return float(np.sqrt((apart**2 * arrays.inv[slot, :p]).mean()))
    stretched = np.sqrt(base.settings.importance[:p]) * apart
    squares = substitute(base.own.F[slot], stretched, 0, p, 0.0, np.inf, np.empty(p))
    return float(np.sqrt(degrees(arrays.k[slot], base.settings.prior_count) * squares / p))


def similarity(a: int, b: int, base: PaperRuleState) -> float:
    """Return exp(-D_B / p) of rules `a` and `b`, with the Bhattacharyya distance D_B: covariances are averaged."""
    p = base.n_features
    first, second = base.shape(a).covariance, base.shape(b).covariance
    middle = cholesky((first + second) / 2.0, lower=True)
    apart = base.arrays.c[b, :p] - base.arrays.c[a, :p]
    gap = apart @ cho_solve((middle, True), apart) / 8.0
    logs = 2.0 * np.log(np.diag(middle)).sum() - (log_determinant(a, base) + log_determinant(b, base)) / 2.0
    return float(np.exp(-(gap + logs / 2.0) / p))


def is_too_wide(a: int, b: int, base: PaperRuleState) -> bool:
    """Return whether the merged rule would be wider on the line of centres than the wider rule by more than half."""
    p, k = base.n_features, base.arrays.k
    first, second = base.shape(a).covariance, base.shape(b).covariance
    apart = base.arrays.c[b, :p] - base.arrays.c[a, :p]
    length = float(np.linalg.norm(apart))
    if length == 0.0:
        return False
    u = apart / length
    total = k[a] + k[b]
    along = (k[a] * (u @ first @ u) + k[b] * (u @ second @ u)) / total + k[a] * k[b] / total**2 * length**2
    return bool(along > 1.5**2 * max(u @ first @ u, u @ second @ u))


def disagreement(a: int, b: int, base: PaperRuleState) -> FloatArray:
    """Return the difference of the outputs of rules `a` and `b` per label, at their common centre and around it.

    Deviation: the paper compares slopes by the dihedral angle, which ignores intercepts: a rule with output 0
    everywhere and one with output 1 everywhere would agree.
    """
    arrays, p = base.arrays, base.n_features
    k = arrays.k[[a, b]]
    centre = (k[0] * arrays.c[a, :p] + k[1] * arrays.c[b, :p]) / k.sum()
    spread = np.sqrt(k @ base.variances()[[a - 1, b - 1]] / k.sum())
    gap = (base.weights(a) - base.weights(b)).T
    return np.asarray(np.abs(gap @ np.append(centre, 1.0)) + np.linalg.norm(gap[:, :-1] * spread, axis=1))


def agrees(a: int, b: int, base: PaperRuleState) -> bool:
    """Return whether few enough labels of rules `a` and `b` disagree."""
    return bool((disagreement(a, b, base) > CONFLICT).mean() <= MOST_CONFLICTS)


def angle_similarity(a: int, b: int, base: PaperRuleState) -> FloatArray:
    """Return the similarity of the consequents of `a` and `b` per label, by the dihedral angle phi of their planes.

    Deviation: max(0, 1 - 2 phi / pi); by the published second branch opposite planes would be similar.
    """
    first, second = base.weights(a).T[:, :-1], base.weights(b).T[:, :-1]
    inner = (first * second).sum(axis=1) + 1.0  # the normals end in -1
    lengths = np.sqrt(((first**2).sum(axis=1) + 1.0) * ((second**2).sum(axis=1) + 1.0))
    return np.asarray(np.maximum(0.0, 1.0 - 2.0 / np.pi * np.arccos(np.clip(inner / lengths, -1.0, 1.0))))


def consistency(a: int, b: int, base: PaperRuleState) -> FloatArray:
    """Return rho of eq. (29) per label, in [0, 1]: by disagreement of outputs, or by angle and antecedents."""
    if base.paper.by_angle:
        ante, cons = similarity(a, b, base), angle_similarity(a, b, base)
        short = np.maximum(ante / np.maximum(cons, 1e-12) - 1.0, 0.0)  # only consequents less alike count against
        return np.asarray(np.exp(-((short * ante) ** 2)))
    return np.maximum(0.0, 1.0 - disagreement(a, b, base))


@one_blas_thread()
def merged_weights(first: int, second: int, base: PaperRuleState) -> FloatArray:
    """Return W_a + a_m rho (W_b - W_a), eq. (29), of the rules in slots `first` and `second`.

    a is the rule of larger support, a_m = k_b / (k_a + k_b). Labels for which the rules contradict each other keep W_a.
    """
    k = base.arrays.k
    a, b = stronger_first(first, second, k)
    share = k[b] / (k[a] + k[b])
    rho = consistency(a, b, base)[:, None]
    W = base.arrays.W
    return np.asarray(W[a] + share * rho * (W[b] - W[a]))
