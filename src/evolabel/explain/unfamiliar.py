"""What of a sample a model has not seen: values out of range, in words, and the distance to its nearest rule."""

from dataclasses import dataclass

import numpy as np

from evolabel._utils.text import first_names
from evolabel.engine.compile import direct
from evolabel.engine.values import first_outside
from evolabel.model.protocols import Model
from evolabel.streams.tabular.column_coding import ColumnCoding, Unseen
from evolabel.streams.tabular.time_columns import time_feature_names
from evolabel.typing import FloatArray

_first_outside = direct(first_outside)


def describe_unfamiliar(
    x: FloatArray, ranges: FloatArray, coding: ColumnCoding | None, unseen: tuple[Unseen, ...] = ()
) -> tuple[str, ...]:
    """Return a text for each value of the raw sample `x`, (p,), that is far outside the `ranges` seen, or a new text.

    `coding` has the names of the features, `unseen` the texts of the sample without a feature.
    """
    found = describe_outside(x, ranges, coding)
    if coding is None and not unseen:
        return tuple(found)
    found += [f"{column} = {text} was never seen" for _, column, text in unseen]
    if coding is not None and coding.is_coded:
        named = {column for _, column, _ in unseen}
        for column, texts, span in zip(coding.columns, coding.categories, coding.spans, strict=True):
            if texts is not None and column not in named and np.all(x[span] == 0.0):
                found.append(f"{column} is none of the texts seen ({first_names(texts)})")
    return tuple(found)


def describe_outside(x: FloatArray, ranges: FloatArray, coding: ColumnCoding | None) -> list[str]:
    """Return a text for each value of the raw sample `x`, (p,), far outside the `ranges` seen; names from `coding`."""
    j, found = _first_outside(x, ranges, 0), list[str]()
    if j < 0:
        return found
    elapsed = set() if coding is None else {time_feature_names(column)[-1] for column in coding.times}
    names = [f"x{i}" for i in range(len(x))] if coding is None else coding.feature_names
    while j >= 0:
        low, high = -ranges[0, 0, j], ranges[1, 0, j]
        if names[j] not in elapsed:  # time goes on
            found.append(f"outside the range seen ({names[j]} = {x[j]:,.10g}, seen {low:,.10g} to {high:,.10g})")
        j = _first_outside(x, ranges, j + 1)
    return found


@dataclass(frozen=True)
class NoveltyCheck:
    """The `distance` of a sample to the nearest `rule`, and the `border` beyond which it is `novel` (inf: never).

    This is eq. (5) in the input space.
    Distance and border are root mean squared distances in spreads of that rule: 1 is typical of its own samples.
    """

    rule: int
    distance: float
    border: float
    novel: bool


def check_novelty(model: Model, distances: FloatArray) -> NoveltyCheck:
    """Return the novelty of a sample for `model`, from its mean squared `distances` (rules,) to all rules."""
    rules = model.trained()
    slot = int(np.argmin(distances)) + 1
    distance, border = float(distances[slot - 1]), novelty_borders(model)[slot - 1]
    return NoveltyCheck(
        int(rules.arrays.identity[slot]), float(np.sqrt(distance)), float(np.sqrt(border)), bool(distance > border)
    )


def novelty_borders(model: Model) -> FloatArray:
    """Return the mean squared distance beyond which a sample is novel, for each rule of `model`; inf: never."""
    return model.trained().novelty_bounds
