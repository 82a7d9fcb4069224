"""A check of numbers that says which parameter is wrong, what came, and what is allowed."""

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
    """The number, or ParameterError unless it is one of the range; `also` tells what else would be allowed."""
    if not isinstance(value, bool) and isinstance(value, Real):
        number = _as_float(value)
        inside = (low < number if open_low else low <= number) and number <= high and number < inf
        if inside and (not whole or number == int(number)):
            return number
    kind = "a whole number" if whole else "a number"
    bounds = f"{'>' if open_low else '>='} {low:g}" + ("" if high == inf else f" and <= {high:g}")
    raise ParameterError(f"{name}={value!r} is not allowed; use {kind} {bounds}{also}")


def _as_float(value: Real) -> float:
    """The number, or infinity where it is too large for a float."""
    try:
        return float(value)
    except OverflowError:
        return inf


def whole_number(name: str, value: object, low: int) -> int:
    """The whole number, or ParameterError unless it is at least `low`."""
    return int(check_number(name, value, low, whole=True))
