"""Rows of numbers from samples that are dictionaries: columns by name, and text as categories.

`read` changes nothing. It returns a row and the columns that fit it; the caller keeps these columns once the whole
sample has been checked.
"""

from array import array
from collections.abc import Hashable, Iterable, Mapping
from math import inf
from typing import Any

import numpy as np

from evolabel._utils.text import with_article
from evolabel.classifier.targets import ClassCodes, LabelMatrix
from evolabel.engine.compile import direct
from evolabel.engine.values import MAX_VALUE, first_bad_label, first_bad_sample
from evolabel.errors import DataError, DataTypeError
from evolabel.typing import FloatArray

Values = Mapping[Hashable, Any]

_first_bad_label, _first_bad_sample = direct(first_bad_label), direct(first_bad_sample)  # rows are always float64

MAX_CATEGORIES = 32  # of a text feature; for a later value all of these are 0
MAX_TEXT_FEATURES = 1000  # later ones are ignored: the number of new names may be unlimited
MAX_WAITING_FEATURES = 1000  # the number of new names may be unlimited, as in a bag of words
_PANDAS_MISSING = ("NAType", "NaTType")  # compared by name, because pandas may not be installed


class Columns:
    """The `names` of the columns, in their order."""

    def __init__(self, names: Iterable[Hashable] = ()) -> None:
        self.names = list(names)

    def __len__(self) -> int:
        return len(self.names)

    def _plain_row(self, values: object) -> FloatArray | None:
        """The row of a dictionary with exactly these names, all of them numbers; None for any other (a fast path)."""
        if type(values) is not dict or not 0 < len(values) == len(self.names):
            return None
        try:
            return np.frombuffer(array("d", map(values.__getitem__, self.names))).reshape(1, -1)
        except (KeyError, TypeError, OverflowError):
            return None

    def row(self, numbers: Values) -> FloatArray:
        """The row (1, p) of `numbers` by name, NaN where one is missing."""
        return np.array([[numbers.get(name) for name in self.names]], np.float64)

    def _and_new(self, numbers: Values) -> list[Hashable]:
        """These names, then the new names of `numbers` that have a value."""
        known = set(self.names)
        return self.names + [name for name, number in numbers.items() if number is not None and name not in known]


class LabelColumns(Columns):
    """Labels as 0, 1, or NaN where they were not annotated."""

    def read(self, values: object) -> tuple[FloatArray, "LabelColumns"]:
        """The row (1, K) of the dictionary `values`, and the columns that fit it: these, then the new labels."""
        row, fitting = self._plain_row(values), self
        if row is None:
            numbers = as_numbers(as_dictionary(values, "label"), "label")
            fitting = LabelColumns(self._and_new(numbers))
            row = fitting.row(numbers)
        column = _first_bad_label(row)[1]
        if column >= 0:
            hint = "use True, False, 1, 0, or None (not annotated)"
            raise DataError(f"label {fitting.names[column]!r} is {row[0, column]:g}; {hint}")
        return row, fitting

    @property
    def coding(self) -> LabelMatrix:
        """The labels as a classifier names them."""
        return LabelMatrix([str(name) for name in self.names])


class ClassColumns:
    """One class per sample as a column per class, 1 in that of the sample; `coding` is the classes so far."""

    def __init__(self, coding: ClassCodes | None = None) -> None:
        self.coding = coding or ClassCodes()
        self.names: list[Any] = list(self.coding.classes.tolist())
        self._places = {name: place for place, name in enumerate(self.names)}

    def __len__(self) -> int:
        return len(self.names)

    def read(self, value: object) -> tuple[FloatArray, "ClassColumns"]:
        """The row (1, K) of the class `value`, NaN if it is missing, and the columns that fit it, a new class last."""
        if not isinstance(value, Hashable) or isinstance(value, tuple):
            advice = "pass one class, or for several labels use RiverEvolvingFuzzyClassifier"
            raise DataTypeError(f"the class is {with_article(type(value).__name__)}; {advice}")
        place = self._places.get(value)
        if place is not None:
            row = np.zeros((1, len(self)))
            row[0, place] = 1.0
            return row, self
        row, coding = self.coding.read([value], by_appearance=True)
        return row, self if coding is self.coding else ClassColumns(coding)


class FeatureColumns(Columns):
    """Features as numbers, or NaN where they are missing.

    `names` are those of the columns. Text is a category: colour "red" is 1 for the feature "colour=red", and 0 for the
    other `categories` of colour.
    """

    def __init__(self, names: Iterable[Hashable] = (), categories: dict[Hashable, list[str]] | None = None) -> None:
        super().__init__(names)
        self.categories = categories or {}

    def read(self, values: object) -> tuple[FloatArray, "FeatureColumns"]:
        """The row (1, p) of the dictionary `values`, and the columns that fit it: these, then the new features."""
        row, fitting = self._plain_row(values), self
        if row is None:
            numbers, categories = self._without_text(as_dictionary(values, "feature"))
            fitting = FeatureColumns(self._and_new(numbers), categories)
            row = fitting.row(numbers)
        column = _first_bad_sample(row)[1]
        if column >= 0:
            hint = f"leave it out if it is missing, else use at most {MAX_VALUE:g}"
            raise DataError(f"feature {fitting.names[column]!r} is {row[0, column]:g}; {hint}")
        return row, fitting

    def only(self, columns: Iterable[int]) -> "FeatureColumns":
        """The given `columns` (indices), with all categories."""
        return FeatureColumns((self.names[j] for j in columns), self.categories)

    def _without_text(self, values: Values) -> tuple[Values, dict[Hashable, list[str]]]:
        """The features as numbers, and the categories including those of these values."""
        texts = {name: value for name, value in values.items() if _is_category(value)}
        categories = self._categories_with(texts)
        numbers = as_numbers({name: value for name, value in values.items() if name not in texts}, "feature")
        for name, text in texts.items():
            numbers |= {f"{name}={known}": float(known == text) for known in categories.get(name, ())}
        return numbers, categories

    def _categories_with(self, texts: Mapping[Hashable, str]) -> dict[Hashable, list[str]]:
        """The categories including those of `texts`; the same dictionary if none is new."""
        new = {name: [*self.categories.get(name, ()), text] for name, text in texts.items() if self._is_new(name, text)}
        return {**self.categories, **new} if new else self.categories

    def _is_new(self, name: Hashable, text: str) -> bool:
        """Whether `text` is a new category of `name` and there is space for it."""
        known = self.categories.get(name)
        if known is None:
            return len(self.categories) < MAX_TEXT_FEATURES
        return text not in known and len(known) < MAX_CATEGORIES


def has_features(row: FloatArray) -> bool:
    """Whether a value of `row`, (1, p), is not missing."""
    return row.size > 0 and _first_bad_sample(row)[0] < 0


def as_dictionary(values: object, what: str) -> Values:
    """`values`, if they are a dictionary; else DataTypeError, in which `what` is "feature" or "label"."""
    if not isinstance(values, Mapping):
        other = ", or for one class per sample use RiverSingleLabelClassifier" if what == "label" else ""
        raise DataTypeError(
            f"the {what}s are of type {type(values).__name__}; pass a dictionary {{name: value, ...}}{other}"
        )
    return values


def as_numbers(values: Values, what: str) -> dict[Hashable, float | None]:
    """`values` as numbers, None where one is missing: None, NaN, blank text, NA and NaT of pandas.

    `what` is "feature" or "label", for errors.
    """
    return {name: _number(name, value, what) for name, value in values.items()}


def _number(name: Hashable, value: Any, what: str) -> float | None:
    if value is None or _is_blank(value) or type(value).__name__ in _PANDAS_MISSING:
        return None
    try:
        number = float(value)
    except OverflowError:
        return inf  # an integer of hundreds of digits; refused together with infinite values
    except (TypeError, ValueError):
        raise DataTypeError(f"{what} {name!r} is {value!r}; a number is required, or None if it is missing") from None
    return number if number == number else None


def _is_category(value: object) -> bool:
    """Whether `value` is text that is not a number."""
    if not isinstance(value, str) or _is_blank(value):
        return False
    try:
        float(value)
    except ValueError:
        return True
    return False


def _is_blank(value: object) -> bool:
    return isinstance(value, str) and not value.strip()


class WaitingFeatures:
    """The first values of features without a column, in `shown`: by name, the feature seen last at the end."""

    def __init__(self) -> None:
        self.shown: dict[Hashable, list[float]] = {}

    def add(self, name: Hashable, values: Iterable[float], needed: int) -> bool:
        """Add `values` of the feature `name` (NaN is skipped); whether it now has `needed` values, not all equal."""
        shown = self.shown[name] = self.shown.pop(name, [])  # moves the name to the end
        shown.extend(value for value in values if value == value)
        if len(shown) < needed:
            return False
        if min(shown) < max(shown):
            return True
        del shown[:-1]  # constant so far: keep one value and continue to wait
        return False

    def is_almost_ready(self, name: Hashable, needed: int) -> bool:
        """Whether the feature `name` may have `needed` values with its next one."""
        return len(self.shown.get(name, ())) + 1 >= needed

    def drop_oldest(self) -> None:
        """Drop the features that were not seen for longest while more than `MAX_WAITING_FEATURES` wait."""
        for name in list(self.shown)[: max(0, len(self.shown) - MAX_WAITING_FEATURES)]:
            del self.shown[name]
