"""A `Dataset` from named columns of numbers or texts: the common part of data frames and CSV files."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches

import numpy as np

from evolabel._utils.text import first_names
from evolabel.errors import DataError, ParameterError
from evolabel.streams.cells import TRUTH_VALUES, one_hot
from evolabel.streams.dataset import Dataset
from evolabel.typing import FloatArray

EXPECTED_NUMBER = "expected a number, or nothing where it is missing"
_MAX_CATEGORIES = 256


@dataclass(frozen=True)
class Texts:
    """A column of texts: `values` is None where one is missing, `categories` are the allowed values in their order."""

    values: Sequence[str | None]
    categories: Sequence[str]

    @classmethod
    def of(cls, values: Sequence[str | None]) -> "Texts":
        """Return a column of these `values`, whose categories are the values that occur, sorted."""
        return cls(values, sorted({value for value in values if value is not None}))


Column = FloatArray | Texts
DescribeRow = Callable[[int], str]  # a text on where a row is, for messages


def build_dataset(
    columns: Mapping[str, Column], labels: Iterable[str] | int, name: str, describe_row: DescribeRow
) -> Dataset:
    """Return the data set `name` of these `columns`: `labels` in the order given, all others as features.

    Texts become one-hot columns. If `labels` is a number n, the first n columns are labels; if it is -n, the last n.
    `describe_row` returns a text on where a row is, for messages.
    """
    label_names = _label_names(labels, columns)
    features = {column: values for column, values in columns.items() if column not in label_names}
    if not features:
        raise DataError("all columns are labels; leave some columns as features")
    blocks = [_feature_columns(column, values, describe_row) for column, values in features.items()]
    Y = np.column_stack([read_label(label, columns[label], describe_row) for label in label_names])
    X = np.ascontiguousarray(np.hstack([block for _, block in blocks]))
    return Dataset(X, Y, tuple(name for names, _ in blocks for name in names), label_names, name)


def columns_without(columns: Sequence[str], drop: Iterable[str]) -> list[str]:
    """Return the names in `columns` without those in `drop`, which must be among them."""
    dropped = [drop] if isinstance(drop, str) else list(drop)
    for name in dropped:
        if name not in columns:
            raise DataError(f"there is no column {name!r} to leave out; {_hint(name, columns)}")
    return [column for column in columns if column not in dropped]


def _label_names(labels: Iterable[str] | int, columns: Mapping[str, Column]) -> tuple[str, ...]:
    if isinstance(labels, int | np.integer):
        return _first_or_last(labels, list(columns))
    if not isinstance(labels, Iterable):
        raise ParameterError(
            f"labels={labels!r} names no columns; use their names, n for the first n, -n for the last n"
        )
    names = (labels,) if isinstance(labels, str) else tuple(dict.fromkeys(map(str, labels)))
    if not names:
        raise DataError("no column is named as label; pass the names of the label columns")
    for name in names:
        if name not in columns:
            raise DataError(f"there is no column {name!r} for a label; {_hint(name, list(columns))}")
    return names


def _first_or_last(count: int, columns: Sequence[str]) -> tuple[str, ...]:
    most = len(columns) - 1
    if not 0 < abs(count) <= most:
        raise DataError(f"{count} of {most + 1} columns cannot be labels; expected 1 to {most}, or -1 to -{most}")
    return tuple(columns[:count] if count > 0 else columns[count:])


def _hint(name: str, columns: Sequence[str]) -> str:
    """Return the one of `columns` most similar to `name` as a suggestion, else a list of the columns."""
    close = get_close_matches(str(name), columns, n=1)
    return f"did you mean {close[0]!r}?" if close else f"the columns are {first_names(columns)}"


def _feature_columns(name: str, column: Column, describe_row: DescribeRow) -> tuple[list[str], FloatArray]:
    """Return names and values of the features made from `column`."""
    if isinstance(column, Texts):
        return _one_hot(name, column) if column.categories else ([name], np.full((len(column.values), 1), np.nan))
    return [name], check_finite(name, column, describe_row)[:, np.newaxis]


def check_finite(name: str, column: FloatArray, describe_row: DescribeRow) -> FloatArray:
    """Return the numbers in `column`; DataError with `name` and `describe_row` if one of them is infinite."""
    infinite = np.flatnonzero(np.isinf(column))
    if infinite.size:
        raise DataError(f"{describe_row(infinite[0])}: {name!r} is infinite; {EXPECTED_NUMBER}")
    return column


def check_categories(name: str, texts: Texts) -> None:
    """Raise DataError if the column `name` has too many different `texts` to become features."""
    if len(texts.categories) > _MAX_CATEGORIES:
        raise DataError(
            f"column {name!r} has {len(texts.categories)} different texts ({', '.join(texts.categories[:3])} ...), at "
            f"most {_MAX_CATEGORIES} can become features; drop the column (drop=, --drop), or turn it into numbers"
        )


def _one_hot(name: str, texts: Texts) -> tuple[list[str], FloatArray]:
    """Return one 0/1 column per category, NaN where the text is missing."""
    check_categories(name, texts)
    code = {category: float(position) for position, category in enumerate(texts.categories)}
    codes = np.array([np.nan if value is None else code[value] for value in texts.values])
    return [f"{name}={category}" for category in texts.categories], one_hot(codes, len(code))


def read_label(name: str, column: Column, describe_row: DescribeRow) -> FloatArray:
    """Return the label `column` as 0, 1 and NaN; DataError with `name` and `describe_row` for any other value."""
    expected = "expected 0, 1, true, false, yes, no, or nothing where it is missing"
    if isinstance(column, Texts):
        values = [np.nan if value is None else TRUTH_VALUES.get(value.strip().lower()) for value in column.values]
        if None in values:
            row = values.index(None)
            raise DataError(f"{describe_row(row)}: label {name!r} is {column.values[row]!r}; {expected}")
        return np.array(values, dtype=np.float64)
    wrong = np.flatnonzero((column != 0.0) & (column != 1.0) & ~np.isnan(column))
    if wrong.size:
        raise DataError(f"{describe_row(wrong[0])}: label {name!r} is {column[wrong[0]]:g}; {expected}")
    return column
