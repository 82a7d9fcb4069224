"""Columns of texts: the features `mode=idle` and `mode=wash` are 1 where the column mode says so, and are told so.

A name proves nothing: `lag=1` may be any number. Features are told as texts only if several share a column (what stands
before the first "="), if at least one of them names a value that is no number, and if all of them were only 0 or 1 in
the initial batch, which the scaler has noted. In any doubt they are told as numbers.
"""

from collections import defaultdict
from collections.abc import Sequence

import numpy as np

from evolabel.core.rules.scaling import Scaler
from evolabel.streams.cells import is_number
from evolabel.typing import BoolArray, FloatArray

CLEAR = 0.8  # share of a rule's samples from which on a column is said to have a value, or not to have it
CLOSE = 0.25  # half the width of the range that a value claims, in distances between the scores of 0 and 1


def text_features(names: Sequence[str], binary: BoolArray) -> frozenset[str]:
    """The features that stand for values of columns of texts; `binary` tells which were only 0 or 1.

    Examples
    --------
    >>> import numpy as np
    >>> names = ["heat", "mode=idle", "mode=wash", "lag=1", "lag=2"]
    >>> sorted(text_features(names, np.array([False, True, True, True, True])))
    ['mode=idle', 'mode=wash']
    """
    columns = defaultdict(list)
    for name, only_0_and_1 in zip(names, binary, strict=True):
        column, value = column_and_value(name)
        if column and value:
            columns[column].append((name, value, bool(only_0_and_1)))
    return frozenset(name for features in columns.values() if _is_text(features) for name, _, _ in features)


def _is_text(features: list[tuple[str, str, bool]]) -> bool:
    several, known = len(features) > 1, all(only_0_and_1 for _, _, only_0_and_1 in features)
    return several and known and not all(is_number(value, ".") for _, value, _ in features)


def column_and_value(feature: str) -> tuple[str, str]:
    """What stands before and behind the first "="."""
    column, _, value = feature.partition("=")
    return column, value


def shares_on(scaler: Scaler, centres: FloatArray) -> FloatArray:
    """How many of the samples around each centre (rows, n_features) have a feature on; NaN where it is no 0 or 1."""
    off, on = scores_of_0_and_1(scaler)
    varied = on > off
    share = (centres - off) / np.where(varied, on - off, 1.0)
    constant = np.broadcast_to(scaler.x[:, 0], centres.shape)
    return np.where(scaler.binary, np.clip(np.where(varied, share, constant), 0.0, 1.0), np.nan)


def range_of_value(scaler: Scaler, place: int, *, on: bool) -> tuple[float, float]:
    """The range of scores that is meant by "mode is idle" (`on`) or "mode is not idle": close to 1, or to 0."""
    scores = scores_of_0_and_1(scaler)[:, place]
    reach = CLOSE * (scores[1] - scores[0])
    return float(scores[int(on)] - reach), float(scores[int(on)] + reach)


def scores_of_0_and_1(scaler: Scaler) -> FloatArray:
    """Where every feature would be off, and on, (2, n_features)."""
    return scaler.transform(np.repeat([[0.0], [1.0]], len(scaler.used), axis=1))
