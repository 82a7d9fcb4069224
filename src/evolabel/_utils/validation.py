"""Checks of numbers; the error names the parameter, its value and the allowed range."""

from math import inf
from numbers import Real

from evolabel.errors import ParameterError


def check_number(
    name: str,
    value: object,
    low: float,
    high: float = inf,
    *,
    open_low: bool = False,
    whole: bool = False,
    also: str = "",
) -> float:
    """Return `value` as a float, or raise ParameterError if it is not a finite number within a range.

    The range is `low` <= `value` <= `high`, with `open_low` `low` < `value`. With `whole`, only whole numbers are
    allowed. The message begins with `name` and ends with `also`, a text on other allowed values.
    """
    if not isinstance(value, bool) and isinstance(value, Real):
        number = _as_float(value)
        inside = (low < number if open_low else low <= number) and number <= high and number < inf
        if inside and (not whole or number == int(number)):
            return number
    kind = "a whole number" if whole else "a number"
    bounds = f"{'>' if open_low else '>='} {low:g}" + ("" if high == inf else f" and <= {high:g}")
    raise ParameterError(f"{name}={value!r} is not allowed; use {kind} {bounds}{also}")


def _as_float(value: Real) -> float:
    """Return `value` as a float, infinity if it is too large for one."""
    try:
        return float(value)
    except OverflowError:
        return inf


def whole_number(name: str, value: object, low: int) -> int:
    """Return `value` as an int, or raise ParameterError with `name` if it is not a whole number >= `low`."""
    return int(check_number(name, value, low, whole=True))
