"""Values of a sample that the model has never seen anything like, in words."""

import numpy as np

from evolabel._utils.text import first_names
from evolabel.engine.compile import direct
from evolabel.model.loops.ranges import first_outside
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
    said = describe_outside(x, ranges, coding)
    if coding is None and not unseen:
        return tuple(said)
    said += [f"{column} = {text} was never seen" for _, column, text in unseen]
    if coding is not None and coding.is_coded:
        named = {column for _, column, _ in unseen}
        for column, texts, span in zip(coding.columns, coding.categories, coding.spans, strict=True):
            if texts is not None and column not in named and np.all(x[span] == 0.0):
                said.append(f"{column} is none of the texts seen ({first_names(texts)})")
    return tuple(said)


def describe_outside(x: FloatArray, ranges: FloatArray, coding: ColumnCoding | None) -> list[str]:
    """Return a text for each value of the raw sample `x`, (p,), far outside the `ranges` seen; names from `coding`."""
    j, said = _first_outside(x, ranges, 0), list[str]()
    if j < 0:
        return said
    elapsed = set() if coding is None else {time_feature_names(column)[-1] for column in coding.times}
    names = [f"x{i}" for i in range(len(x))] if coding is None else coding.feature_names
    while j >= 0:
        low, high = -ranges[0, 0, j], ranges[1, 0, j]
        if names[j] not in elapsed:  # time goes on
            said.append(f"outside the range seen ({names[j]} = {x[j]:,.10g}, seen {low:,.10g} to {high:,.10g})")
        j = _first_outside(x, ranges, j + 1)
    return said
