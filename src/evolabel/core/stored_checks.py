"""What values from a file must be: arrays by a table, and facts that were stored as JSON, each read by `StoredFacts`.

Loops do not check bounds: a stored array must not lead them beyond its end, nor feed them numbers that they cannot
divide by, take roots of, or square.
"""

import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import cholesky

from evolabel.errors import DataError
from evolabel.typing import AnyArray, Arrays, FloatArray

LARGEST = 1e100  # squares of larger numbers may overflow
FINITE = sys.float_info.max
MOST = 2**53  # larger counts are not exact as float64
HEAVIEST = 1e12  # weight of a sample
FURTHEST = 1e6  # score of a feature, whatever the scaling
SMALLEST = 1e-150  # of what is divided by: squares of its inverse must not overflow
MOST_SQUARED = 1e210  # a variance, or a sum of squares, of numbers up to 1e100

# Rounding can leave a matrix that should be positive semidefinite a little short of it: by this share of its diagonal.
SHORTFALL = 1e-6


class Expected(NamedTuple):
    """What an array must be: its shape, its dtype, and the range of its values, both ends included."""

    shape: tuple[int, ...]
    dtype: type
    low: float
    high: float
    positive: bool = False
    """Whether values must be above 0."""
    missing: bool = False
    """Whether values may be NaN."""

    def __str__(self) -> str:
        start = "above 0" if self.positive else f"from {self.low:.12g}"
        return f"values {start} to {self.high:.12g}" + (" or NaN" if self.missing else "")


def floats(
    *shape: int, low: float = -LARGEST, high: float = LARGEST, positive: bool = False, missing: bool = False
) -> Expected:
    """Return: float64 of this `shape`, from `low` to `high`, above 0 if `positive`, NaN allowed if `missing`."""
    return Expected(shape, np.float64, low, high, positive, missing)


def whole(*shape: int, low: int = 0, high: int = MOST) -> Expected:
    """Return: int64 of this `shape`, from `low` to `high`."""
    return Expected(shape, np.int64, low, high)


def flags(*shape: int) -> Expected:
    """Return: bool of this `shape`."""
    return Expected(shape, np.bool_, 0, 1)


@contextmanager
def inside(part: str) -> Iterator[None]:
    """Let errors about arrays and facts begin with the `part` of the file that they belong to."""
    try:
        yield
    except DataError as error:
        raise DataError(f"{part}: {error}") from None


def check_arrays(arrays: Arrays, table: dict[str, Expected]) -> None:
    """Raise DataError for the first of `arrays` that is missing, unexpected, or not as `table` requires."""
    check_names(arrays, table)
    for name, expected in table.items():
        _check(name, arrays[name], expected)


def check_names(arrays: Arrays, names: Iterable[str]) -> None:
    """Raise DataError unless `arrays` have these `names`, and no others."""
    known = set(names)
    if absent := sorted(known - set(arrays)):
        raise DataError(f"array {absent[0]} is missing")
    if unknown := sorted(set(arrays) - known):
        raise DataError(f"array {unknown[0]} is not expected here")


def size_of(arrays: Arrays, name: str, axis: int = 0) -> int:
    """Return the length of the array `name` of `arrays` along an `axis`; 0 if there is no such axis."""
    shape = arrays[name].shape if name in arrays else ()
    return shape[axis] if axis < len(shape) else 0


def require(agrees: AnyArray | np.bool_ | bool, name: str, expected: str) -> None:
    """Raise DataError about the array `name`, with what was `expected`, unless all of `agrees` is true."""
    if not np.all(agrees):
        raise DataError(f"array {name} does not fit the others; expected {expected}")


def check_evidence(name: str, evidence: FloatArray) -> None:
    """Raise DataError about `name` unless sums of squares of `evidence` are >= 0 and bound the sums of products."""
    products, squares, errors, answers, _ = np.moveaxis(evidence, -2, 0)
    require((squares >= 0.0) & (errors >= 0.0) & (answers >= 0.0), name, "sums of squares >= 0")
    require(np.abs(products) <= (1.0 + 1e-6) * np.sqrt(squares * errors) + 1e-12, name, "products within their squares")


def check_samples(name: str, rows: FloatArray) -> None:
    """Raise DataError about `name` unless each of `rows` has a feature that is not missing."""
    require(~np.isnan(rows).all(axis=-1), name, "a feature in every sample")


def is_nearly_definite(matrix: FloatArray, diagonal: FloatArray | None = None) -> bool:
    """Whether a symmetric `matrix` is positive semidefinite, up to rounding.

    Rounding is measured by the `diagonal`, by default that of the matrix itself.
    """
    squares = np.diagonal(matrix) if diagonal is None else diagonal
    if (squares < 0.0).any():
        return False
    scale = np.where(squares > 0.0, np.sqrt(squares), 1.0)
    try:
        cholesky(matrix / scale / scale[:, None] + SHORTFALL * np.eye(len(matrix)), lower=True, overwrite_a=True)
    except ValueError:  # not definite, or not finite
        return False
    return True


def _check(name: str, array: AnyArray, expected: Expected) -> None:
    if array.dtype != expected.dtype:
        raise DataError(f"array {name} holds {array.dtype}, expected {np.dtype(expected.dtype)}")
    if array.shape != expected.shape:
        raise DataError(f"array {name} has shape {array.shape}, expected {expected.shape}")
    if array.size == 0 or expected.dtype is np.bool_:
        return
    smallest, greatest = np.fmin.reduce(array, axis=None), np.fmax.reduce(array, axis=None)
    if expected.missing and np.isnan(smallest):  # nothing but NaN
        return
    has_nan = not expected.missing and expected.dtype is np.float64 and np.isnan(array).any()
    low_enough = smallest > 0 if expected.positive else smallest >= expected.low
    if has_nan or not low_enough or not greatest <= expected.high:
        came = "NaN" if has_nan else f"values from {smallest:.12g} to {greatest:.12g}"
        raise DataError(f"array {name} holds {came}, expected {expected}")


# ---------------------------------------------------------------------- arrays of several parts in one dictionary


def prefixed(part: str, arrays: Arrays) -> Arrays:
    """Return the `arrays` of a `part` by names of the form "part.name"."""
    return {f"{part}.{name}": array for name, array in arrays.items()}


def part_of(arrays: Arrays, part: str) -> Arrays:
    """Return what `prefixed` was given for this `part` of `arrays`; nothing if it is not there."""
    start = f"{part}."
    return {name.removeprefix(start): array for name, array in arrays.items() if name.startswith(start)}


class StoredFacts:
    """Facts by name, read one by one; DataError names the fact, what came and what was expected.

    Parameters
    ----------
    facts : object
        A dictionary, if the file is in order.
    place : str
        Where they stand in the file, for messages.
    """

    def __init__(self, facts: object, place: str = "") -> None:
        if not isinstance(facts, dict):
            raise _wrong(place or "the manifest", facts, "a dictionary")
        self._facts: dict[str, Any] = facts
        self._place = place

    @property
    def facts(self) -> dict[str, Any]:
        """All facts, unchecked."""
        return self._facts

    def __contains__(self, name: str) -> bool:
        return name in self._facts

    def value(self, name: str) -> Any:
        """Return the fact `name`, whatever it is."""
        if name not in self._facts:
            raise DataError(f"{self._path(name)} is missing")
        return self._facts[name]

    def part(self, name: str) -> "StoredFacts":
        """Return the fact `name`, a dictionary of further facts."""
        return StoredFacts(self.value(name), self._path(name))

    def parts(self, name: str, most: int = MOST) -> list["StoredFacts"]:
        """Return the fact `name`, a list of at most `most` dictionaries of further facts."""
        return [StoredFacts(part, f"{self._path(name)}[{i}]") for i, part in enumerate(self.listed(name, most))]

    def only(self, *names: str) -> dict[str, Any]:
        """Return all facts if they have just these `names`."""
        if set(self._facts) != set(names):
            differing = sorted(set(self._facts) ^ set(names), key=str)
            raise DataError(f"{self._path(str(differing[0]))} is missing, or not expected there")
        return self._facts

    def whole(self, name: str, low: int = 0, high: int = MOST) -> int:
        """Return the fact `name`, a whole number between `low` and `high`."""
        value = self.value(name)
        if type(value) is not int or not low <= value <= high:
            raise _wrong(self._path(name), value, f"a whole number from {low} to {high}")
        return value

    def flag(self, name: str) -> bool:
        """Return the fact `name`, True or False."""
        value = self.value(name)
        if not isinstance(value, bool):
            raise _wrong(self._path(name), value, "true or false")
        return value

    def positive(self, name: str) -> float:
        """Return the fact `name`, a finite number above 0, stored as hexadecimal text so that no bit is lost."""
        value = self.value(name)
        try:
            number = float.fromhex(value)
        except (TypeError, ValueError, OverflowError):
            number = -1.0
        if not 0.0 < number <= FINITE:
            raise _wrong(self._path(name), value, "a number above 0 in hexadecimal")
        return number

    def listed(self, name: str, most: int = MOST) -> list[Any]:
        """Return the fact `name`, a list of at most `most` entries."""
        value = self.value(name)
        if not isinstance(value, list) or len(value) > most:
            raise _wrong(self._path(name), value, f"a list of at most {most} entries")
        return value

    def texts(self, name: str, size: int | None = None) -> list[str]:
        """Return the fact `name`, a list of texts, of this `size` if one is given."""
        value = self.listed(name)
        if not all(isinstance(text, str) for text in value) or size not in (None, len(value)):
            raise _wrong(self._path(name), value, "a list of texts" + ("" if size is None else f", {size} of them"))
        return value

    def counts(self, name: str) -> dict[str, int]:
        """Return the fact `name`, whole numbers >= 0 by name."""
        part = self.part(name)
        return {key: part.whole(key) for key in part.facts}

    def texts_by_number(self, name: str) -> dict[int, str]:
        """Return the fact `name`, texts by whole numbers >= 0, which JSON has made texts."""
        value = self.value(name)
        sound = isinstance(value, dict) and all(
            key.isascii() and key.isdecimal() and int(key) <= MOST and isinstance(text, str)
            for key, text in value.items()
        )
        if not sound:
            raise _wrong(self._path(name), value, "texts by number")
        return {int(key): text for key, text in value.items()}

    def refuse(self, name: str, expected: str) -> DataError:
        """Return the error about the fact `name` that is not what was `expected`."""
        return _wrong(self._path(name), self.value(name), expected)

    def _path(self, name: str) -> str:
        return f"{self._place}.{name}" if self._place else name


def _wrong(place: str, value: object, expected: str) -> DataError:
    shown = repr(value)
    return DataError(f"{place} is {shown if len(shown) <= 60 else shown[:57] + '...'}, expected {expected}")
