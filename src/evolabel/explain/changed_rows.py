"""Rows that differ from a sample in one feature, which counterfactuals are chosen from."""

from typing import NamedTuple

import numpy as np

from evolabel.stages.protocols import Model
from evolabel.stages.rules.stream_terms import scaled_moments
from evolabel.typing import FloatArray
from evolabel.words.text_columns import flag_features, text_columns

DIGITS = 4  # printed of a value; more where the change is smaller
_TINY = float(np.finfo(np.float64).tiny)  # what is smaller is printed with the digits of the change: it lies beside 0
_LAST_PLACE = -323  # power of ten below which there are no numbers

Texts = dict[int, list[int]]
"""For each 0/1 feature of a categorical column the features of the whole column, by their numbers; none for a flag."""


class FeatureChange(NamedTuple):
    """A feature by its number, its new raw value, and the change in standard deviations of the scaled stream."""

    feature: int
    after: float
    size: float


def column_texts(model: Model, features: list[str]) -> Texts:
    """Return the 0/1 features of all categorical columns and flags of `model`, whose features have these names."""
    assert model.scaler is not None
    columns, flags = text_columns(features, model.scaler.binary), flag_features(features)
    return {j: [] if name in flags else column for name, column in columns.items() for j in column}


def turned_value(x: FloatArray, j: int, texts: Texts) -> float | None:
    """Return what feature `j` of `texts` can become in the sample `x`: 1, or 0 if it is a flag; None for neither."""
    if x[j] == 0.0:
        return 1.0
    return 0.0 if x[j] == 1.0 and not texts[j] else None


def changed_row(x: FloatArray, j: int, value: float, texts: Texts) -> FloatArray:
    """Return a copy of `x` with feature `j` at `value`; other `texts` of its column become 0."""
    other = x.copy()
    other[texts.get(j, [])] = 0.0
    other[j] = value
    return other


def sized_change(model: Model, x: FloatArray, j: int, value: float, texts: Texts) -> FeatureChange:
    """Return the change of feature `j` of the raw sample `x` to `value`, with its size."""
    pair = model.scale(np.array([x, changed_row(x, j, value, texts)]))
    moved = np.nan_to_num(pair[1] - pair[0]) / scaled_moments(model)[1]
    return FeatureChange(j, value, float(np.linalg.norm(moved)))


def rounded_away(value: float, start: float) -> float:
    """Return `value` with four digits, not nearer to `start` than it is; with more where the two are closer.

    Examples
    --------
    >>> rounded_away(5.30251, 6.344), rounded_away(1400.12, 1390.0), rounded_away(0.0, 1.0)
    (5.302, 1401.0, 0.0)
    >>> rounded_away(1700000210.123, 1700000123.25), rounded_away(5e-324, -1.2)
    (1700000211.0, 0.001)
    """
    if value == 0.0 or value == start or not np.isfinite(value):
        return value
    change = abs(value - start)
    first = int(np.floor(np.log10(abs(value) if abs(value) >= _TINY else max(abs(value), change))))
    last = max(min(first - DIGITS + 1, int(np.floor(np.log10(change))) - 1), _LAST_PLACE)
    unit = 10.0**last
    steps = value / unit or np.copysign(0.5, value)  # of a value beside 0 the quotient may be too small for a number
    steps = np.ceil(steps) if value > start else np.floor(steps)
    return float(f"{steps * unit:.{min(first - last + 1, 17)}g}")
