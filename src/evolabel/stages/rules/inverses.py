"""P derived from H.

P = (H + penalty)^-1 is updated by rank-one steps while rows are learned. Here it is initialised, and derived again, so
that rounding errors do not add up.
"""

import numpy as np

from evolabel.engine.symmetric import add_outer_products, mirror, mirrored, positive_inverse
from evolabel.errors import DataError
from evolabel.stages.rules.arrays import RuleArrays, Settings
from evolabel.typing import FloatArray


def start_inverse(slot: int, rules: RuleArrays, settings: Settings) -> None:
    """Set P, also that of the fast member, of `slot` to that of consequents without samples."""
    penalty = settings.penalty[min(slot, 1)]
    rules.P[slot] = np.diag(1.0 / penalty)
    if rules.fast_P.shape[1]:
        rules.fast_P[slot] = rules.P[slot]


def apply_pending(slot: int, rules: RuleArrays) -> None:
    """Apply the pending rows of `slot` to H and P."""
    b = int(rules.n_pending[slot])
    add_outer_products(rules.H[slot], rules.pending_H[slot], b, 1.0)
    add_outer_products(rules.P[slot], rules.pending_P[slot], b, -1.0)
    rules.n_pending[slot] = 0


def derive_inverse(slot: int, rules: RuleArrays, settings: Settings) -> None:
    """Derive P = (H + penalty)^-1 of `slot` from H, and set its age to 0."""
    rules.H[slot] = mirrored(rules.H[slot])
    rules.P[slot] = ridge_inverse(rules.H[slot], settings.penalty[min(slot, 1)])
    rules.age[slot] = 0


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
