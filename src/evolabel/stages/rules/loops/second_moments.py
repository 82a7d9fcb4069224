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
def add_moment(r: FloatArray, weight: float, M: FloatArray, pending_M: FloatArray, n_pending: int) -> int:
    """Add weight r r' to M, in blocks; return the number of pending rows."""
    root = np.sqrt(weight)
    for j in range(r.shape[0]):
        pending_M[n_pending, j] = root * r[j]
    if n_pending + 1 < pending_M.shape[0]:
        return n_pending + 1
    add_outer_products(M, pending_M, n_pending + 1, 1.0)
    return 0


@kernel
def add_moment_rows(
    state: State,
    Z: FloatArray,
    psi: FloatArray,
    weight: float,
    M: FloatArray,
    pending_M: FloatArray,
    n_pending: IntArray,
) -> None:
    """Add all rows Z to M of the active rules and of the whole stream, with `weight` times psi."""
    rules, work = state.rules, state.work
    for i in range(Z.shape[0]):
        fill_regressor(Z[i], rules.c[0], work.r[0])
        n_pending[0] = add_moment(work.r[0], weight, M[0], pending_M[0], n_pending[0])
        for a in range(psi.shape[1]):
            if psi[i, a] > 0.0:
                slot = a + 1
                work.active[0] = slot
                fill_regressors(Z[i], 1, rules, work, work.r)
                n_pending[slot] = add_moment(work.r[0], weight * psi[i, a], M[slot], pending_M[slot], n_pending[slot])
