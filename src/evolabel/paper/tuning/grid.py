"""The points of a search: a grid of parameters, split into those that change the structure and those that do not."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np

from evolabel.errors import ParameterError

# alpha and beta never change antecedents, memberships or statistics: one structure pass serves all their values.
_CONSEQUENT_PARAMETERS = ("alpha", "beta")

# The paper's grid (section 5.2): 17 x 10 x 8 points.
PAPER_GRID: dict[str, tuple[float, ...]] = {
    "vigilance": tuple(round(0.1 + 0.05 * step, 2) for step in range(17)),
    "alpha": (0.0, 0.01, 0.025, 0.05, 0.075, 0.1, 0.5, 1.0, 5.0, 10.0),
    "beta": (0.0, 0.1, 0.5, 1.0, 5.0, 10.0, 50.0, 100.0),
}

Point = dict[str, Any]
"""Values by parameter."""


@dataclass(frozen=True)
class Grid:
    """All combinations of the `values` of each parameter."""

    values: dict[str, tuple[Any, ...]]

    @classmethod
    def of(cls, values: Mapping[str, Sequence[Any]]) -> "Grid":
        """Return a checked grid of `values`; a single value counts as a sequence of one."""
        if not isinstance(values, Mapping):
            raise ParameterError(f"the grid is a {type(values).__name__}; pass a dict of values by parameter")
        wrapped = {
            name: tuple(given) if isinstance(given, Sequence | np.ndarray) and not isinstance(given, str) else (given,)
            for name, given in values.items()
        }
        empty = [name for name, given in wrapped.items() if not given]
        if empty or not wrapped:
            raise ParameterError(f"the grid has no values{f' for {empty[0]}' if empty else ''}; give at least one")
        return cls(wrapped)

    @property
    def structures(self) -> list[Point]:
        """Combinations that each need a structure pass of their own."""
        return _combinations({n: v for n, v in self.values.items() if n not in _CONSEQUENT_PARAMETERS})

    @property
    def consequents(self) -> list[Point]:
        """Combinations of alpha and beta, which share one structure pass."""
        return _combinations({n: v for n, v in self.values.items() if n in _CONSEQUENT_PARAMETERS})

    def __len__(self) -> int:
        return len(self.structures) * len(self.consequents)


def _combinations(values: dict[str, tuple[Any, ...]]) -> list[Point]:
    return [dict(zip(values, point, strict=True)) for point in product(*values.values())]
