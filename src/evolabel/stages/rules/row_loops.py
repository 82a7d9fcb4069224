"""`RowLoops`: the compiled loops over rows that are answered, or that add to second moments, for one rule base."""

from typing import Any

import numpy as np

from evolabel.engine.compile import direct
from evolabel.stages.rules.loops.answer import answer_rows, variance_rows
from evolabel.stages.rules.loops.answer_block import answer_block, variance_block
from evolabel.stages.rules.loops.second_moments import add_moment_rows
from evolabel.typing import FloatArray, IntArray

_answer_rows, _variance_rows, _add_moment_rows = direct(answer_rows), direct(variance_rows), direct(add_moment_rows)
_answer_block, _variance_block = direct(answer_block), direct(variance_block)

MomentArrays = tuple[FloatArray, FloatArray, IntArray]
"""M, pending_M and n_pending of `stages.rules.loops.second_moments`."""

Scratch = tuple[FloatArray, FloatArray, IntArray]
"""R, F and `rows` of `stages.rules.loops.answer_block`."""

Found = tuple[FloatArray, FloatArray, FloatArray]
"""`out`, psi and D of `stages.rules.loops.answer`."""

Terms = tuple[FloatArray, FloatArray, FloatArray]
"""q, s and t of `stages.rules.loops.answer`."""


class RowLoops:
    """The loops for the packed `state` of a rule base of `n_features`; rows are scaled."""

    def __init__(self, state: Any, n_features: int) -> None:
        self.state = state
        self.n_features = n_features

    def answer_rows(self, Z: FloatArray, W: FloatArray, moments: MomentArrays, found: Found, terms: Terms) -> None:
        """Fill `found` and `terms` for the rows `Z`, row by row, as the loop of this name does."""
        _answer_rows(self.state, Z, W, *moments, *found, *terms, np.empty((len(Z), self.n_features + 1)))

    def answer_block(self, Z: FloatArray, psi: FloatArray, W: FloatArray, scratch: Scratch, out: FloatArray) -> None:
        """Fill `out` for the rows `Z` as the loop of this name does; `scratch` is its R, F and `rows`."""
        _answer_block(self.state, Z, psi, W, *scratch, out)

    def variance_rows(self, Z: FloatArray, psi: FloatArray, moments: MomentArrays, terms: Terms) -> None:
        """Fill `terms`, which must be zeros, for rows `Z` of memberships `psi`, row by row."""
        _variance_rows(self.state, Z, psi, *moments, *terms)

    def variance_block(self, Z: FloatArray, psi: FloatArray, moments: MomentArrays, terms: Terms) -> None:
        """Fill `terms`, which must be zeros, for rows `Z` of memberships `psi`, all rows of a rule at once."""
        A, R, U, rows = block_scratch(len(Z), self.n_features + 1)
        _variance_block(self.state, Z, psi, *moments, A, R, U, rows, *terms)

    def add_moments(self, Z: FloatArray, psi: FloatArray, weight: float, moments: MomentArrays) -> None:
        """Add the rows `Z` of memberships `psi`, each of this `weight`, to the second `moments` of all slots."""
        _add_moment_rows(self.state, Z, psi, weight, *moments)


def block_scratch(n: int, q: int) -> tuple[FloatArray, FloatArray, FloatArray, IntArray]:
    """Return A, R, U and `rows` of `loops.answer_block.variance_block` for `n` rows and regressors of length `q`."""
    R, U = np.empty((2, n, q))
    return np.empty((q, q)), R, U, np.empty(n, np.int64)
