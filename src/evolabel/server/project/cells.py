"""Values of features in samples, as requests and records hold them."""

import math
from collections import Counter
from collections.abc import Iterable, Sequence

from evolabel.engine.bounds import MAX_VALUE
from evolabel.errors import DataError
from evolabel.server.project.settings import Feature


def count_unseen(features: Sequence[Feature], samples: Iterable[Sequence[object]]) -> Counter[tuple[str, object]]:
    """Return how often the cells of `samples` hold texts that are none of the choices of `features`.

    The keys are the name of the feature and the text.
    """
    texts = [(place, feature) for place, feature in enumerate(features) if feature.choices]
    return Counter(
        (feature.name, cells[place])
        for cells in samples
        for place, feature in texts
        if cells[place] is not None and cells[place] not in feature.choices
    )


def are_plain_numbers(values: Sequence[object]) -> bool:
    """Return whether all `values` are floats that `read_cell` returns as they are, for features of numbers."""
    return {*map(type, values)} == {float} and all(map(MAX_VALUE.__ge__, map(abs, values)))  # type: ignore[arg-type]


def read_cell(feature: Feature, value: object) -> float | str | None:
    """Return `value` as a number, a text or None for `feature`; DataError for anything else."""
    if type(value) is float and feature.kind == "number" and abs(value) <= MAX_VALUE:
        return value  # most values, so they come first
    if value is None:
        return None
    if feature.kind == "text":
        if not isinstance(value, str):
            raise DataError(f"{feature.name!r} is {value!r}; it must be a text or null")
        return value
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise DataError(f"{feature.name!r} is {value!r}; it must be a number or null")
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if not abs(number) <= MAX_VALUE:
        raise DataError(f"{feature.name!r} is {number:g}; it must be a number of at most {MAX_VALUE:g}, or null")
    return number
