"""Checks of parameters: an error names the parameter, the value that came, and the values that are allowed."""

import sys
from dataclasses import dataclass
from math import inf
from numbers import Real

import numpy as np

from evolabel._utils.text import with_article
from evolabel.errors import DataError, ParameterError
from evolabel.typing import FloatArray


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
    """Return `value` as a float, or raise ParameterError unless it is a number of the range.

    The range is `low` to `high`, without `low` itself if `open_low`, whole numbers only if `whole`. The error begins
    with `name`, and ends with `also`: what else would be allowed.
    """
    if not isinstance(value, bool) and isinstance(value, Real):
        number = _as_float(value)
        inside = (low < number if open_low else low <= number) and number <= high and number < inf
        if inside and (not whole or number == int(number)):
            return number
    kind = "a whole number" if whole else "a number"
    bounds = f"{'>' if open_low else '>='} {low:g}" + ("" if high == inf else f" and <= {high:g}")
    raise ParameterError(f"{name}={shown(value)} is not allowed; use {kind} {bounds}{also}")


def check_function(name: str, value: object) -> None:
    """Raise ParameterError, which begins with `name`, unless `value` can be called."""
    if not callable(value):
        raise ParameterError(f"{name}={shown(value)} is not allowed; use a function")


def beyond_float64(name: str) -> DataError:
    """Return the error about a number in the data called `name`, such as the integer 10**400."""
    return DataError(f"{name} has a number beyond {sys.float_info.max:.1e}, the largest of float64; correct the number")


def float_table(name: str, values: object) -> FloatArray:
    """Return `values` as an array of float64, without a copy if they are one, or raise DataError about `name`."""
    try:
        return np.asarray(values, np.float64)
    except OverflowError:
        raise beyond_float64(name) from None
    except (TypeError, ValueError) as error:
        reason = " ".join(str(error).split())
        raise DataError(
            f"{name} cannot be read as a table of numbers ({reason}); pass numbers in rows of equal length"
        ) from None


def shown(value: object) -> str:
    """Return `value` as `repr` does, or its type where Python does not print it, such as a number of 5000 digits."""
    try:
        return repr(value)
    except (ValueError, RecursionError):
        return f"{with_article(type(value).__name__)} too long to print"


def _as_float(value: Real) -> float:
    """Return `value` as a float, or infinity where it is too large for one."""
    try:
        return float(value)
    except OverflowError:
        return inf


def whole_number(name: str, value: object, low: int) -> int:
    """Return `value` as an int, or raise ParameterError about `name` unless it is a whole number of at least `low`."""
    return int(check_number(name, value, low, whole=True))


@dataclass(frozen=True)
class Range:
    """Numbers that a parameter may be: `low` to `high`, without `low` if `open_low`, whole numbers only if `whole`.

    Allowed are also the texts `words`, a multiple of the number of features such as "2p" if `per_feature`, and None if
    `optional`.
    """

    low: float
    high: float = inf
    open_low: bool = False
    whole: bool = False
    words: tuple[str, ...] = ()
    per_feature: bool = False
    optional: bool = False

    def check(self, name: str, value: object) -> None:
        """Raise ParameterError about `name` unless `value` is allowed."""
        if (value is None and self.optional) or (isinstance(value, str) and value in self.words):
            return
        if self.per_feature and isinstance(value, str) and value.endswith("p"):
            try:
                value = float(value[:-1])
            except ValueError:
                raise ParameterError(f"{name}={shown(value)} is unknown; use a number > 0{self._also()}") from None
        check_number(name, value, self.low, self.high, open_low=self.open_low, whole=self.whole, also=self._also())

    def _also(self) -> str:
        """Return what is allowed besides numbers, as the end of a sentence."""
        others = [f'"{word}"' for word in self.words]
        others += ['a multiple of the number of features such as "2p"'] * self.per_feature + ["None"] * self.optional
        if not others:
            return ""
        return f"{', ' * (len(others) > 1)}{', '.join(others[:-1])} or {others[-1]}"


class Choice:
    """The few `values` that a parameter may be: texts, which None may follow, or True and False."""

    def __init__(self, *values: str | bool | None) -> None:
        self.values = values

    def check(self, name: str, value: object) -> None:
        """Raise ParameterError about `name` unless `value` is allowed; 1 is not True."""
        is_flag = isinstance(value, bool | np.bool_)
        allowed = [each for each in self.values if isinstance(each, bool) == is_flag]
        if not (is_flag or value is None or isinstance(value, str)) or value not in allowed:
            raise ParameterError(f"{name}={shown(value)} is unknown; use one of {', '.join(map(str, self.values))}")


@dataclass(frozen=True)
class Weights:
    """Weights that a parameter may be: a dictionary of numbers from `low` to `high` by name, "balanced", or None."""

    low: float
    high: float

    def check(self, name: str, value: object) -> None:
        """Raise ParameterError about `name` unless `value` is allowed."""
        if value is None or (isinstance(value, str) and value == "balanced"):
            return
        if not isinstance(value, dict) or not value:
            example = 'a dictionary such as {"leak": 20}, "balanced" or None'
            raise ParameterError(f"{name}={shown(value)} is not allowed; use {example}")
        for key, weight in value.items():
            if not isinstance(key, str | Real | np.bool_):
                raise ParameterError(f"{name}={shown(value)} is not allowed; {key!r} is no name of a label or class")
            check_number(f"{name}={shown(value)}: {key!r}", weight, self.low, self.high)
