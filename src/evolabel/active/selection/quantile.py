"""`QuantileFilter`: ask for the labels, or the samples, that stand out from the last ones. The measured default."""

from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from evolabel._utils.validation import check_number
from evolabel.active.scoring.criteria import Criterion
from evolabel.active.scoring.score_table import ScoreTable
from evolabel.active.selection.selector import Filter, Purse, widened
from evolabel.core.sizes import misfit
from evolabel.core.stored.array_checks import Expected, floats, whole
from evolabel.kernels.compile import direct
from evolabel.kernels.scores import combine_rows
from evolabel.kernels.selection import FILLED, NEXT, remember, walk_quantile
from evolabel.typing import Arrays, BoolArray, FloatArray

SHORTEST, LONGEST, SCORES = 15, 100, 1500  # samples the window holds, and scores it aims at

_walk_quantile, _combine_rows, _remember = direct(walk_quantile), direct(combine_rows), direct(remember)


class QuantileFilter(Filter):
    """Ask for a label if its score is among the best tok / (K tau) of a running window, tok = how full the purse looks.

    The fuller the purse, the more is asked: all of a sample once it pays for `tau` whole samples. Scores of several
    criteria are multiplied, each to the power of its weight. A fixed band, as in the paper, starves where
    labels are rare; a quantile does not. Where whole samples are counted, a sample is one label wide, K = 1.

    Parameters
    ----------
    tau : float
        Samples over which the purse is meant to be spent.
    """

    name: ClassVar[str] = "quantile"
    by_label: ClassVar[bool] = True
    parameters: ClassVar[tuple[str, ...]] = ("tau",)

    def __init__(self, tau: float = 5.0) -> None:
        check_number("tau", tau, 0, open_low=True)
        self.tau = float(tau)

    def begin(self, criteria: Sequence[Criterion], budget: float, width: int, least: int) -> None:
        """See `Filter`."""
        self._ring = np.zeros((0, width))
        self._tally = np.zeros(2, np.int64)
        self._powers = np.array([criterion.weight for criterion in criteria], np.float64)
        super().begin(criteria, budget, width, least)

    def resize(self, width: int) -> None:
        """The window keeps its latest samples."""
        super().resize(width)
        filled, following = (int(place) for place in self._tally)
        latest = np.roll(self._ring, -following, axis=0)[len(self._ring) - filled :]  # oldest first
        length = max(SHORTEST, min(LONGEST, SCORES // width))
        kept = widened(latest[-length:], width)
        self._ring = np.zeros((length, width))
        self._ring[: len(kept)] = kept
        self._tally[FILLED], self._tally[NEXT] = len(kept), len(kept) % length

    def parts(self, scores: ScoreTable) -> FloatArray:
        """Products of the scores, (n, width)."""
        if len(scores.sizes) != len(self._powers):
            raise misfit({"scores": scores.table}, f"{len(self._powers)} criteria")
        parts = np.empty((len(scores), self.width))
        _combine_rows(scores.table, scores.sizes, self._powers, parts)
        return parts

    def weighed(self, parts: FloatArray, worth: FloatArray) -> FloatArray:
        """See `Filter`."""
        return parts * worth[:, None]

    def walk(self, parts: FloatArray, purse: Purse, *, commit: bool) -> tuple[int, BoolArray]:
        """See `Filter`."""
        self.check_rows(parts, purse)
        mask = np.zeros(self.width, np.bool_)
        at = _walk_quantile(
            parts, purse.tokens, purse.free, self.tau, self.least, self._ring, self._tally, mask, commit
        )
        return at, mask

    @property
    def row_shape(self) -> tuple[int, ...]:
        """See `Filter`."""
        return (self.width,)

    def note(self, part: FloatArray, free: int, *, asked: bool) -> None:
        """See `Filter`."""
        if not self.fits(part):
            raise misfit({"part": part}, f"rows of {self.width} labels")
        _remember(widened(part, self.width), self._ring, self._tally)

    def arrays(self) -> Arrays:
        """See `Filter`."""
        return {"ring": self._ring, "tally": self._tally}

    def table(self) -> dict[str, Expected]:
        """See `Filter`."""
        return {"ring": floats(*self._ring.shape, low=0.0, high=np.inf), "tally": whole(2)}
