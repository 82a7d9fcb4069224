"""How the values of one attribute become numbers, and those numbers columns of a data set."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol, cast

import numpy as np

from evolabel.streams.arff.header import Attribute
from evolabel.streams.arff.lines import BrokenLine, shown
from evolabel.streams.arff.values import Value
from evolabel.streams.truth import TRUTH
from evolabel.typing import FloatArray

Nominal = Literal["one-hot", "codes"]

ZERO_ONE = {0.0, 1.0}
LISTED = 8


class Column(Protocol):
    """One attribute that is read."""

    @property
    def name(self) -> str:
        """Name of the attribute."""

    @property
    def default(self) -> str:
        """What a sparse row means where it says nothing."""

    def numbers(self, values: Sequence[Value]) -> Sequence[float] | FloatArray:
        """All values at once; ValueError, KeyError or TypeError where one of them needs a closer look."""

    def number(self, value: Value) -> float:
        """One value, looked at closely."""

    def spread(self, numbers: FloatArray) -> tuple[list[str], FloatArray]:
        """The columns of the data set, of shape (n, width), and their names."""


@dataclass(frozen=True)
class NumericColumn:
    """Finite numbers; NaN is another way to write a missing value, as in Weka."""

    name: str
    default: str = "0"

    def numbers(self, values: Sequence[Value]) -> FloatArray:
        """All values at once."""
        texts = cast("Sequence[str]", values)  # a missing value is the TypeError that is promised
        numbers = np.array(list(map(float, texts)))
        if np.isinf(numbers).any() or "_" in "".join(texts):
            raise ValueError
        return numbers

    def number(self, value: Value) -> float:
        """One value."""
        number = math.nan if value is None else _as_number(value)
        if number is None:
            raise BrokenLine(f"{self.name!r} is {shown(value or '')}; expected a finite number, or ? if it is missing")
        return number

    def spread(self, numbers: FloatArray) -> tuple[list[str], FloatArray]:
        """The numbers as they are."""
        return [self.name], numbers[:, np.newaxis]


@dataclass(frozen=True)
class NominalColumn:
    """Values of a list, each with its number; in lists of numbers, 1.0 is another way to write 1."""

    name: str
    default: str
    expected: str
    by_text: Mapping[Value, float]
    by_value: Mapping[float | None, float]
    one_hot: Sequence[str] = ()

    def numbers(self, values: Sequence[Value]) -> list[float]:
        """All values at once."""
        return list(map(self.by_text.__getitem__, values))

    def number(self, value: Value) -> float:
        """One value."""
        number = self.by_text.get(value)
        if number is None and value is not None:
            number = self.by_value.get(_as_number(value))
        if number is None:
            raise BrokenLine(f"{self.name!r} is {shown(value or '')}; expected {self.expected}, or ? if it is missing")
        return number

    def spread(self, numbers: FloatArray) -> tuple[list[str], FloatArray]:
        """One 0/1 column per value, or the numbers as they are."""
        if not self.one_hot:
            return [self.name], numbers[:, np.newaxis]
        columns = (numbers[:, np.newaxis] == np.arange(len(self.one_hot))).astype(np.float64)
        columns[np.isnan(numbers)] = np.nan
        return [f"{self.name}={value}" for value in self.one_hot], columns


def feature_column(attribute: Attribute, nominal: Nominal) -> Column:
    """How a feature is read. Nominal {0,1} is 0 and 1; other values are one-hot, numbers by value, or positions."""
    _refuse_text(attribute)
    if attribute.kind == "numeric":
        return NumericColumn(attribute.name)
    values = attribute.values
    own = _own_numbers(values)
    one_hot = values if nominal == "one-hot" and set(own) != ZERO_ONE else ()
    numbers = [float(position) for position in range(len(values))] if one_hot or not own else own
    return NominalColumn(
        attribute.name,
        values[0],
        f"one of {', '.join(values[:LISTED])}{', ...' if len(values) > LISTED else ''}",
        {None: math.nan, **dict(zip(values, numbers, strict=True))},
        dict(zip(own, numbers, strict=False)),
        one_hot,
    )


def label_column(attribute: Attribute) -> Column:
    """How a label is read: 0, 1, or missing, whatever its type."""
    _refuse_text(attribute)
    default = attribute.values[0] if attribute.kind == "nominal" else "0"
    said: dict[Value, float] = {value: TRUTH[value.lower()] for value in attribute.values if value.lower() in TRUTH}
    by_text = {None: math.nan, "0": 0.0, "1": 1.0} | said
    return NominalColumn(
        attribute.name, default, "0, 1, true, false, yes or no, because it is a label", by_text, {0.0: 0.0, 1.0: 1.0}
    )


def _refuse_text(attribute: Attribute) -> None:
    if attribute.kind in ("string", "date"):
        name = attribute.name
        raise BrokenLine(
            f"{name!r} is a {attribute.kind}, not a number; leave it out by drop=[{name!r}]", attribute.line
        )


def _own_numbers(values: Sequence[str]) -> list[float]:
    """What the values are as numbers; nothing if one is not a number, or two are the same one."""
    numbers = [number for number in map(_as_number, values) if number is not None and not math.isnan(number)]
    return numbers if len(set(numbers)) == len(values) else []


def _as_number(text: str) -> float | None:
    """The number a text is, if it is one: not infinite, and without the underscores of Python."""
    try:
        number = float(text)
    except ValueError:
        return None
    return None if math.isinf(number) or "_" in text else number
