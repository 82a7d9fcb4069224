"""Whether the matrices of a rule base can still be used in float64."""

import numpy as np

from evolabel.stages.rules.rule_state import RuleState
from evolabel.typing import FloatArray, IntArray

WORST_CONDITION = 1e15  # condition number beyond which P has no correct digits in float64


def regressor_sums(rules: RuleState) -> tuple[FloatArray, FloatArray]:
    """Return the sums of psi r and of psi r^2 of all slots of `rules`, (1+C, q): last rows and diagonals of H."""
    used = slice(0, rules.n_rules + 1)
    H, rows = rules.arrays.H[used], _pending(rules.arrays.pending_H[used], rules.arrays.n_pending[used])
    sums = H[:, -1] + np.einsum("sb,sbq->sq", rows[:, :, -1], rows)
    return sums, np.diagonal(H, axis1=1, axis2=2) + (rows**2).sum(axis=1)


def is_well_posed(rules: RuleState) -> bool:
    """Return whether tr(H + penalty) tr(P), a bound of the condition number, is small enough in every slot."""
    traces = regressor_sums(rules)[1].sum(axis=1)
    traces[0] += rules.settings.penalty[0].sum()
    traces[1:] += rules.settings.penalty[1].sum()
    inverses = np.array([np.trace(rules.inverse(slot)) for slot in range(len(traces))])
    return bool((traces * inverses < WORST_CONDITION).all())


def is_sound(rules: RuleState) -> bool:
    """Return whether all arrays that outputs depend on are finite, and every P has a positive diagonal."""
    used = slice(0, rules.n_rules + 1)
    P, G, W, c = (getattr(rules.arrays, name)[used] for name in ("P", "G", "W", "c"))
    rows = _pending(rules.arrays.pending_P[used], rules.arrays.n_pending[used])
    variances = np.diagonal(P, axis1=1, axis2=2) - (rows**2).sum(axis=1)
    finite = all(np.isfinite(part).all() for part in (np.tril(P), rows, G, W, c))
    return bool(finite and (variances > 0.0).all())


def _pending(rows: FloatArray, n_pending: IntArray) -> FloatArray:
    """Return the pending `rows` (slots, B, q) with 0 in rows that are not in use."""
    return np.where((np.arange(rows.shape[1]) < n_pending[:, None])[:, :, None], rows, 0.0)
