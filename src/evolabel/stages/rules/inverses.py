"""P derived from H, and F from the scatter matrix.

P = (H + penalty)^-1 is updated by rank-one steps while rows are learned. Here it is initialised, and derived again, so
that rounding errors do not add up.
"""

import numpy as np
from scipy.linalg import cholesky

from evolabel.engine.inverse import positive_inverse
from evolabel.engine.one_thread import one_blas_thread
from evolabel.engine.symmetric import add_outer_products, mirror
from evolabel.errors import DataError
from evolabel.stages.rules.arrays import RULES, RuleArrays, Settings
from evolabel.stages.rules.proximal import largest_eigenvalue
from evolabel.typing import FloatArray


def start_inverse(slot: int, rules: RuleArrays, settings: Settings) -> None:
    """Set P, also that of the fast member, and the step bound of `slot` to those of consequents without samples."""
    penalty = settings.penalty[min(slot, 1)]
    rules.P[slot] = np.diag(1.0 / penalty)
    if rules.fast_P.shape[1]:
        rules.fast_P[slot] = rules.P[slot]
    rules.top[slot] = penalty.max()


def apply_pending(slot: int, rules: RuleArrays) -> None:
    """Apply the pending rows of `slot` to H and P."""
    b = int(rules.n_pending[slot])
    add_outer_products(rules.H[slot], rules.pending_H[slot], b, 1.0)
    add_outer_products(rules.P[slot], rules.pending_P[slot], b, -1.0)
    rules.n_pending[slot] = 0


def derive_inverse(slot: int, rules: RuleArrays, settings: Settings) -> None:
    """Derive P = (H + penalty)^-1 of `slot` from H, and set its age to 0.

    With iterated consequents, its step bound and, for slot 0, the weights of the global model are computed, too.
    """
    penalty = settings.penalty[min(slot, 1)]
    rules.H[slot] = mirrored(rules.H[slot])
    rules.P[slot] = ridge_inverse(rules.H[slot], penalty)
    rules.age[slot] = 0
    if settings.iterated:
        tighten(slot, rules, settings)
        if slot == 0:
            with one_blas_thread():
                rules.W[0] = rules.G[0] @ mirrored(rules.P[0])


def derive_all_inverses(rules: RuleArrays, settings: Settings) -> None:
    """Derive P of all slots in use from H; the age of the slots stays."""
    age = rules.age.copy()
    for slot in range(int(rules.counters[RULES]) + 1):
        apply_pending(slot, rules)
        derive_inverse(slot, rules, settings)
    rules.age[:] = age


def tighten(slot: int, rules: RuleArrays, settings: Settings) -> None:
    """Set the step bound of `slot` to lmax(H + penalty). Iterated consequents store H as a whole matrix."""
    rules.top[slot] = largest_eigenvalue(rules.H[slot] + np.diag(settings.penalty[min(slot, 1)]))


def ridge_inverse(H: FloatArray, penalty: FloatArray) -> FloatArray:
    """Return (H + diag(penalty))^-1 from the lower triangle of `H`."""
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
    """Return the symmetric matrix with this `lower` triangle."""
    half = np.tril(lower)
    return np.asarray(half + np.tril(half, -1).T)


def upkeep(slot: int, rules: RuleArrays, settings: Settings) -> None:
    """Apply the pending rows of `slot` and derive its P from H."""
    apply_pending(slot, rules)
    derive_inverse(slot, rules, settings)


@one_blas_thread()
def scatter(slot: int, rules: RuleArrays, settings: Settings) -> FloatArray:
    """Return the scatter matrix of a rotated rule: F F' without the prior."""
    F = np.tril(rules.F[slot])
    return np.asarray(F @ F.T - np.diag(settings.prior_count * settings.prior))


@one_blas_thread()
def set_scatter(slot: int, matrix: FloatArray, rules: RuleArrays, settings: Settings) -> None:
    """Set F of `slot` to the factor of the scatter `matrix` with the prior."""
    rules.F[slot] = cholesky(matrix + np.diag(settings.prior_count * settings.prior), lower=True)
