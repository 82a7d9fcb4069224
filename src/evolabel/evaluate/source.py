"""Streams as `prequential` reads them: checked rows, in order, in one pass."""

from collections.abc import Iterable, Iterator, Sized
from itertools import chain, islice

import numpy as np

from evolabel._utils.notes import note
from evolabel._utils.text import counted
from evolabel._utils.validation import float_table, whole_number
from evolabel.errors import DataError, ParameterError
from evolabel.streams.dataset import Dataset
from evolabel.typing import BoolArray, FloatArray

Row = tuple[FloatArray, FloatArray]
Stream = Dataset | tuple[object, object] | Iterable[Row]
"""A data set, a tuple of two tables (X, Y), or pairs (x, y), possibly without end."""


class Tables:
    """A stream in memory: tables `X` and `Y`; each row can be read once."""

    def __init__(self, X: FloatArray, Y: FloatArray) -> None:
        self._X, self._Y = X, Y
        self.n_rows, self.n_features, self.n_labels = len(X), X.shape[1], Y.shape[1]
        self._taken = 0

    def take(self, rows: int) -> tuple[FloatArray, FloatArray]:
        """Return the next `rows` rows as views."""
        part = slice(self._taken, self._taken + rows)
        self._taken += rows
        return self._X[part], self._Y[part]


class Pairs:
    """A stream of `pairs` (x, y), read only as far as needed; at most `rows` of them."""

    def __init__(self, pairs: Iterator[Row], rows: int) -> None:
        first = list(islice(pairs, 1))
        if not first:
            raise DataError("the stream is empty; expected pairs (x, y)")
        X, Y = _stacked(first)
        self.n_rows, self.n_features, self.n_labels = rows, X.shape[1], Y.shape[1]
        self._pairs = islice(chain(first, pairs), rows)

    def take(self, rows: int) -> tuple[FloatArray, FloatArray]:
        """Return the next `rows` rows as new arrays."""
        pairs = list(islice(self._pairs, rows))
        if not pairs:
            return np.empty((0, self.n_features)), np.empty((0, self.n_labels))
        X, Y = _stacked(pairs)
        if (X.shape[1], Y.shape[1]) != (self.n_features, self.n_labels):
            raise DataError(
                f"the stream has changed its width from {self.n_features} features and {self.n_labels} labels to "
                f"{X.shape[1]} and {Y.shape[1]}; give every row the same columns, NaN where a value is missing"
            )
        return X, Y


Source = Tables | Pairs


def open_stream(stream: Stream, samples: int | None) -> Source:
    """Return a source of at most `samples` rows of `stream`; raise DataError or ParameterError for a bad one."""
    if samples is not None:
        samples = whole_number("samples", samples, 1)
    if isinstance(stream, Dataset):
        stream = stream.X, stream.Y
    if isinstance(stream, tuple) and len(stream) == 2:
        X, Y = _checked(*(_table(table, name) for table, name in zip(stream, "XY", strict=True)))
        return Tables(*(table[:samples] for table in _with_features(X, Y)))
    if not isinstance(stream, Iterable):
        raise DataError(f"a {type(stream).__name__} is no stream; use a Dataset, a tuple (X, Y) or pairs (x, y)")
    length = len(stream) if isinstance(stream, Sized) else samples
    if length is None:
        raise ParameterError("the stream has no length; pass samples=, the number of rows to use")
    return Pairs(_filled_pairs(stream), length if samples is None else min(samples, length))


def without_empty_rows(stream: Stream) -> Stream:
    """Return `stream`; if it is a data set, one of the rows that have a feature, with its split moved accordingly.

    A DataWarning counts the rows that were left out.
    """
    if not isinstance(stream, Dataset):
        return stream
    filled = stream.with_features()
    if len(filled) < len(stream):
        _note_empty(np.asarray(np.isnan(stream.X).all(axis=1)))
    return filled if len(filled) else stream


def _with_features(X: FloatArray, Y: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Both tables without the rows that have no feature, from which nothing is learned; a DataWarning counts them."""
    empty = np.asarray(np.isnan(X).all(axis=1))
    if not empty.any():
        return X, Y
    if empty.all():
        raise DataError("no row of X has a feature (only NaN); pass some rows with values")
    _note_empty(empty)
    return X[~empty], Y[~empty]


def _note_empty(empty: BoolArray) -> None:
    rows = np.flatnonzero(empty)
    note(f"no feature at all ({counted(len(rows), 'row')}, the first is row {rows[0]}): left out")


def _filled_pairs(pairs: Iterable[Row]) -> Iterator[Row]:
    """Yield `pairs` that have a feature, and anything that is no pair of numbers; a DataWarning names each other."""
    for row, pair in enumerate(pairs):
        try:
            x = np.asarray(pair[0], np.float64)
        except (TypeError, ValueError, OverflowError, IndexError, KeyError):
            x = np.empty(0)
        if x.size and np.isnan(x).all():
            note(f"no feature at all (row {row} of the stream): left out")
        else:
            yield pair


def stream_name(stream: Stream) -> str:
    """Return the name of `stream` in results."""
    if isinstance(stream, Dataset):
        return stream.name
    return "arrays" if isinstance(stream, tuple) else type(stream).__name__


def initial_rows(initial: float | str, stream: Stream, n_rows: int) -> int:
    """Return the length of the initial batch of a `stream` of `n_rows` rows.

    `initial` is a share of the rows, a number of rows, or "split" for the official training part.
    """
    if initial == "split":
        if not isinstance(stream, Dataset) or stream.split is None:
            raise ParameterError(
                'initial="split" needs a Dataset with an official split; give a share or a number of rows'
            )
        rows = stream.split
    elif isinstance(initial, int | np.integer) and not isinstance(initial, bool) and initial >= 0:
        rows = int(initial)
    elif isinstance(initial, float | np.floating) and 0.0 <= initial < 1.0:
        rows = round(float(initial) * n_rows)
    else:
        raise ParameterError(f'initial={initial!r} is not allowed; use a share in [0, 1), a number of rows, or "split"')
    if rows >= n_rows:
        raise DataError(
            f"initial={initial!r} takes {rows} of {n_rows} row(s), which leaves none to predict; "
            "make the initial batch smaller or the stream longer"
        )
    return rows


def _stacked(pairs: list[Row]) -> tuple[FloatArray, FloatArray]:
    try:
        X, Y = ([pair[place] for pair in pairs] for place in (0, 1))
    except (TypeError, IndexError, KeyError):
        raise DataError("the items of the stream are no pairs; expected (x, y), features and labels") from None
    return _checked(_table(X, "x"), _table(Y, "y"))


def _table(values: object, name: str) -> FloatArray:
    table = np.asarray(float_table(name, values), order="C")
    if table.ndim != 2:
        raise DataError(f"{name} has {table.ndim} dimension(s); expected a table, one row per sample")
    return table


def _checked(X: FloatArray, Y: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Both tables, or DataError."""
    if len(X) != len(Y) or not X.size or not Y.size:
        raise DataError(
            f"X has shape {X.shape} and Y {Y.shape}; expected two tables with equally many rows, at least one"
        )
    if np.isinf(X).any():
        raise DataError("X holds an infinite value; use NaN where a value is missing")
    invalid = Y[(Y != 0.0) & (Y != 1.0) & ~np.isnan(Y)]
    if invalid.size:
        raise DataError(f"Y holds {invalid[0]:g}; a label is 0, 1, or NaN where it is not annotated")
    return X, Y
