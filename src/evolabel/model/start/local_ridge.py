"""The ridge of the rules towards the global model, by the exact leave-one-out error of the whole rule base.

With regressors r_n, labels y_n, penalties lambda D (global model, W_0, P_0) and gamma D (rules, W_i, P_i), memberships
psi_in, and residuals e_n = y_n - W_0'r_n, the models that have never seen row n answer it by

    W_0'r_n - h_n e_n / (1 - h_n),                                 h_n = r_n'P_0 r_n
    (W_i'r_n - g_n y_n - c_n e_n / (1 - h_n)) / (1 - g_n),         g_n = psi_in r_n'P_i r_n
                                                                   c_n = gamma r_n'P_i D P_0 r_n

The first is leave-one-out of any ridge regression. In the second the rule loses the row's evidence (g_n), and the
global model that its ridge pulls to moves, too (c_n). Given the memberships this is exact. Rows are divided by the root
of D here, so that both penalties are multiples of I; one thin singular value decomposition per rule then serves all
gamma.

L1 and coupling come on top of these least squares and do not change the choice: what is shared by all alpha and beta of
a grid search stays shared. Without a ridge towards the global model there is nothing to choose.

Deviation: the paper has no such ridge. Where regions follow rules of their own, the unit of the ridges, which is what
the *linear* model needs, has little to do with what the rules need (docs/decisions/what-was-tried.md).
"""

from typing import NamedTuple

import numpy as np

from evolabel.core.options import STRONGEST_LOCAL_RIDGE
from evolabel.engine.one_thread import one_blas_thread
from evolabel.model.start.ridge import cannot_choose, filled
from evolabel.stages.rules.stage import RuleBase
from evolabel.typing import FloatArray, IntArray

# Strongest first: it wins ties. Small batches may choose more, to the loss of the stream after them.
LOCAL_GRID = (STRONGEST_LOCAL_RIDGE, 0.1, 0.05, 0.02, 0.01, 0.005, 0.002)

_MOST_ROWS = 2000  # of a larger batch rows are taken at even steps; that many are enough to compare seven strengths


class LeftOut(NamedTuple):
    """The factor of the ridge that was chosen, and the outputs of `rows` by rules that have never seen the row."""

    factor: float
    rows: IntArray
    outputs: FloatArray


@one_blas_thread()
def choose_local_ridge(rules: RuleBase, Z: FloatArray, Y: FloatArray, ridge: float) -> LeftOut:
    """Return the factor of `ridge` with the least leave-one-out squared error of `rules` on scaled rows `Z`, `Y`.

    Without rows in the result it could not be chosen. The rules have their places, and have learned no consequents. As
    for the unit `ridge`, all rows count alike, and gaps as average.
    """
    rows = np.arange(len(Z))
    if len(Z) > _MOST_ROWS:
        rows = np.linspace(0, len(Z) - 1, _MOST_ROWS).astype(np.int64)
        Z, Y = Z[rows], Y[rows]
    memberships = rules.memberships(Z)[0]
    Z, Y = filled(Z, 0.0), filled(Y, np.nan)
    if cannot_choose(Z, Y):
        return LeftOut(STRONGEST_LOCAL_RIDGE, rows[:0], Y[:0])
    strength = rules.settings.penalty[0]  # lambda D; D is 1 for features
    R = np.column_stack([Z, np.ones(len(Z))]) / np.sqrt(strength / strength[0])
    with np.errstate(all="ignore"):  # hardly any ridge: leverages of 1
        outputs = leave_one_out(R, Y, memberships, float(strength[0]), ridge * np.array(LOCAL_GRID))
        errors = ((outputs - Y) ** 2).mean(axis=(1, 2))
    best = int(np.where(np.isfinite(errors), errors, np.inf).argmin())
    return LeftOut(LOCAL_GRID[best], rows, outputs[best])


def leave_one_out(
    R: FloatArray, Y: FloatArray, memberships: FloatArray, strength: float, gammas: FloatArray
) -> FloatArray:
    """Return outputs of all rows without the row itself, (gammas, rows, labels), for `Y` and regressors `R`.

    `memberships` are those in the rules; penalties are `strength` I of the global model and `gammas` times I of rules.
    """
    U_0, s, _ = np.linalg.svd(R, full_matrices=False)
    shrink = s**2 / (s**2 + strength)
    h = U_0**2 @ shrink
    fit = U_0 @ (shrink[:, None] * (U_0.T @ Y))
    residual = Y - fit
    moved = residual / (1.0 - h)[:, None]
    out = np.zeros((len(gammas), *Y.shape))
    for psi in memberships.T:
        on = np.flatnonzero(psi > 0.0)
        if not len(on):
            continue
        root = np.sqrt(psi[on])[:, None]
        U, s, _ = np.linalg.svd(root * R[on], full_matrices=False)
        evidence = U.T @ (root * residual[on])
        overlap = U * ((U_0[on] * shrink) @ (U_0[on].T @ (root * U))) / root
        for place, gamma in enumerate(gammas):
            share = s**2 / (s**2 + gamma)
            g, c = (U**2 @ share)[:, None], (h[on] - overlap @ share)[:, None]
            own = fit[on] + U @ (share[:, None] * evidence) / root
            out[place, on] += root**2 * (own - g * Y[on] - c * moved[on]) / (1.0 - g)
    return out
