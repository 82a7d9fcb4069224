"""Ridge of the rules, temperature and ridge of the global model by the exact leave-one-out error of the whole model.

The default takes the unit of all ridges from the leave-one-out error (PRESS) of the *linear* model and multiplies it by
constants. Here the initial batch is asked again once the rules stand: with rows r_n, memberships psi and residuals
e_n = y_n - W_0'r_n, leaving row n out gives

    W_0'r_n without n:  y_n - e_n / (1 - h_n),                                   h_n = r_n'P_0 r_n
    W_i'r_n without n:  (W_i'r_n - g y_n - c e_n / (1 - h_n)) / (1 - g),         g = psi r_n'P_i r_n,
                                                                                 c = gamma (D P_i r_n)'P_0 r_n

exactly, for given memberships. Per rule one eigendecomposition of a matrix as large as the rows it has a say on serves
all gamma.
"""

from typing import Any

import numpy as np
from other_structures import Changed

from evolabel.core.ridge import _filled
from evolabel.core.rule_base import RuleBase
from evolabel.kernels.state import FloatArray

WEAKER = (0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2)  # the default, 0.2, or less
ANY = (*WEAKER, 0.4, 0.8)


def leave_one_out(
    R: FloatArray, Y: FloatArray, psi: FloatArray, ridge: FloatArray, shape: FloatArray, gammas: FloatArray
) -> FloatArray:
    """Outputs without the row itself, (gammas, rows, labels); `ridge` is the global penalty, `shape` D."""
    P = np.linalg.inv(R.T @ R + np.diag(ridge))
    A = R @ P @ R.T
    fit, h = A @ Y, np.diag(A)
    residual = Y - fit
    without = residual / (1.0 - h)[:, None]
    out = np.zeros((len(gammas), *Y.shape))
    for weights in psi.T:
        on = np.flatnonzero(weights > 0.0)
        if not len(on):
            continue
        root = np.sqrt(weights[on])
        S = root[:, None] * R[on]
        values, axes = np.linalg.eigh((S / shape) @ S.T)
        for place, gamma in enumerate(gammas):
            M = (axes * (values / (values + gamma))) @ axes.T
            g = np.diag(M)
            own = fit[on] + M @ (root[:, None] * residual[on]) / root[:, None]
            c = h[on] - (M * (root * A[np.ix_(on, on)])).sum(axis=1) / root
            left = (own - g[:, None] * Y[on] - c[:, None] * without[on]) / (1.0 - g)[:, None]
            out[place, on] += weights[on, None] * left
    return out


class LocalPress(Changed):
    """Chooses `local_ridge`, and optionally the temperature and `global_ridge`, after the rules have been placed."""

    def __init__(
        self,
        local: tuple[float, ...] = WEAKER,
        temperatures: tuple[float, ...] = (),
        globals_: tuple[float, ...] = (),
        seed: int = 0,
        **parameters: Any,
    ) -> None:
        super().__init__(seed, **parameters)
        self.local, self.temperatures, self.globals = local, temperatures, globals_

    def _batch(self, rules: RuleBase, Z: FloatArray, Y: FloatArray) -> None:
        rules.learn(Z, Y, consequents=False)
        self._choose(rules, Z, Y)
        rules.learn(Z, Y, structure=False)

    def _choose(self, rules: RuleBase, Z: FloatArray, Y: FloatArray) -> None:
        """Set the penalties, and the temperature, with the least leave-one-out squared error."""
        Z, Y = _filled(Z, 0.0), _filled(Y, np.nan)
        unit, R = self.model.ridge, np.column_stack([Z, np.ones(len(Z))])
        shape = np.append(np.ones(Z.shape[1]), self.options.intercept_ridge)
        gammas = unit * np.array(self.local)
        found = []
        for tau in self.temperatures or (rules.settings.tau,):
            rules.settings = rules.settings._replace(tau=tau)
            psi = rules.memberships(Z)[0]
            for factor in self.globals or (self.options.global_ridge,):
                outputs = leave_one_out(R, Y, psi, factor * unit * shape, shape, gammas)
                errors = ((outputs - Y) ** 2).mean(axis=(1, 2))
                best = int(errors.argmin())
                found.append((float(errors[best]), tau, factor, self.local[best]))
        self.chosen = min(found)
        _, tau, factor, local = self.chosen
        gamma = local * unit * shape
        rules.settings = rules.settings._replace(tau=tau, penalty=np.stack([factor * unit * shape, gamma]), lean=gamma)
        rules.arrays.P[0] = np.diag(1.0 / rules.settings.penalty[0])
        rules.arrays.P[1:] = np.diag(1.0 / gamma)
