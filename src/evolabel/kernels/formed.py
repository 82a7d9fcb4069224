"""Answers by weights formed beforehand: O(q K) per active rule, where `kernels.stream` needs O(q^2) to know u = P r.

| symbol | array        | meaning                                                            |
|--------|--------------|--------------------------------------------------------------------|
| W      | (1+C, K, q)  | weights of the global model and of the rules, as they are by now   |
| r      | (m, q)       | regressors (z, 1) of the m active rules                            |
| psi    | (m,)         | normalised memberships of the active rules, eq. (2)                |
"""

from evolabel.kernels._compile import kernel
from evolabel.kernels.antecedents import weigh
from evolabel.kernels.state import FloatArray, RuleArrays, Settings, Workspace
from evolabel.kernels.stream import fill_regressors
from evolabel.kernels.symmetric import add_product


@kernel
def answer_rows(
    Z: FloatArray, W: FloatArray, rules: RuleArrays, settings: Settings, work: Workspace, out: FloatArray
) -> None:
    """Eq. (2) of all rows: the sum of psi_i W_i r."""
    p = Z.shape[1]
    for i in range(Z.shape[0]):
        m = weigh(Z[i], p, rules, settings, work.D, work.D, work.psi, work.active, work.e, work.x, work.missing)
        fill_regressors(Z[i], m, rules, settings, work.active, work.missing, work.r)
        out[i] = 0.0
        for b in range(m):
            add_product(W[work.active[b]], work.r[b], work.psi[b], out[i])
