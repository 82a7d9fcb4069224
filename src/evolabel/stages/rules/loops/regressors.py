"""Regressors r = (z, 1) of a row, and their products u = P r.

A missing feature takes its mean in the rule.
"""

import numpy as np

from evolabel.engine.compile import inlined
from evolabel.engine.symmetric import pending_product
from evolabel.stages.rules.arrays import RuleArrays, Workspace
from evolabel.typing import FloatArray


@inlined
def fill_regressor(z: FloatArray, centre: FloatArray, r: FloatArray) -> None:
    """Fill r with (z, 1); a missing feature takes its entry of `centre`, its mean under an axis-parallel Gaussian."""
    p = z.shape[0]
    for j in range(p):
        r[j] = centre[j] if np.isnan(z[j]) else z[j]
    r[p] = 1.0


@inlined
def fill_regressors(z: FloatArray, m: int, rules: RuleArrays, work: Workspace, r: FloatArray) -> None:
    """Fill the first m rows of r with the regressors of z for the m active rules of `work`."""
    for b in range(m):
        fill_regressor(z, rules.c[work.active[b]], r[b])


@inlined
def fill_products(m: int, rules: RuleArrays, work: Workspace) -> None:
    """Fill u = P r of `work` for the m active rules, whose regressors r are filled."""
    for b in range(m):
        a = work.active[b]
        pending_product(rules.P[a], rules.pending_P[a], rules.n_pending[a], work.r[b], work.u[b])


@inlined
def project(z: FloatArray, m: int, rules: RuleArrays, work: Workspace) -> None:
    """Fill r and u = P r of `work` for the m active rules; pending rank-one rows of P are included."""
    fill_regressors(z, m, rules, work, work.r)
    fill_products(m, rules, work)
