"""`TokenFilter`: with a token in hand, ask about a sample that ranks high by several criteria."""

from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from evolabel._utils.validation import check_number
from evolabel.active.scoring.criteria import Criterion
from evolabel.active.scoring.score_table import ScoreTable
from evolabel.active.selection.selector import EMPTY, Filter, Purse, by_sample
from evolabel.core.stored.array_checks import Expected, floats, whole
from evolabel.kernels.compile import direct
from evolabel.kernels.selection import walk_tokens
from evolabel.typing import Arrays, BoolArray, FloatArray

LONGEST = 100_000  # samples a window may hold: every row is compared with all of them

_walk_tokens = direct(walk_tokens)


class TokenFilter(Filter):
    """Ask about a whole sample if its rank sum is among the best generosity * budget * tok of the last ones.

    The rank of a sample by a criterion is the share of the window it beats, so criteria of any scale can be added;
    each counts by its weight. `tok` are the samples that may be asked about, more in haste.

    Parameters
    ----------
    generosity : float
        Share of the window that is good enough for one token, in units of the budget (1 / budget is first come).
    window : int
        Samples compared with, at most 100,000.
    """

    name: ClassVar[str] = "tokens"
    parameters: ClassVar[tuple[str, ...]] = ("generosity", "window")

    def __init__(self, generosity: float = 2.0, window: int = 100) -> None:
        check_number("generosity", generosity, 0, open_low=True)
        check_number("window", window, 1, LONGEST, whole=True)
        self.generosity = float(generosity)
        self.window = int(window)

    def begin(self, criteria: Sequence[Criterion], budget: float, width: int, least: int) -> None:
        """See `Filter`."""
        super().begin(criteria, budget, width, least)
        self._weights = np.array([criterion.weight for criterion in self.criteria], np.float64)
        self._ring = np.zeros((len(self.criteria), self.window))
        self._sums = np.zeros(self.window)
        self._tally = np.zeros(2, np.int64)

    def parts(self, scores: ScoreTable) -> FloatArray:
        """Scores of whole samples, (n, criteria)."""
        table = np.empty((len(scores), len(scores.sizes)))
        for place, column in enumerate(scores):
            table[:, place] = by_sample(column)
        return table

    def walk(self, parts: FloatArray, purse: Purse, *, commit: bool) -> tuple[int, BoolArray]:
        """See `Filter`."""
        self.check_rows(parts, purse)
        at = _walk_tokens(
            parts,
            self._weights,
            purse.tokens,
            purse.free,
            self.width,
            self.generosity * self.budget,
            self._ring,
            self._sums,
            self._tally,
            commit,
        )
        return at, np.ones(self.width, np.bool_)

    @property
    def row_shape(self) -> tuple[int, ...]:
        """See `Filter`."""
        return (len(self.criteria),)

    def note(self, part: FloatArray, free: int, *, asked: bool) -> None:
        """See `Filter`."""
        self.walk(part[None], EMPTY, commit=True)

    def arrays(self) -> Arrays:
        """See `Filter`."""
        return {"ring": self._ring.T, "sums": self._sums, "tally": self._tally}

    def table(self) -> dict[str, Expected]:
        """See `Filter`."""
        scores = {"ring": self._ring.T.shape, "sums": self._sums.shape}
        table = {name: floats(*shape, low=0.0, high=np.inf) for name, shape in scores.items()}
        return table | {"tally": whole(2)}
