"""Matrices that rules answer with, derived from what they have learned: P from H, F from the scatter matrix.

P = (H + penalty)^-1 follows the samples by rank-one steps; here it is started, brought up to date and derived anew.
"""

import numpy as np
from scipy.linalg import cholesky

from evolabel.core.one_thread import one_blas_thread
from evolabel.core.rules.proximal import largest_eigenvalue
from evolabel.errors import DataError
from evolabel.kernels.inverse import positive_inverse
from evolabel.kernels.moments import derive_inverse_variance
from evolabel.kernels.state import RuleArrays, Settings
from evolabel.kernels.symmetric import add_outer_products, mirror
from evolabel.typing import FloatArray


def start_inverse(slot: int, rules: RuleArrays, settings: Settings) -> None:
    """P, and the step bound, of a slot whose consequents have learned nothing."""
    penalty = settings.penalty[min(slot, 1)]
    rules.P[slot] = np.diag(1.0 / penalty)
    rules.top[slot] = penalty.max()


def apply_late(slot: int, rules: RuleArrays) -> None:
    """Bring H and P of a slot up to date."""
    b = int(rules.late[slot])
    add_outer_products(rules.H[slot], rules.late_H[slot], b, 1.0)
    add_outer_products(rules.P[slot], rules.late_P[slot], b, -1.0)
    rules.late[slot] = 0


def derive_inverse(slot: int, rules: RuleArrays, settings: Settings) -> None:
    """P = (H + penalty)^-1, from scratch."""
    penalty = settings.penalty[min(slot, 1)]
    rules.H[slot] = mirrored(rules.H[slot])
    rules.P[slot] = ridge_inverse(rules.H[slot], penalty)
    rules.age[slot] = 0
    rules.fresh[slot] = 0.0
    if settings.iterated:
        tighten(slot, rules, settings)
        if slot == 0:
            with one_blas_thread():
                rules.W[0] = rules.G[0] @ mirrored(rules.P[0])


def tighten(slot: int, rules: RuleArrays, settings: Settings) -> None:
    """The step bound becomes exact again: lmax(H + penalty). Iterated consequents keep H as a whole matrix."""
    rules.top[slot] = largest_eigenvalue(rules.H[slot] + np.diag(settings.penalty[min(slot, 1)]))


def ridge_inverse(H: FloatArray, penalty: FloatArray) -> FloatArray:
    """(H + diag(penalty))^-1 from the lower triangle of H."""
    q = len(H)
    A = H + np.diag(penalty)
    L, V, P = np.empty((q, q)), np.empty((q, q)), np.empty((q, q))
    if not positive_inverse(A, L, V, np.empty(q), P):
        raise DataError(
            "H + ridge is not positive definite in float64, because weights or features differ too much in size; "
            "use sample weights of similar size, or a larger ridge"
        )
    mirror(P)
    return P


def mirrored(lower: FloatArray) -> FloatArray:
    """The symmetric matrix whose lower triangle is given."""
    half = np.tril(lower)
    return np.asarray(half + np.tril(half, -1).T)


def upkeep(slot: int, rules: RuleArrays, settings: Settings) -> None:
    """Derive P anew, so that rounding never adds up; fade the past before, if the user wants.

    Leaky forgetting: everything learned fades by lambda^(evidence learned since the last upkeep); the ridge stays
    whole. A rule that rests forgets nothing, and a recurring concept finds it as it was.
    """
    apply_late(slot, rules)
    if settings.forgetting < 1.0:
        fade = settings.forgetting ** rules.fresh[slot]
        for array in (rules.H, rules.G, rules.M, rules.n, rules.k, rules.compared, rules.Q, rules.mass):
            array[slot] *= fade
        derive_inverse_variance(slot, rules, settings)
        if settings.rotated:
            set_scatter(slot, fade * scatter(slot, rules, settings), rules, settings)
    derive_inverse(slot, rules, settings)


@one_blas_thread()
def scatter(slot: int, rules: RuleArrays, settings: Settings) -> FloatArray:
    """The scatter matrix of a rotated rule: F F' without the prior."""
    F = np.tril(rules.F[slot])
    return np.asarray(F @ F.T - np.diag(settings.prior_count * settings.prior))


@one_blas_thread()
def set_scatter(slot: int, matrix: FloatArray, rules: RuleArrays, settings: Settings) -> None:
    """F of a scatter matrix, with the prior."""
    rules.F[slot] = cholesky(matrix + np.diag(settings.prior_count * settings.prior), lower=True)
