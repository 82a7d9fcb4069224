"""Regressors of a row: in a rotated rule, a missing feature takes its conditional mean given the observed ones."""

from evolabel.engine.compile import inlined
from evolabel.engine.values import observed_features
from evolabel.paper.rules.arrays import PaperState
from evolabel.paper.rules.loops.rotated import fill_rotated
from evolabel.stages.rules.arrays import RuleArrays, Workspace
from evolabel.stages.rules.loops.consequents import fill_products, fill_regressors
from evolabel.typing import FloatArray


@inlined
def fill_conditional(
    z: FloatArray, m: int, rules: RuleArrays, work: Workspace, paper: PaperState, r: FloatArray
) -> None:
    """Fill the first m rows of r with the regressors of z for the m active rules of `work`."""
    if paper.settings.rotated and observed_features(z) < z.shape[0]:
        for b in range(m):
            fill_rotated(z, work.active[b], rules, paper, r[b])
    else:
        fill_regressors(z, m, rules, work, r)


@inlined
def project_conditional(z: FloatArray, m: int, rules: RuleArrays, work: Workspace, paper: PaperState) -> None:
    """Fill r and u = P r of `work` for the m active rules; pending rank-one rows of P are included."""
    fill_conditional(z, m, rules, work, paper, work.r)
    fill_products(m, rules, work)
