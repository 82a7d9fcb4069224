"""Second moments of all rows of a stream, labelled or not, rule by rule.

| symbol    | array       | meaning                                                          |
|-----------|-------------|------------------------------------------------------------------|
| M         | (1+C, q, q) | sum of psi r r', lower triangle, without the rows in `pending_M` |
| pending_M | (1+C, B, q) | rows h = sqrt(psi) r whose h h' is not yet added to M            |
| n_pending | (1+C,)      | number of rows in `pending_M`                                    |
"""

import numpy as np

from evolabel.engine.compile import inner, kernel
from evolabel.engine.symmetric import add_outer_products, dot, symmetric_form
from evolabel.stages.rules.arrays import State
from evolabel.stages.rules.loops.consequents import fill_regressor, fill_regressors
from evolabel.typing import FloatArray, IntArray


@inner
def quadratic_form(M: FloatArray, pending: FloatArray, b: int, u: FloatArray) -> float:
    """Return u'M u, the first b `pending` rows included."""
    total = symmetric_form(M, u)
    for k in range(b):
        part = dot(pending[k], u)
        total += part * part
    return total


@inner
def add_moment(slot: int, r: FloatArray, weight: float, moments: tuple[FloatArray, FloatArray, IntArray]) -> None:
    """Add weight r r' to M of `slot` in `moments`, in blocks."""
    M, pending_M, n_pending = moments
    b, root = n_pending[slot], np.sqrt(weight)
    for j in range(r.shape[0]):
        pending_M[slot, b, j] = root * r[j]
    n_pending[slot] = b + 1
    if b + 1 == pending_M.shape[1]:
        add_outer_products(M[slot], pending_M[slot], b + 1, 1.0)
        n_pending[slot] = 0


@kernel
def add_moment_rows(
    state: State, Z: FloatArray, psi: FloatArray, weight: float, moments: tuple[FloatArray, FloatArray, IntArray]
) -> None:
    """Add all rows Z to M of the active rules and of the whole stream, with `weight` times psi."""
    rules, work = state.rules, state.work
    for i in range(Z.shape[0]):
        fill_regressor(Z[i], rules.c[0], work.r[0])
        add_moment(0, work.r[0], weight, moments)
        for a in range(psi.shape[1]):
            if psi[i, a] > 0.0:
                work.active[0] = a + 1
                fill_regressors(Z[i], 1, rules, work, work.r)
                add_moment(a + 1, work.r[0], weight * psi[i, a], moments)
