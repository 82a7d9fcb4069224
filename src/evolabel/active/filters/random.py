"""`RandomFilter`: ask at random, at the same pace and under the same limit. What every selection has to beat."""

from collections.abc import Sequence
from math import ceil
from typing import ClassVar

import numpy as np

from evolabel.active.criteria import Criterion
from evolabel.active.filters.base import Arrays, Filter, Purse
from evolabel.kernels.selection import BoolArray
from evolabel.kernels.state import FloatArray
from evolabel.ranges import check_number

UNITS, TOKEN = 0, 1


class RandomFilter(Filter):
    """One question per token, at a moment drawn uniformly from the time until the next token comes in.

    Criteria are not looked at. Draws depend on the seed and the number of the token only.

    Parameters
    ----------
    seed : int
        Of the draws.
    """

    name: ClassVar[str] = "random"
    parameters: ClassVar[tuple[str, ...]] = ("seed",)
    blind: ClassVar[bool] = True

    def __init__(self, seed: int = 0) -> None:
        check_number("seed", seed, 0, whole=True)
        self.seed = int(seed)

    def begin(self, criteria: Sequence[Criterion], budget: float, width: int, least: int) -> None:
        """See `Filter`."""
        super().begin(criteria, budget, width, least)
        self._place = np.array([0, 1], np.int64)  # units that have come, token to be spent next

    def parts(self, scores: Sequence[FloatArray]) -> FloatArray:
        """Nothing of a row matters."""
        return np.zeros((len(scores[0]), 0))

    def walk(self, parts: FloatArray, purse: Purse, *, commit: bool) -> tuple[int, BoolArray]:
        """See `Filter`."""
        units, token = (int(number) for number in self._place)
        passed = min((self._moment(token) - units - 1) // self.width, len(parts))
        mask: BoolArray = np.zeros(self.width, np.bool_)
        while passed < len(parts):
            mask = self._chosen(units + passed * self.width, token, int(purse.free[passed]))
            if mask.any():
                break
            token += 1  # cannot be paid: rounding, or a bucket that others draw from
            passed = min((self._moment(token) - units - 1) // self.width, len(parts))
        if commit:
            self._pass(passed * self.width)
        return passed, mask

    def note(self, part: FloatArray, purse: Purse, *, asked: bool) -> None:
        """See `Filter`."""
        self._pass(self.width)

    def arrays(self) -> Arrays:
        """See `Filter`."""
        return {"place": self._place}

    def _moment(self, token: int) -> int:
        """The unit, counted from 1, at which a token is spent: not before it has been earned."""
        jitter = np.random.default_rng([self.seed, token]).random()
        return ceil((token + jitter) / self.budget)

    def _chosen(self, units: int, token: int, free: int) -> BoolArray:
        """The units of a row whose moment has come, as far as they can be paid."""
        mask = np.zeros(self.width, np.bool_)
        while self._moment(token) <= units + self.width and mask.sum() < free:
            mask[self._moment(token) - units - 1] = True
            token += 1
        return mask

    def _pass(self, units: int) -> None:
        self._place[UNITS] += units
        while self._moment(int(self._place[TOKEN])) <= self._place[UNITS]:
            self._place[TOKEN] += 1
