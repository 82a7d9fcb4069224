"""Where a row stands among the rules, for the loops that look at rows without learning them.

| symbol | array | meaning                                                        |
|--------|-------|----------------------------------------------------------------|
| psi    | (C,)  | normalised memberships, eq. (2); 0: the rule is idle           |
| D      | (C,)  | mean squared distances in the input space; inf: abandoned      |
"""

from evolabel.kernels._compile import hot_kernel
from evolabel.kernels.antecedents import weigh
from evolabel.kernels.state import FloatArray, RuleArrays, Settings, Workspace


@hot_kernel
def place(z: FloatArray, rules: RuleArrays, settings: Settings, work: Workspace) -> int:
    """Distances and memberships of a row go to `work`; returns how many rules are active."""
    p = z.shape[0]
    return weigh(z, p, rules, settings, work.D, work.D, work.psi, work.active, work.e, work.x, work.missing)


@hot_kernel
def keep_places(m: int, work: Workspace, psi: FloatArray, D: FloatArray) -> None:
    """Copy what `place` found for a row with m active rules, rule by rule."""
    for a in range(D.shape[0]):
        D[a] = work.D[a + 1]
        psi[a] = 0.0
    for b in range(m):
        psi[work.active[b] - 1] = work.psi[b]
