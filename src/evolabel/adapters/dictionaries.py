"""Samples as dictionaries, made into rows of numbers: what text means, and which name has which column.

Reading changes nothing: it returns a row and the columns that fit it, for the caller to keep once everything about the
sample is in order.
"""

from array import array
from collections.abc import Hashable, Iterable, Mapping
from math import inf
from typing import Any

import numpy as np

from evolabel.errors import DataError, DataTypeError
from evolabel.kernels.checks import HUGE, first_bad_label, first_bad_sample
from evolabel.typing import FloatArray

Values = Mapping[Hashable, Any]

MOST_CATEGORIES = 32  # values of a text feature that count; any later one is just none of these
MOST_TEXT_FEATURES = 1000  # those that come later do not count: new names may never end
MISSING_IN_PANDAS = ("NAType", "NaTType")  # kinds of values, by name: pandas need not be there


class Columns:
    """Names in the order of their columns."""

    def __init__(self, names: Iterable[Hashable] = ()) -> None:
        self.names = list(names)

    def __len__(self) -> int:
        return len(self.names)

    def _plain_row(self, values: object) -> FloatArray | None:
        """The row of a dictionary that holds a number under each of these names and nothing else; None for any other.

        The short cut that keeps reading cheap.
        """
        if type(values) is not dict or not 0 < len(values) == len(self.names):
            return None
        try:
            return np.frombuffer(array("d", map(values.__getitem__, self.names))).reshape(1, -1)
        except (KeyError, TypeError, OverflowError):
            return None

    def _row(self, numbers: Values) -> FloatArray:
        """One row, NaN where a number is missing."""
        return np.array([[numbers.get(name) for name in self.names]], np.float64)

    def _and_new(self, numbers: Values) -> list[Hashable]:
        """These names, followed by new ones that come with a value."""
        known = set(self.names)
        return self.names + [name for name, number in numbers.items() if number is not None and name not in known]


class LabelColumns(Columns):
    """Labels as 0, 1, or NaN where nobody annotated them."""

    def read(self, values: object) -> tuple[FloatArray, "LabelColumns"]:
        """One row, and the columns that fit it: these, followed by new labels."""
        row, fitting = self._plain_row(values), self
        if row is None:
            numbers = as_numbers(as_dictionary(values, "label"), "label")
            fitting = LabelColumns(self._and_new(numbers))
            row = fitting._row(numbers)
        column = first_bad_label(row)[1]
        if column >= 0:
            hint = "use True, False, 1, 0, or None (not annotated)"
            raise DataError(f"label {fitting.names[column]!r} is {row[0, column]:g}; {hint}")
        return row, fitting


class FeatureColumns(Columns):
    """Features as numbers, or NaN where they are missing.

    Text is a category: colour "red" is 1 for the feature "colour=red", and 0 for the other `categories` of colour.
    """

    def __init__(self, names: Iterable[Hashable] = (), categories: dict[Hashable, list[str]] | None = None) -> None:
        super().__init__(names)
        self.categories = categories or {}

    def read(self, values: object) -> tuple[FloatArray, "FeatureColumns"]:
        """One row, and the columns that fit it: these, followed by new features."""
        row, fitting = self._plain_row(values), self
        if row is None:
            numbers, categories = self._without_text(as_dictionary(values, "feature"))
            fitting = FeatureColumns(self._and_new(numbers), categories)
            row = fitting._row(numbers)
        column = first_bad_sample(row)[1]
        if column >= 0:
            hint = f"leave it out if it is missing, else use at most {HUGE:g}"
            raise DataError(f"feature {fitting.names[column]!r} is {row[0, column]:g}; {hint}")
        return row, fitting

    def only(self, columns: Iterable[int]) -> "FeatureColumns":
        """Some of the columns; no category is forgotten."""
        return FeatureColumns((self.names[j] for j in columns), self.categories)

    def _without_text(self, values: Values) -> tuple[Values, dict[Hashable, list[str]]]:
        """The features as numbers, and the categories known then."""
        texts = {name: value for name, value in values.items() if _is_category(value)}
        categories = self._categories_with(texts)
        numbers = as_numbers({name: value for name, value in values.items() if name not in texts}, "feature")
        for name, text in texts.items():
            numbers |= {f"{name}={known}": float(known == text) for known in categories.get(name, ())}
        return numbers, categories

    def _categories_with(self, texts: Mapping[Hashable, str]) -> dict[Hashable, list[str]]:
        """The categories known then: mostly the same as before."""
        new = {name: [*self.categories.get(name, ()), text] for name, text in texts.items() if self._is_new(name, text)}
        return {**self.categories, **new} if new else self.categories

    def _is_new(self, name: Hashable, text: str) -> bool:
        """Is it a category that counts, and not known yet?"""
        known = self.categories.get(name)
        if known is None:
            return len(self.categories) < MOST_TEXT_FEATURES
        return text not in known and len(known) < MOST_CATEGORIES


def as_dictionary(values: object, what: str) -> Values:
    """The values themselves, or one clear error."""
    if not isinstance(values, Mapping):
        raise DataTypeError(f"the {what}s came as {type(values).__name__}; pass a dictionary {{name: value, ...}}")
    return values


def as_numbers(values: Values, what: str) -> dict[Hashable, float | None]:
    """Every value as a number, None where it is missing: None itself, NaN, blank text, NA and NaT of pandas."""
    return {name: _number(name, value, what) for name, value in values.items()}


def _number(name: Hashable, value: Any, what: str) -> float | None:
    if value is None or _is_blank(value) or type(value).__name__ in MISSING_IN_PANDAS:
        return None
    try:
        number = float(value)
    except OverflowError:
        return inf  # a whole number of hundreds of digits: told with the other infinities
    except (TypeError, ValueError):
        raise DataTypeError(f"{what} {name!r} is {value!r}; a number is required, or None if it is missing") from None
    return number if number == number else None


def _is_category(value: object) -> bool:
    """Is it text, and not a number written as text?"""
    if not isinstance(value, str) or _is_blank(value):
        return False
    try:
        float(value)
    except ValueError:
        return True
    return False


def _is_blank(value: object) -> bool:
    return isinstance(value, str) and not value.strip()
