"""`Standing`: how well a learner did on the plant, with intervals from blocks of rows."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from evolabel.typing import BoolArray, FloatArray

SCORED_FROM = 200  # first row that is scored; those before are the initial batch
SAMPLES = 3000
_BLOCK, _DRAWS = 100, 400  # rows, resamples


class Interval(NamedTuple):
    """A value, and the range in which it lies in 90 of 100 resamples of blocks of rows."""

    value: float
    low: float
    high: float


class Standing(NamedTuple):
    """Scores of the learner `name`; `note` is what a reader should know about them."""

    name: str
    macro_f1: Interval
    accuracy: Interval
    ms_per_row: float
    note: str = ""


def standing(name: str, decided: BoolArray, Y: FloatArray, seconds: float) -> Standing:
    """Return the scores of the decisions `decided` on the labels `Y`, both (n, K), which took `seconds`."""
    counts = np.stack([decided & (Y > 0.5), decided != (Y > 0.5)])  # found, wrong
    positives = np.stack([decided.astype(float) + Y, counts[0] * 2.0, counts[1] * 1.0])
    blocks = np.array([positives[:, at : at + _BLOCK].sum(axis=1) for at in range(0, len(Y), _BLOCK)])
    drawn = np.random.default_rng(0).integers(len(blocks), size=(_DRAWS, len(blocks)))
    resampled = blocks[drawn].sum(axis=1)
    whole = blocks.sum(axis=0)

    def of(score: Callable[[FloatArray], float]) -> Interval:
        low, high = np.quantile([score(sums) for sums in resampled], [0.05, 0.95])
        return Interval(round(float(score(whole)), 4), round(float(low), 4), round(float(high), 4))

    wrong_share = float(len(Y) * Y.shape[1])
    return Standing(
        name, of(_macro_f1), of(lambda sums: 1.0 - sums[2].sum() / wrong_share), round(1000.0 * seconds / len(Y), 3)
    )


def _macro_f1(sums: FloatArray) -> float:
    """Return the mean F1 of the labels from `sums` over rows: predicted plus true, twice the found, the wrong."""
    return float(np.mean(np.divide(sums[1], sums[0], out=np.zeros(len(sums[0])), where=sums[0] > 0)))
