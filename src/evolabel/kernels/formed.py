"""Answers by weights formed beforehand: O(q K) per active rule, where `kernels.stream` needs O(q^2) to know u = P r.

| symbol | array        | meaning                                                            |
|--------|--------------|--------------------------------------------------------------------|
| W      | (1+C, K, q)  | weights of the global model and of the rules, as they are by now   |
| psi    | (rows, C)    | normalised memberships, eq. (2)                                    |
| D      | (rows, C)    | mean squared distances in the input space                          |
"""

from evolabel.kernels._compile import kernel
from evolabel.kernels.memberships import observed_features
from evolabel.kernels.places import place
from evolabel.kernels.state import FloatArray, RuleArrays, Settings, Workspace
from evolabel.kernels.stream import fill_regressors
from evolabel.kernels.symmetric import add_product


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
) -> None:
    """Eq. (2) of all rows: the sum of psi_i W_i r. psi and D are found first, unless the rows are `placed`."""
    for i in range(Z.shape[0]):
        if not placed:
            place(Z[i], rules, settings, work, psi[i], D[i])
        m = 0
        for a in range(psi.shape[1]):
            work.active[m] = a + 1
            m += psi[i, a] > 0.0
        complete = observed_features(Z[i]) == Z.shape[1]  # then all rules see the same
        fill_regressors(Z[i], 1 if complete else m, rules, settings, work.active, work.missing, work.r)
        out[i] = 0.0
        for b in range(m):
            add_product(W[work.active[b]], work.r[0 if complete else b], psi[i, work.active[b] - 1], out[i])
