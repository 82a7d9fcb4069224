"""Which rules are merged, and their weights afterwards (eq. 29).

A rule that a sample has moved is merged with the nearest one if their ellipsoids are similar (then they overlap), the
merged rule is not much wider than the wider of both, and their consequents agree. Similarity is that per dimension,
because the overlap of two ellipsoids vanishes with the number of dimensions.
"""

import numpy as np
from scipy.linalg import cho_solve, cholesky, solve_triangular

from evolabel.engine.symmetric import one_blas_thread
from evolabel.paper.rules.loops.rotated import degrees
from evolabel.paper.rules.rule_state import PaperRuleState, weights_by_least_squares
from evolabel.stages.rules.slots import stronger_first, unlocked
from evolabel.typing import FloatArray

ALIKE = 0.95  # Bhattacharyya coefficient per dimension
CONFLICT = 0.5  # labels whose outputs differ by more disagree ...
MOST_CONFLICTS = 0.2  # ... and more than this share of them forbids the merge


@one_blas_thread()
def partner_of(slot: int, base: PaperRuleState) -> int:
    """Return the slot of the rule to merge that in `slot` with: the nearest one, if it passes all tests; else 0."""
    other = nearest_to(slot, base)
    if not other or similarity(slot, other, base) <= ALIKE:
        return 0
    return 0 if is_too_wide(slot, other, base) or not agrees(slot, other, base) else other


def nearest_to(slot: int, base: PaperRuleState) -> int:
    """Return the unlocked slot whose centre is nearest to that of `slot`, by the distance of the latter; 0 if none."""
    p, arrays = base.n_features, base.arrays
    others = unlocked(arrays)
    others = others[others != slot]
    if not len(others):
        return 0
    apart = arrays.c[others, :p] - arrays.c[slot, :p]
    if base.paper.rotated:
        stretched = np.sqrt(base.settings.importance[:p]) * apart
        squares = solve_triangular(base.own.F[slot, :p, :p], stretched.T, lower=True, check_finite=False).T ** 2
    else:
        squares = apart**2 * arrays.inv[slot, :p]
    return int(others[np.argmin(squares.sum(axis=1))])


def log_determinant(slot: int, base: PaperRuleState) -> float:
    """Return the logarithm of the determinant of the covariance of the rule in `slot`."""
    p, arrays = base.n_features, base.arrays
    if not base.paper.rotated:
        return float(np.log(base.variances()[slot - 1]).sum())
    diagonal = np.diag(base.own.F[slot])[:p]
    return float(2.0 * np.log(diagonal).sum() - p * np.log(degrees(arrays.k[slot], base.settings.prior_count)))


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


def disagreement(a: int, b: int, base: PaperRuleState, gap: FloatArray) -> FloatArray:
    """Return how far outputs differ per label at the common centre of rules `a` and `b`, and around it.

    Their consequents differ by `gap`, (K, q). Deviation: the paper compares slopes by the dihedral angle, which ignores
    intercepts: a rule with output 0 everywhere and one with output 1 everywhere would agree.
    """
    arrays, p = base.arrays, base.n_features
    k = arrays.k[[a, b]]
    centre = (k[0] * arrays.c[a, :p] + k[1] * arrays.c[b, :p]) / k.sum()
    spread = np.sqrt(k @ base.variances()[[a - 1, b - 1]] / k.sum())
    return np.asarray(np.abs(gap @ np.append(centre, 1.0)) + np.linalg.norm(gap[:, :-1] * spread, axis=1))


def agrees(a: int, b: int, base: PaperRuleState) -> bool:
    """Return whether few enough labels of rules `a` and `b` disagree by least squares.

    So rules do not depend on alpha, beta and the coupling, which can then be compared on the same rules. In the batch
    phase rules have no consequents yet, so all agree.
    """
    gap = weights_by_least_squares(base, a) - weights_by_least_squares(base, b)
    return bool((disagreement(a, b, base, gap) > CONFLICT).mean() <= MOST_CONFLICTS)


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
    gap = (base.weights(a) - base.weights(b)).T
    return np.maximum(0.0, 1.0 - disagreement(a, b, base, gap))


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
