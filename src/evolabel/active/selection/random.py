"""`RandomSelector`: asks at random, at the same pace and under the same limit: the baseline of every selection."""

from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache
from typing import Annotated, Any, ClassVar, NamedTuple

import numpy as np

from evolabel._utils.validation import check_number
from evolabel.active.scoring.criteria import Criterion
from evolabel.active.scoring.scored_rows import ScoreTable
from evolabel.active.selection.selector import Selector
from evolabel.active.selection.token_bucket import Allowance, exact_share
from evolabel.core.schema import Schema, array
from evolabel.core.stored_checks import require
from evolabel.errors import ParameterError
from evolabel.typing import Arrays, BoolArray, FloatArray, IntArray

_UNITS, _TOKEN = 0, 1  # entries of `place`
_BLOCK = 1024  # tokens drawn together


class DrawnSoFar(NamedTuple):
    """How far tokens were drawn."""

    place: Annotated[IntArray, array(2, start=np.array([0, 1]))]
    """Units that have come, and the token to be spent next, of a `RandomSelector`."""


class RandomSelector(Selector):
    """One question per token, at a moment drawn uniformly from the time until the next token comes in.

    Scores are ignored. Draws depend on the seed and the number of the token only, and no two tokens are spent
    at the same moment: n units are asked about floor(budget * n) times, or once less.

    Parameters
    ----------
    seed : int
        Of the draws.
    """

    name: ClassVar[str] = "random"
    parameters: ClassVar[tuple[str, ...]] = ("seed",)
    ignores_criteria: ClassVar[bool] = True
    schema: ClassVar[Schema[Any]] = Schema(DrawnSoFar)

    def __init__(self, seed: int = 0) -> None:
        check_number("seed", seed, 0, whole=True)
        self.seed = int(seed)

    def reset(self, criteria: Sequence[Criterion], budget: float, width: int, least: int) -> None:
        """Begin with the first token; `criteria`, `budget`, `width` and `least`, which must be 1, as for `Selector`."""
        if least > 1:
            raise ParameterError(f"min_labels={least} is not for random questions; use another selection")
        super().reset(criteria, budget, width, least)

    def values(self, scores: ScoreTable) -> FloatArray:
        """Empty rows, one per row of `scores`."""
        return np.zeros((len(scores), 0))

    def select(self, values: FloatArray, allowance: Allowance, *, commit: bool) -> tuple[int, BoolArray]:
        """First row and labels drawn, whatever their `values`; `commit`: count the rows before it.

        A moment that `allowance` cannot pay, because others draw from the bucket, passes.
        """
        row, label = np.divmod(self._moments_within(len(values)) - self.state.place[_UNITS] - 1, self.width)
        payable = np.flatnonzero(allowance.limit[row] > 0)
        passed = int(row[payable[0]]) if len(payable) else len(values)
        mask: BoolArray = np.zeros(self.width, np.bool_)
        if passed < len(values):
            mask[label[row == passed][: allowance.limit[passed]]] = True
        if commit:
            self._pass(passed)
        return passed, mask

    @property
    def row_shape(self) -> tuple[int, ...]:
        """Shape of one entry of `values`."""
        return (0,)

    def record(self, value: FloatArray, limit: int, *, cost: int) -> None:
        """Count a row, whatever its `value` and `limit` and the `cost` of its question."""
        self._pass(1)

    def read(self, arrays: Arrays, units: int) -> Any:
        """The state in `arrays`; DataError if more than `units` have come, or the token does not follow, up to one."""
        stored = super().read(arrays, units)
        come, token = stored.place.tolist()
        earned = int(exact_share(self.budget) * come)
        require(come <= units, "place", f"at most {units} units")
        require(max(earned, 1) <= token <= earned + 1, "place", f"token {max(earned, 1)} or {earned + 1}")
        return stored

    def _moments_within(self, rows: int) -> IntArray:
        """The units of the next rows at which a token is to be spent."""
        end, token = self.state.place[_UNITS] + rows * self.width, int(self.state.place[_TOKEN])
        moments = random_moments(self.budget, self.seed, token, int(self.budget * end) + 1)
        return moments[: np.searchsorted(moments, end, side="right")]

    def _pass(self, rows: int) -> None:
        self.state.place[_TOKEN] += len(self._moments_within(rows))
        self.state.place[_UNITS] += rows * self.width


def random_moments(budget: float, seed: int, first: int, last: int) -> IntArray:
    """The units, counted from 1, at which the tokens from `first` to `last` are spent: not before they are earned.

    Each unit earns `budget` tokens; `seed` is the seed of the draws.
    """
    share = exact_share(budget)
    blocks = range(first // _BLOCK, last // _BLOCK + 1)
    moments = np.concatenate([_block_of_moments(share, seed, block) for block in blocks])
    return moments[first - blocks.start * _BLOCK : last + 1 - blocks.start * _BLOCK]


@lru_cache(maxsize=64)
def _block_of_moments(share: Fraction, seed: int, block: int) -> IntArray:
    """The moments of a block of tokens; each lies between the unit that earns its token and the one before the next."""
    tokens = range(block * _BLOCK, (block + 1) * _BLOCK + 1)
    earned = np.array([-(-token * share.denominator // share.numerator) for token in tokens], np.int64)
    jitter = np.random.default_rng([seed, block]).random(_BLOCK)
    return earned[:-1] + (jitter * np.diff(earned)).astype(np.int64)
