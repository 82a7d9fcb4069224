"""`QuantileSelector`: asks for the labels, or samples, whose score is high among the last ones. The default."""

from collections.abc import Sequence
from typing import Annotated, Any, ClassVar, NamedTuple

import numpy as np

from evolabel._utils.validation import check_number
from evolabel.active.loops.scores import combine_rows
from evolabel.active.loops.selection import FILLED, NEXT, store_row, walk_quantile
from evolabel.active.scoring.criteria import Criterion
from evolabel.active.scoring.scored_rows import ScoreTable
from evolabel.active.selection.selector import Selector, check_window, widened
from evolabel.active.selection.token_bucket import Allowance
from evolabel.core.rows import misfit
from evolabel.core.schema import Schema, array, new_entries
from evolabel.engine.compile import direct
from evolabel.typing import Arrays, BoolArray, FloatArray, IntArray

_SHORTEST_WINDOW, _LONGEST_WINDOW = 15, 100  # samples
_SCORES_IN_WINDOW = 1500  # scores that the window holds, within these bounds

_walk_quantile, _combine_rows, _store_row = direct(walk_quantile), direct(combine_rows), direct(store_row)


class ScoreWindow(NamedTuple):
    """The scores of the last rows."""

    ring: Annotated[FloatArray, array("row", "label", low=0.0, high=np.inf)]
    """Scores that a `QuantileSelector` compares; one column where whole samples are asked about."""
    counters: Annotated[IntArray, array(2)]
    """Rows in the window, place of the next one."""


class QuantileSelector(Selector):
    """Asks for a label if its score is among the best share tok / (K tau) of a running window.

    `tok` is the available budget (`Allowance.paced`): the more is available, the more is asked, all labels of a sample
    once it pays for `tau` whole samples. Scores of several criteria are multiplied, each to the power of its weight.
    Where labels are rare, a fixed band as in the paper hardly ever asks; a quantile does. Where whole samples are
    counted, K = 1.

    Parameters
    ----------
    tau : float
        Samples over which the available budget is meant to be spent.
    """

    name: ClassVar[str] = "quantile"
    by_label: ClassVar[bool] = True
    takes_priorities: ClassVar[bool] = True
    parameters: ClassVar[tuple[str, ...]] = ("tau",)
    schema: ClassVar[Schema[Any]] = Schema(ScoreWindow)

    def __init__(self, tau: float = 5.0) -> None:
        check_number("tau", tau, 0, open_low=True)
        self.tau = float(tau)

    def reset(self, criteria: Sequence[Criterion], budget: float, width: int, least: int) -> None:
        """Empty the window; `criteria`, `budget`, `width` and `least` as for `Selector.reset`."""
        super().reset(criteria, budget, width, least)
        self._powers = np.array([criterion.weight for criterion in criteria], np.float64)

    def sizes(self) -> dict[str, int]:
        """Lengths of the axes of the arrays, by name."""
        return {**super().sizes(), "row": _window(self.width)}

    def resize(self, width: int) -> None:
        """Extend the window to rows of this `width`; it keeps its latest samples, the oldest first."""
        (filled, following), length = self.state.counters.tolist(), _window(width)
        latest = (np.arange(following - filled, following) % len(self.state.ring))[-length:]
        n = len(latest)
        self._rearrange(width, {"row": np.append(latest, new_entries(0, length - n))})
        self.state.counters[FILLED], self.state.counters[NEXT] = n, n % length

    def values(self, scores: ScoreTable) -> FloatArray:
        """Products of the `scores`, (n, width)."""
        if len(scores.sizes) != len(self._powers):
            raise misfit({"scores": scores.table}, f"{len(self._powers)} criteria")
        values = np.empty((len(scores), self.width))
        _combine_rows(scores.table, scores.sizes, self._powers, values)
        return values

    def weighted(self, values: FloatArray, weights: FloatArray) -> FloatArray:
        """`values` of rows times their `weights`, (n,)."""
        return values * weights[:, None]

    def select(self, values: FloatArray, allowance: Allowance, *, commit: bool) -> tuple[int, BoolArray]:
        """First row to ask about and its labels, for `values` and `allowance`; `commit`: record the rows before it."""
        self.check_rows(values, allowance)
        mask, (ring, counters) = np.zeros(self.width, np.bool_), self.state
        at = _walk_quantile(
            values, allowance.paced, allowance.limit, self.tau, self.least, ring, counters, mask, commit
        )
        return at, mask

    @property
    def row_shape(self) -> tuple[int, ...]:
        """Shape of one entry of `values`."""
        return (self.width,)

    def record(self, value: FloatArray, limit: int, *, cost: int) -> None:
        """Add the `value` of a row to the window, whatever its `limit` and the `cost` of its question."""
        if not self.fits(value):
            raise misfit({"value": value}, f"rows of {self.width} labels")
        _store_row(widened(value, self.width), self.state.ring, self.state.counters)

    def read(self, arrays: Arrays, units: int) -> Any:
        """The state in `arrays`, after any number of `units`; DataError if its counters point beyond the window."""
        stored = super().read(arrays, units)
        check_window(stored.counters, len(stored.ring))
        return stored


def _window(width: int) -> int:
    """Rows in the window, of this `width`."""
    return max(_SHORTEST_WINDOW, min(_LONGEST_WINDOW, _SCORES_IN_WINDOW // width))
