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
) -> None:
    """Raise ParameterError unless `value` is a number of the range; `also` tells what else would be allowed."""
    kind = "a whole number" if whole else "a number"
    bounds = f"{'>' if open_low else '>='} {low:g}" + ("" if high == inf else f" and <= {high:g}")
    ok = isinstance(value, Real) and not isinstance(value, bool)
    if ok:
        number = float(value)  # type: ignore[arg-type]
        ok = (low < number if open_low else low <= number) and number <= high and number < inf
        ok = ok and (not whole or number == int(number))
    if not ok:
        raise ParameterError(f"{name}={value!r} is not allowed; use {kind} {bounds}{also}")
