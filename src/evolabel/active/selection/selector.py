"""What a filter is: it compares a row with the last ones and with what can be paid, and says ask or pass."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import ClassVar, NamedTuple

import numpy as np

from evolabel.active.scoring.criteria import Criterion
from evolabel.active.scoring.score_table import ScoreTable
from evolabel.core.sizes import misfit
from evolabel.core.stored.array_checks import Expected, check_arrays, require
from evolabel.kernels.compile import direct
from evolabel.kernels.selection import best_scores
from evolabel.typing import Arrays, BoolArray, FloatArray, IntArray

_best_scores = direct(best_scores)


class Purse(NamedTuple):
    """What each of some rows may cost, if none before it is asked about (see `TokenBucket`)."""

    tokens: FloatArray
    """How full the purse looks: fuller than it is where questions hurry."""
    free: IntArray
    """What may be spent, at most."""


EMPTY = Purse(np.zeros(1), np.full(1, -1, np.int64))
"""With this a row is remembered, whatever it is worth: it cannot be paid."""


class Filter(ABC):
    """Decides which rows are asked about. Its memory is a few arrays; its decisions are the same in every run.

    Rows are `width` labels wide: 1 where whole samples are asked, which is also their price. A subclass turns scores
    into `parts`, one entry per row and all it needs to know of the row, and walks over them.
    """

    name: ClassVar[str] = ""
    parameters: ClassVar[tuple[str, ...]] = ()
    by_label: ClassVar[bool] = False
    """Does a row of `parts` have a value for every label?"""
    blind: ClassVar[bool] = False
    """Whether criteria do not matter to it."""

    ease = 1.0
    """How much easier than written the thresholds of criteria are at the moment."""

    def begin(self, criteria: Sequence[Criterion], budget: float, width: int, least: int) -> None:
        """Forget everything. `least` labels are asked at a time, if any."""
        self.criteria = tuple(criteria)
        self.budget = budget
        self.asked_least = least
        self.resize(width)

    def resize(self, width: int) -> None:
        """Make room for rows of this width; what is remembered stays."""
        self.width = width
        self.least = min(self.asked_least, width)

    @abstractmethod
    def parts(self, scores: ScoreTable) -> FloatArray:
        """What the filter needs to know of each row, from the scores of all criteria."""

    def weighed(self, parts: FloatArray, worth: FloatArray) -> FloatArray:
        """The parts of rows that are worth this much besides their scores, (n,); no matter to most filters."""
        return parts

    @abstractmethod
    def walk(self, parts: FloatArray, purse: Purse, *, commit: bool) -> tuple[int, BoolArray]:
        """The first row to ask about and the labels to ask for; the number of rows if there is none.

        With `commit` the rows before it are remembered; without it nothing is.
        """

    @property
    @abstractmethod
    def row_shape(self) -> tuple[int, ...]:
        """Shape of one row of `parts`."""

    def check_rows(self, parts: FloatArray, purse: Purse) -> None:
        """InternalError unless the parts of the rows have their shape and the purse has an entry for every row."""
        if parts.shape[1:] != self.row_shape or not len(parts) <= len(purse.free) == len(purse.tokens):
            arrays = {"parts": parts, "tokens": purse.tokens, "free": purse.free}
            raise misfit(arrays, f"rows of shape {self.row_shape}")

    def fits(self, part: FloatArray) -> bool:
        """Can this row be noted? Kernels do not look at bounds. Labels may have appeared since it was made."""
        *rest, last = self.row_shape
        narrower = self.by_label and 0 < part.shape[-1] < last
        return part.shape[:-1] == tuple(rest) and (part.shape[-1] == last or narrower)

    @abstractmethod
    def note(self, part: FloatArray, free: int, *, asked: bool) -> None:
        """Remember one row that was asked about, or passed; `free` is what it could have cost."""

    def __repr__(self) -> str:
        told = ", ".join(f"{name}={getattr(self, name)!r}" for name in self.parameters)
        return f"{type(self).__name__}({told})"

    def arrays(self) -> Arrays:
        """The memory, by name."""
        return {}

    def table(self) -> dict[str, Expected]:
        """What a stored memory must be, by name."""
        return {}

    def restore(self, arrays: Arrays, units: int) -> None:
        """Take over a stored memory, from when so many units were seen; DataError if it is none of this filter."""
        check_arrays(arrays, self.table())
        if "tally" in arrays:
            check_ring(arrays["tally"], len(arrays["ring"]))
        for name, array in self.arrays().items():
            array[...] = arrays[name]


def check_ring(tally: IntArray, size: int) -> None:
    """Kernels do not look at bounds, so stored counts must not lead them beyond a window of this size."""
    filled, place = tally.tolist()
    require(filled <= size and place < size, "tally", f"counts within a window of {size}")
    require(filled == size or place == filled, "tally", "the next row behind the last one")


def by_sample(scores: FloatArray) -> FloatArray:
    """Scores of whole samples: that of the label most worth asking."""
    if scores.ndim == 1:
        return scores
    best = np.empty(len(scores))
    _best_scores(np.ascontiguousarray(scores, np.float64), best)
    return best


def by_label(scores: FloatArray, width: int) -> FloatArray:
    """Scores of every label, (n, width); those of whole samples hold for all of them: (n, 1), to be broadcast."""
    if scores.ndim == 2 and scores.shape[1] == width:
        return scores
    return by_sample(scores)[:, None]


def widened(part: FloatArray, width: int) -> FloatArray:
    """A row from before labels appeared: nothing is known of them, so they score 0."""
    missing = width - part.shape[-1]
    return part if missing == 0 else np.pad(part, [(0, 0)] * (part.ndim - 1) + [(0, missing)])
