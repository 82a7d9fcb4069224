"""Where rows stand among the rules, for the loops that look at rows without learning them.

| symbol | array     | meaning                                                        |
|--------|-----------|----------------------------------------------------------------|
| psi    | (rows, C) | normalised memberships, eq. (2); 0: the rule is idle           |
| D      | (rows, C) | mean squared distances in the input space; inf: abandoned      |
| E      | (rows, C) | exponents of the memberships, eq. (3), and then their values   |

One row is placed as learning does it. Of many rows, numpy takes the exponentials between the two kernels below, which
is several times faster than one by one.
"""

from evolabel.kernels._compile import hot_kernel, kernel
from evolabel.kernels.antecedents import measure, weigh
from evolabel.kernels.memberships import NOTHING
from evolabel.kernels.state import FloatArray, RuleArrays, Settings, Workspace


@hot_kernel
def place(
    z: FloatArray, rules: RuleArrays, settings: Settings, work: Workspace, psi: FloatArray, D: FloatArray
) -> None:
    """Memberships and distances of one row."""
    p = z.shape[0]
    m = weigh(z, p, rules, settings, work.D, work.D, work.psi, work.active, work.e, work.x, work.missing)
    for a in range(D.shape[0]):
        D[a] = work.D[a + 1]
        psi[a] = 0.0
    for b in range(m):
        psi[work.active[b] - 1] = work.psi[b]


@kernel
def measure_rows(
    Z: FloatArray, rules: RuleArrays, settings: Settings, work: Workspace, E: FloatArray, D: FloatArray
) -> None:
    """Distances of all rows, and the exponents of eq. (3), 0 for the nearest rule."""
    p = Z.shape[1]
    for i in range(Z.shape[0]):
        measure(Z[i], p, rules, settings, work.D, work.D, work.e, work.x, work.missing)
        least = work.D[1]
        for a in range(D.shape[1]):
            D[i, a] = work.D[a + 1]
            least = min(least, D[i, a])
        for a in range(D.shape[1]):
            E[i, a] = -0.5 * (D[i, a] - least) / settings.tau


@kernel
def normalise_rows(E: FloatArray, min_activation: float) -> None:
    """Eq. (2): exponentials become psi, those of rules below `min_activation` 0; the nearest rule is always active."""
    for i in range(E.shape[0]):
        total, kept = 0.0, 0.0
        for a in range(E.shape[1]):
            total += E[i, a]
        least = min(max(min_activation, NOTHING) * total, 1.0)
        for a in range(E.shape[1]):
            E[i, a] = E[i, a] if E[i, a] >= least else 0.0
            kept += E[i, a]
        for a in range(E.shape[1]):
            E[i, a] /= kept
