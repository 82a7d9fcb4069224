"""Answers by weights formed beforehand: O(q K) per active rule, where `kernels.stream` needs O(q^2) to know u = P r.

| symbol | array        | meaning                                                            |
|--------|--------------|--------------------------------------------------------------------|
| W      | (1+C, K, q)  | weights of the global model and of the rules, as they are by now   |
| psi    | (rows, C)    | normalised memberships, eq. (2)                                    |
| D      | (rows, C)    | mean squared distances in the input space                          |
| V      | (1, K, q)    | scratch: the mean of the active rules' weights                     |

W and V also come flat, (1+C, K q) and (1, K q): loops over all of a rule's weights are long.
"""

from evolabel.kernels._compile import hot_kernel, kernel
from evolabel.kernels.memberships import observed_features
from evolabel.kernels.places import place
from evolabel.kernels.state import FloatArray, IntArray, RuleArrays, Settings, Workspace
from evolabel.kernels.stream import fill_regressors
from evolabel.kernels.symmetric import add_product


@hot_kernel
def average(W: FloatArray, psi: FloatArray, active: IntArray, m: int, V: FloatArray) -> None:
    """V = sum of psi_i W_i over the m active rules, two at a time."""
    V[:] = 0.0
    for b in range(0, m - 1, 2):
        first, second = W[active[b]], W[active[b + 1]]
        s, t = psi[active[b] - 1], psi[active[b + 1] - 1]
        for j in range(V.shape[0]):
            V[j] += s * first[j] + t * second[j]
    if m % 2:
        last, s = W[active[m - 1]], psi[active[m - 1] - 1]
        for j in range(V.shape[0]):
            V[j] += s * last[j]


@kernel
def answer_rows(
    Z: FloatArray,
    placed: bool,
    W: FloatArray,
    rules: RuleArrays,
    settings: Settings,
    work: Workspace,
    out: FloatArray,
    psi: FloatArray,
    D: FloatArray,
    V: FloatArray,
    flat_W: FloatArray,
    flat_V: FloatArray,
) -> None:
    """Eq. (2) of all rows: the sum of psi_i W_i r. psi and D are found first, unless the rows are `placed`.

    All rules see the same of a complete row: their mean weights answer it.
    """
    for i in range(Z.shape[0]):
        if not placed:
            place(Z[i], rules, settings, work, psi[i], D[i])
        m = 0
        for a in range(psi.shape[1]):
            work.active[m] = a + 1
            m += psi[i, a] > 0.0
        complete = observed_features(Z[i]) == Z.shape[1]
        fill_regressors(Z[i], 1 if complete else m, rules, settings, work.active, work.missing, work.r)
        out[i] = 0.0
        if complete:
            average(flat_W, psi[i], work.active, m, flat_V[0])
            add_product(V[0], work.r[0], 1.0, out[i])
        else:
            for b in range(m):
                add_product(W[work.active[b]], work.r[b], psi[i, work.active[b] - 1], out[i])
