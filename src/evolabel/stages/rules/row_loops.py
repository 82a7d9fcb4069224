"""`RowLoops`: the compiled loops over rows that are answered, or that add to second moments, for one rule base."""

from collections.abc import Callable
from typing import Any

import numpy as np

from evolabel.engine.compile import direct
from evolabel.stages.rules.loops.answer import answer_rows, variance_rows
from evolabel.stages.rules.loops.answer_block import answer_block, variance_block
from evolabel.stages.rules.loops.second_moments import add_moment_rows
from evolabel.typing import FloatArray, IntArray

MomentArrays = tuple[FloatArray, FloatArray, IntArray]
"""M, pending_M and n_pending of `stages.rules.loops.second_moments`."""

Scratch = tuple[FloatArray, FloatArray, IntArray]
"""R, F and `rows` of `stages.rules.loops.answer_block`."""

Found = tuple[FloatArray, FloatArray, FloatArray]
"""`out`, psi and D of `stages.rules.loops.answer`."""

Terms = tuple[FloatArray, FloatArray, FloatArray]
"""q, s and t of `stages.rules.loops.answer`."""


class RowLoops:
    """The loops for the packed `state` of a rule base of `n_features`, one or more arguments; rows are scaled."""

    _answer_rows: Callable[..., None] = staticmethod(direct(answer_rows))
    _answer_block: Callable[..., None] = staticmethod(direct(answer_block))
    _variance_rows: Callable[..., None] = staticmethod(direct(variance_rows))
    _variance_block: Callable[..., None] = staticmethod(direct(variance_block))
    _add_moment_rows: Callable[..., None] = staticmethod(direct(add_moment_rows))

    def __init__(self, n_features: int, *state: Any) -> None:
        self.state = state
        self.n_features = n_features

    def answer_rows(self, Z: FloatArray, W: FloatArray, moments: MomentArrays, found: Found, terms: Terms) -> None:
        """Fill `found` and `terms` for the rows `Z`, row by row, as the loop of this name does."""
        V = np.empty((len(Z), self.n_features + 1))
        self._answer_rows(*self.state, Z, W, (*moments,), found, (*terms,), V)

    def answer_block(self, Z: FloatArray, psi: FloatArray, W: FloatArray, scratch: Scratch, out: FloatArray) -> None:
        """Fill `out` for the rows `Z` as the loop of this name does; `scratch` is its R, F and `rows`."""
        self._answer_block(*self.state, Z, psi, W, scratch, out)

    def variance_rows(self, Z: FloatArray, psi: FloatArray, moments: MomentArrays, terms: Terms) -> None:
        """Fill `terms`, which must be zeros, for rows `Z` of memberships `psi`, row by row."""
        self._variance_rows(*self.state, Z, psi, (*moments,), (*terms,))

    def variance_block(self, Z: FloatArray, psi: FloatArray, moments: MomentArrays, terms: Terms) -> None:
        """Fill `terms`, which must be zeros, for rows `Z` of memberships `psi`, all rows of a rule at once."""
        n, q = len(Z), self.n_features + 1
        R, U = np.empty((2, n, q))
        scratch = np.empty((q, q)), R, U, np.empty(n, np.int64)
        self._variance_block(*self.state, Z, psi, (*moments,), scratch, (*terms,))

    def add_moments(self, Z: FloatArray, psi: FloatArray, weight: float, moments: MomentArrays) -> None:
        """Add the rows `Z` of memberships `psi`, each of this `weight`, to the second `moments` of all slots."""
        self._add_moment_rows(*self.state, Z, psi, weight, (*moments,))
