"""A `Dataset` from named columns of numbers or texts: the common part of data frames and CSV files."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches

import numpy as np

from evolabel._utils.notes import note
from evolabel._utils.text import first_names
from evolabel.errors import DataError, ParameterError
from evolabel.streams.columns import TRUTH_VALUES, ColumnKinds, is_number, one_hot
from evolabel.streams.dataset import Dataset
from evolabel.streams.tabular.label_column import LabelColumn
from evolabel.streams.tabular.time_columns import (
    first_time,
    is_timestamp,
    parse_times,
    time_feature_names,
    time_features,
)
from evolabel.typing import FloatArray

EXPECTED_NUMBER = "expected a number, or nothing where it is missing"
_MAX_CATEGORIES = 256
_MIN_IDS, _ID_SHARE = 20, 0.8  # a column of at least so many texts, of which more than this share differ, holds ids


@dataclass(frozen=True)
class Texts:
    """A column of texts: `values` is None where one is missing, `categories` are the allowed values in their order.

    `declared` is whether the frame itself has a column of categories.
    """

    values: Sequence[str | None]
    categories: Sequence[str]
    declared: bool = False

    @classmethod
    def of(cls, values: Sequence[str | None], *, declared: bool = False) -> "Texts":
        """Return a column of these `values`, whose categories are the values that occur, sorted; also `declared`."""
        return cls(values, sorted({value for value in values if value is not None}), declared)


Column = FloatArray | Texts
DescribeRow = Callable[[int], str]  # a text on where a row is, for messages


def build_dataset(
    columns: Mapping[str, Column],
    labels: Iterable[str] | int | LabelColumn,
    name: str,
    describe_row: DescribeRow,
    *,
    time: Sequence[str] = (),
    flags: Sequence[str] = (),
) -> Dataset:
    """Return the data set `name` of these `columns`: `labels` in the order given, all others as features.

    Texts become one-hot columns, columns of timestamps named by `time` three features; `flags` are those that hold
    true and false. If `labels` is a number n, the
    first n columns are labels; if it is -n, the last n; a `LabelColumn` holds all of them. `describe_row` returns a
    text on where a row is, for messages.
    """
    used = (labels.name,) if isinstance(labels, LabelColumn) else _label_names(labels, columns)
    check_columns(used, list(columns), "for labels")
    check_columns(time, list(columns), "of timestamps")
    features = {column: values for column, values in columns.items() if column not in used}
    if not features:
        raise DataError("all columns are labels; leave some columns as features")
    origins = {name: first_time(name, parse_times(name, as_texts(columns[name]), describe_row)) for name in time}
    blocks = [_feature_columns(column, values, describe_row, origins) for column, values in features.items()]
    names = tuple(name for names, _ in blocks for name in names)
    if len(set(names)) < len(names):
        raise DataError(f"several features are named {max(names, key=names.count)!r}; rename the column of that name")
    if isinstance(labels, LabelColumn):
        label_names, Y = labels.read(as_texts(columns[labels.name]))
    else:
        label_names, Y = used, np.column_stack([read_label(label, columns[label], describe_row) for label in used])
    coded = [made for column, (made, _) in zip(features, blocks, strict=True) if column not in origins]
    texts = [name for made in coded for name in made if name not in features]
    kinds = ColumnKinds(tuple(texts), tuple(column for column in flags if column in features), origins)
    X = np.ascontiguousarray(np.hstack([block for _, block in blocks]))
    one_per_row = isinstance(labels, LabelColumn) and labels.one_per_row
    return Dataset(X, Y, names, label_names, name, one_per_row=one_per_row, kinds=kinds)


def as_texts(column: Column) -> Sequence[str | None]:
    """Return the values of `column` as texts, None where one is missing."""
    return column.values if isinstance(column, Texts) else [None if np.isnan(x) else f"{x:.15g}" for x in column]


def check_columns(names: Iterable[str], columns: Sequence[str], purpose: str) -> None:
    """Raise DataError unless all `names`, which are needed for a `purpose`, are among the `columns`."""
    for name in names:
        if name not in columns:
            raise DataError(f"there is no column {name!r} {purpose}; {_hint(name, columns)}")


def columns_without(columns: Sequence[str], drop: Iterable[str]) -> list[str]:
    """Return the names in `columns` without those in `drop`, which must be among them."""
    dropped = [drop] if isinstance(drop, str) else list(drop)
    check_columns(dropped, columns, "to leave out")
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
    check_columns(names, list(columns), "for a label")
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


def _feature_columns(
    name: str, column: Column, describe_row: DescribeRow, origins: Mapping[str, str]
) -> tuple[list[str], FloatArray]:
    """Return names and values of the features made from `column`, a time column if it is in `origins`."""
    if name in origins:
        return time_feature_names(name), time_features(name, as_texts(column), origins[name], describe_row)
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
    """Raise DataError if the column `name` has too many `texts` to become features; warn of ids and of numbers."""
    if len(texts.categories) > _MAX_CATEGORIES:
        other = "read it as timestamps (time=, --time)" if is_timestamp(texts.categories[0]) else "turn it into numbers"
        raise DataError(
            f"column {name!r} has {len(texts.categories)} different texts ({', '.join(texts.categories[:3])} ...), at "
            f"most {_MAX_CATEGORIES} can become features; drop the column (drop=, --drop), or {other}"
        )
    given = sum(text is not None for text in texts.values)
    if given >= _MIN_IDS and len(texts.categories) > _ID_SHARE * given:
        note(
            f"column {name!r} has {len(texts.categories)} different texts in {given} rows, as ids have; each becomes a "
            "feature that predicts nothing for new rows: drop the column (drop=, --drop)"
        )
    elif not texts.declared and len(texts.categories) > 1 and all(is_number(text, ".") for text in texts.categories):
        note(
            f"column {name!r} has numbers stored as texts ({texts.categories[0]!r}); each of the "
            f"{len(texts.categories)} becomes a feature of its own: convert the column to numbers if they are "
            "quantities, or to categories"
        )


def _one_hot(name: str, texts: Texts) -> tuple[list[str], FloatArray]:
    """Return one 0/1 column per category, NaN where the text is missing."""
    check_categories(name, texts)
    code = {category: float(position) for position, category in enumerate(texts.categories)}
    codes = np.array([np.nan if value is None else code[value] for value in texts.values])
    return [f"{name}={category}" for category in texts.categories], one_hot(codes, len(code))


def read_label(name: str, column: Column, describe_row: DescribeRow) -> FloatArray:
    """Return the label `column` as 0, 1 and NaN; DataError with `name` and `describe_row` for any other value."""
    expected = (
        "expected 0, 1, true, false, yes, no, or nothing where it is missing; a column with names of labels is read by "
        "--label-list or --class-column (in Python by LabelColumn)"
    )
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
