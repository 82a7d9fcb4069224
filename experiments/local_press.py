"""Ridge of the rules, temperature and ridge of the global model by the exact leave-one-out error of the whole model.

The unit of all ridges comes from the leave-one-out error (PRESS) of the *linear* model, times constants. Here the
initial batch is used again after the rules are placed (formulas: `evolabel.model.start.local_ridge`). The part for the
ridge of the rules alone is in the package, as `local_ridge="loo"`.
"""

from typing import Any

import numpy as np
from other_structures import Changed

from evolabel.core.rows import Batch
from evolabel.model.start.local_ridge import LOCAL_GRID as GRID
from evolabel.model.start.local_ridge import leave_one_out
from evolabel.model.start.ridge import filled
from evolabel.stages.rules.stage import RuleBase
from evolabel.typing import FloatArray

WEAKER = tuple(reversed(GRID))  # the study's default, 0.2, or less
ANY = (*WEAKER, 0.4, 0.8)


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
        rules.learn(Batch(Z, Y), consequents=False)
        self._choose(rules, Z, Y)
        rules.learn(Batch(Z, Y), structure=False)

    def _choose(self, rules: RuleBase, Z: FloatArray, Y: FloatArray) -> None:
        """Set the penalties, and the temperature, with the least leave-one-out squared error."""
        Z, Y = filled(Z, 0.0), filled(Y, np.nan)
        unit, shape = self.model.ridge, np.append(np.ones(Z.shape[1]), self.options.intercept_ridge)
        R = np.column_stack([Z, np.ones(len(Z))]) / np.sqrt(shape)
        gammas = unit * np.array(self.local)
        found = []
        for tau in self.temperatures or (rules.settings.tau,):
            rules.settings = rules.settings._replace(tau=tau)
            psi = rules.memberships(Z)[0]
            for factor in self.globals or (self.options.global_ridge,):
                outputs = leave_one_out(R, Y, psi, factor * unit, gammas)
                errors = ((outputs - Y) ** 2).mean(axis=(1, 2))
                best = int(errors.argmin())
                found.append((float(errors[best]), tau, factor, self.local[best]))
        self.chosen = min(found)
        _, tau, factor, local = self.chosen
        gamma = local * unit * shape
        rules.settings = rules.settings._replace(
            tau=tau, penalty=np.stack([factor * unit * shape, gamma]), anchor=gamma
        )
        rules.arrays.P[0] = np.diag(1.0 / rules.settings.penalty[0])
        rules.arrays.P[1:] = np.diag(1.0 / gamma)
