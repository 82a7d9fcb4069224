"""`TokenSelector`: asks about samples that rank high by several criteria while a token is available."""

from collections.abc import Sequence
from typing import Annotated, Any, ClassVar, NamedTuple

import numpy as np

from evolabel._utils.validation import check_number
from evolabel.active.loops.selection import walk_tokens
from evolabel.active.scoring.criteria import Criterion
from evolabel.active.scoring.scored_rows import ScoreTable
from evolabel.active.selection.selector import NOTHING_ALLOWED, Selector, by_sample, check_window
from evolabel.active.selection.token_bucket import Allowance
from evolabel.core.schema import Schema, array
from evolabel.engine.compile import direct
from evolabel.typing import Arrays, BoolArray, FloatArray, IntArray

_LONGEST_WINDOW = 100_000  # samples; every row is compared with all of them

_walk_tokens = direct(walk_tokens)


class RankWindow(NamedTuple):
    """The scores and ranks of the last samples."""

    ring: Annotated[FloatArray, array("row", "criterion", low=0.0, high=np.inf)]
    """Scores that a `TokenSelector` compares, by each criterion."""
    sums: Annotated[FloatArray, array("row", low=0.0, high=np.inf)]
    """Rank sums of the same samples."""
    counters: Annotated[IntArray, array(2)]
    """Samples in the window, place of the next one."""


class TokenSelector(Selector):
    """Asks about a whole sample if its rank sum is among the best generosity * budget * tok of the last ones.

    The rank of a sample by a criterion is the share of the window it beats, so criteria of any scale can be added;
    each counts by its weight. `tok` is the available budget in samples (`Allowance.paced`).

    Parameters
    ----------
    generosity : float
        Share of the window that is good enough for one token, in units of the budget (1 / budget is first come).
    window : int
        Samples compared with, at most 100,000.
    """

    name: ClassVar[str] = "tokens"
    parameters: ClassVar[tuple[str, ...]] = ("generosity", "window")
    schema: ClassVar[Schema[Any]] = Schema(RankWindow)

    def __init__(self, generosity: float = 2.0, window: int = 100) -> None:
        check_number("generosity", generosity, 0, open_low=True)
        check_number("window", window, 1, _LONGEST_WINDOW, whole=True)
        self.generosity = float(generosity)
        self.window = int(window)

    def reset(self, criteria: Sequence[Criterion], budget: float, width: int, least: int) -> None:
        """Empty the window; `criteria`, `budget`, `width` and `least` as for `Selector.reset`."""
        super().reset(criteria, budget, width, least)
        self._weights = np.array([criterion.weight for criterion in self.criteria], np.float64)

    def sizes(self) -> dict[str, int]:
        """Lengths of the axes of the arrays, by name."""
        return {**super().sizes(), "row": self.window}

    def values(self, scores: ScoreTable) -> FloatArray:
        """`scores` of whole samples, (n, criteria)."""
        table = np.empty((len(scores), len(scores.sizes)))
        for place, column in enumerate(scores):
            table[:, place] = by_sample(column)
        return table

    def select(self, values: FloatArray, allowance: Allowance, *, commit: bool) -> tuple[int, BoolArray]:
        """First row to ask about and all labels, for `values` and `allowance`; `commit`: record the rows before it."""
        self.check_rows(values, allowance)
        at = _walk_tokens(
            values,
            self._weights,
            allowance.paced,
            allowance.limit,
            self.width,
            self.generosity * self.budget,
            self.state.ring,
            self.state.sums,
            self.state.counters,
            commit,
        )
        return at, np.ones(self.width, np.bool_)

    @property
    def row_shape(self) -> tuple[int, ...]:
        """Shape of one entry of `values`."""
        return (len(self.criteria),)

    def record(self, value: FloatArray, limit: int, *, cost: int) -> None:
        """Add the `value` of a row to the window, whatever its `limit` and the `cost` of its question."""
        self.select(value[None], NOTHING_ALLOWED, commit=True)

    def read(self, arrays: Arrays, units: int) -> Any:
        """The state in `arrays`, after any number of `units`; DataError if its counters point beyond the window."""
        stored = super().read(arrays, units)
        check_window(stored.counters, self.window)
        return stored
