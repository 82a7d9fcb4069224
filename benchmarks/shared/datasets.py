"""The paper's five data sets under the benchmark protocol: shuffled by a seed, the first fifth is the initial batch."""

from functools import cache
from typing import NamedTuple

import numpy as np

from evolabel.streams import Dataset, load_dataset
from evolabel.typing import FloatArray

NAMES = ("emotions", "yeast", "water-quality", "birds", "mediamill-5k")
INITIAL_SHARE = 0.2
FIRST_THIRD = 1 / 3


class Split(NamedTuple):
    """Rows in the order of the protocol; the first `initial` are the initial batch."""

    X: FloatArray
    Y: FloatArray
    initial: int


def load(name: str, seed: int) -> Split:
    """Rows of the set `name`, shuffled by `seed`; nominal features as codes, as in all published numbers."""
    rows = _read(name).shuffled(seed)
    return Split(rows.X, rows.Y, round(INITIAL_SHARE * len(rows)))


def load_ordered(name: str, later: int = 0) -> Split:
    """Rows in their own order after the first third: the paper's protocol where there is no official split.

    The stream starts `later` rows after that.
    """
    rows = _read(name)
    return Split(rows.X, rows.Y, round(FIRST_THIRD * len(rows)) + later)


def turned(split: Split, turn: float, *, backwards: bool = False) -> Split:
    """`split` rotated: the first share `turn` of its rows moves to the end."""
    order = np.arange(len(split.X))[:: -1 if backwards else 1]
    order = np.roll(order, -round(turn * len(order)))
    return Split(split.X[order], split.Y[order], split.initial)


@cache
def _read(name: str) -> Dataset:
    return load_dataset(name, nominal="codes")
