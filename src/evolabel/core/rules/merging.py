"""Which rules are merged, and what becomes of their weights (eq. 29).

Two rules are united if their ellipsoids touch, their shapes are alike, the union is no larger than both, and their
consequents agree. Volumes and determinants are compared per dimension: in high dimensions nothing else means anything.
"""

import numpy as np
from scipy.linalg import cho_solve, cholesky

from evolabel.core.one_thread import one_blas_thread
from evolabel.core.rules.rule_state import RuleState
from evolabel.core.rules.slots import stronger_first
from evolabel.kernels.antecedents import degrees
from evolabel.kernels.paper.rotated import substitute
from evolabel.typing import FloatArray

ALIKE = 0.95  # Bhattacharyya coefficient per dimension
CONFLICT = 0.5  # labels whose outputs differ by more disagree ...
MOST_CONFLICTS = 0.2  # ... and more than this share of them forbids the merge
CONTACT = 2.0  # radius of a rule's ellipsoid in root mean squared standard deviations


def partner_of(slot: int, base: RuleState) -> int:
    """The rule to unite with: the most similar one that passes all tests, 0 if there is none."""
    best, partner = 0.0, 0
    for other in range(1, base.n_rules + 1):
        if other != slot and not base.arrays.locked[other] and touches(slot, other, base):
            likeness = similarity(slot, other, base)
            if likeness > max(best, ALIKE) and not blows_up(slot, other, base) and agrees(slot, other, base):
                best, partner = likeness, other
    return partner


def log_volume(slot: int, base: RuleState) -> float:
    """Logarithm of the determinant of a rule's covariance."""
    p, arrays = base.n_features, base.arrays
    if not base.settings.rotated:
        return float(np.log(base.variances()[slot - 1]).sum())
    diagonal = np.diag(arrays.F[slot])[:p]
    return float(2.0 * np.log(diagonal).sum() - p * np.log(degrees(arrays.k[slot], base.settings.prior_count)))


def touches(a: int, b: int, base: RuleState) -> bool:
    """Contact along the line of centres: r_a / m_a + r_b / m_b >= 1. Never a false alarm."""
    apart = base.arrays.c[b, : base.n_features] - base.arrays.c[a, : base.n_features]
    return sum(CONTACT / max(root_distance(slot, apart, base), 1e-12) for slot in (a, b)) >= 1.0


def root_distance(slot: int, apart: FloatArray, base: RuleState) -> float:
    """Root mean squared Mahalanobis length of a difference of features, as a rule measures and weighs it."""
    p, arrays = base.n_features, base.arrays
    if not base.settings.rotated:
        return float(np.sqrt((apart**2 * arrays.inv[slot, :p]).mean()))
    stretched = np.sqrt(base.settings.importance[:p]) * apart
    squares = substitute(arrays.F[slot], stretched, 0, p, 0.0, np.inf, np.empty(p))
    return float(np.sqrt(degrees(arrays.k[slot], base.settings.prior_count) * squares / p))


def similarity(a: int, b: int, base: RuleState) -> float:
    """exp(-D_B / p), D_B the Bhattacharyya distance: covariances are averaged, not precisions."""
    p = base.n_features
    first, second = base.covariance(a), base.covariance(b)
    middle = cholesky((first + second) / 2.0, lower=True)
    apart = base.arrays.c[b, :p] - base.arrays.c[a, :p]
    gap = apart @ cho_solve((middle, True), apart) / 8.0
    logs = 2.0 * np.log(np.diag(middle)).sum() - (log_volume(a, base) + log_volume(b, base)) / 2.0
    return float(np.exp(-(gap + logs / 2.0) / p))


def blows_up(a: int, b: int, base: RuleState) -> bool:
    """Would the union be wider along the line of centres than the wider of the two by more than half?"""
    p, k = base.n_features, base.arrays.k
    first, second = base.covariance(a), base.covariance(b)
    apart = base.arrays.c[b, :p] - base.arrays.c[a, :p]
    length = float(np.linalg.norm(apart))
    if length == 0.0:
        return False
    u = apart / length
    total = k[a] + k[b]
    along = (k[a] * (u @ first @ u) + k[b] * (u @ second @ u)) / total + k[a] * k[b] / total**2 * length**2
    return bool(along > 1.5**2 * max(u @ first @ u, u @ second @ u))


def disagreement(a: int, b: int, base: RuleState) -> FloatArray:
    """How far the outputs of two rules lie apart per label: at the common centre, plus over one spread around it.

    Deviation: the paper compares slopes by the dihedral angle, which cannot see intercepts: two rules that always say
    0 and always say 1 would be alike.
    """
    arrays, p = base.arrays, base.n_features
    k = arrays.k[[a, b]]
    centre = (k[0] * arrays.c[a, :p] + k[1] * arrays.c[b, :p]) / k.sum()
    spread = np.sqrt(k @ base.variances()[[a - 1, b - 1]] / k.sum())
    gap = (base.weights(a) - base.weights(b)).T
    return np.asarray(np.abs(gap @ np.append(centre, 1.0)) + np.linalg.norm(gap[:, :-1] * spread, axis=1))


def agrees(a: int, b: int, base: RuleState) -> bool:
    """Label-conflict veto: too many labels disagree."""
    return bool((disagreement(a, b, base) > CONFLICT).mean() <= MOST_CONFLICTS)


def angle_similarity(a: int, b: int, base: RuleState) -> FloatArray:
    """Likeness of two consequents by the dihedral angle of their planes, in scaled units, per label.

    Deviation: max(0, 1 - 2 phi / pi); the published second branch calls opposite planes alike.
    """
    first, second = base.weights(a).T[:, :-1], base.weights(b).T[:, :-1]
    inner = (first * second).sum(axis=1) + 1.0  # the normals end in -1
    lengths = np.sqrt(((first**2).sum(axis=1) + 1.0) * ((second**2).sum(axis=1) + 1.0))
    return np.asarray(np.maximum(0.0, 1.0 - 2.0 / np.pi * np.arccos(np.clip(inner / lengths, -1.0, 1.0))))


def consistency(a: int, b: int, base: RuleState) -> FloatArray:
    """Rho of eq. (29) per label, in [0, 1]: by output disagreement, or by angle against the antecedents' likeness."""
    if base.settings.by_angle:
        ante, cons = similarity(a, b, base), angle_similarity(a, b, base)
        short = np.maximum(ante / np.maximum(cons, 1e-12) - 1.0, 0.0)  # only consequents less alike count against
        return np.asarray(np.exp(-((short * ante) ** 2)))
    return np.maximum(0.0, 1.0 - disagreement(a, b, base))


@one_blas_thread()
def merged_weights(first: int, second: int, base: RuleState) -> FloatArray:
    """Eq. (29): W_a + a_m rho (W_b - W_a), a the better supported rule; labels that contradict keep the former."""
    k = base.arrays.k
    a, b = stronger_first(first, second, k)
    share = k[b] / (k[a] + k[b])
    rho = consistency(a, b, base)[:, None]
    W = base.arrays.W
    return np.asarray(W[a] + share * rho * (W[b] - W[a]))
