"""Second moments of all rows of a stream, labelled or not, rule by rule.

| symbol | array         | meaning                                                                  |
|--------|---------------|--------------------------------------------------------------------------|
| M      | (1+C, q, q)   | sum of psi r r', lower triangle, without the rows in `late_M`            |
| late_M | (1+C, B, q)   | rows h = sqrt(psi) r: M still lacks their h h'                           |
| late   | (1+C,)        | how many rows wait                                                       |
"""

import numpy as np

from evolabel.kernels.antecedents import fill_regressor
from evolabel.kernels.compile import inner, kernel
from evolabel.kernels.learn import fill_regressors
from evolabel.kernels.state import PaperArrays, State
from evolabel.kernels.symmetric import add_outer_products, dot, symmetric_form
from evolabel.typing import FloatArray, IntArray


@inner
def quadratic_form(M: FloatArray, waiting: FloatArray, b: int, u: FloatArray) -> float:
    """Compute u'M u, the first b waiting rows included."""
    total = symmetric_form(M, u)
    for k in range(b):
        part = dot(waiting[k], u)
        total += part * part
    return total


@inner
def add_moment(r: FloatArray, weight: float, M: FloatArray, late_M: FloatArray, late: int) -> int:
    """M += weight r r', in blocks; returns the rows then waiting."""
    root = np.sqrt(weight)
    for j in range(r.shape[0]):
        late_M[late, j] = root * r[j]
    if late + 1 < late_M.shape[0]:
        return late + 1
    add_outer_products(M, late_M, late + 1, 1.0)
    return 0


@kernel
def add_moment_rows(
    state: State,
    paper: PaperArrays | None,
    Z: FloatArray,
    psi: FloatArray,
    weight: float,
    M: FloatArray,
    late_M: FloatArray,
    late: IntArray,
) -> None:
    """Add all rows to M of the active rules and of the whole stream, each with this weight times psi."""
    rules, settings, work = state.rules, state.settings, state.work
    for i in range(Z.shape[0]):
        fill_regressor(Z[i], rules.c[0], work.r[0])
        late[0] = add_moment(work.r[0], weight, M[0], late_M[0], late[0])
        for a in range(psi.shape[1]):
            if psi[i, a] > 0.0:
                slot = a + 1
                work.active[0] = slot
                fill_regressors(Z[i], 1, rules, settings, work, paper, work.r)
                late[slot] = add_moment(work.r[0], weight * psi[i, a], M[slot], late_M[slot], late[slot])
