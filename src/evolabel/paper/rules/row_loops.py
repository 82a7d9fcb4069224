"""`PaperRowLoops`: the compiled loops over rows that are answered, by the paper's rules."""

from typing import Any

import numpy as np

from evolabel.engine.compile import direct
from evolabel.paper.rules.loops.answer import (
    add_paper_moments,
    paper_answer_block,
    paper_answer_rows,
    paper_variance_block,
    paper_variance_rows,
)
from evolabel.stages.rules.row_loops import Found, MomentArrays, RowLoops, Scratch, Terms, block_scratch
from evolabel.typing import FloatArray

_answer_rows, _answer_block = direct(paper_answer_rows), direct(paper_answer_block)
_variance_rows, _variance_block = direct(paper_variance_rows), direct(paper_variance_block)
_add_moments = direct(add_paper_moments)


class PaperRowLoops(RowLoops):
    """The loops for the packed `state` and `paper` of the paper's rules of `n_features`; rows are scaled."""

    def __init__(self, state: Any, paper: Any, n_features: int) -> None:
        super().__init__(state, n_features)
        self.paper = paper

    def answer_rows(self, Z: FloatArray, W: FloatArray, moments: MomentArrays, found: Found, terms: Terms) -> None:
        """Fill `found` and `terms` for the rows `Z`, row by row."""
        V = np.empty((len(Z), self.n_features + 1))
        _answer_rows(self.state, self.paper, Z, W, *moments, *found, *terms, V)

    def answer_block(self, Z: FloatArray, psi: FloatArray, W: FloatArray, scratch: Scratch, out: FloatArray) -> None:
        """Fill `out` for the rows `Z`, all rows of a rule at once."""
        _answer_block(self.state, self.paper, Z, psi, W, *scratch, out)

    def variance_rows(self, Z: FloatArray, psi: FloatArray, moments: MomentArrays, terms: Terms) -> None:
        """Fill `terms`, which must be zeros, for rows `Z` of memberships `psi`, row by row."""
        _variance_rows(self.state, self.paper, Z, psi, *moments, *terms)

    def variance_block(self, Z: FloatArray, psi: FloatArray, moments: MomentArrays, terms: Terms) -> None:
        """Fill `terms`, which must be zeros, for rows `Z` of memberships `psi`, all rows of a rule at once."""
        A, R, U, rows = block_scratch(len(Z), self.n_features + 1)
        _variance_block(self.state, self.paper, Z, psi, *moments, A, R, U, rows, *terms)

    def add_moments(self, Z: FloatArray, psi: FloatArray, weight: float, moments: MomentArrays) -> None:
        """Add the rows `Z` of memberships `psi`, each of this `weight`, to the second `moments` of all slots."""
        _add_moments(self.state, self.paper, Z, psi, weight, *moments)
