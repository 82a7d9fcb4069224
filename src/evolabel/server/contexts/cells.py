"""The value of a feature in a sample, as requests and records hold it."""

import math

from evolabel.errors import DataError
from evolabel.kernels.bounds import MAX_VALUE
from evolabel.server.contexts.settings import Feature


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
