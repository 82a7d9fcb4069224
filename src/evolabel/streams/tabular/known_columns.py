"""The columns of a table that a trained model uses: its features by name, and those of its labels that are present."""

from collections.abc import Collection, Iterable, Mapping, Sequence

import numpy as np

from evolabel._utils.text import first_names
from evolabel.errors import DataError
from evolabel.streams.cells import is_number
from evolabel.streams.dataset import Dataset
from evolabel.streams.tabular.tables import (
    EXPECTED_NUMBER,
    Column,
    DescribeRow,
    Texts,
    check_finite,
    read_label,
)
from evolabel.typing import FloatArray


def known_columns(
    columns: Mapping[str, Column], features: Sequence[str], labels: Sequence[str], name: str, describe_row: DescribeRow
) -> Dataset:
    """Return the data set `name` with the `features` and `labels` of a model, in their order, from `columns`.

    Labels without a column are NaN. A feature such as `site=north` is 1 where the column `site` is north, and 0 for any
    other text, also one that did not occur in training. `describe_row` returns where a row is, for messages.
    """
    if absent := [feature for feature in features if _column_of(feature, columns) is None]:
        raise DataError(
            f"{name} has no column for {first_names(absent)}; the model needs {first_names(features)}, pass "
            "a table with these columns"
        )
    X = np.column_stack([_values(feature, columns, describe_row) for feature in features])
    missing = np.full(len(X), np.nan)
    read = [read_label(label, columns[label], describe_row) if label in columns else missing for label in labels]
    return Dataset(X, np.column_stack(read), tuple(features), tuple(labels), name)


def used_columns(columns: Collection[str], features: Sequence[str], labels: Sequence[str]) -> list[str]:
    """Return the names in `columns` that `known_columns` reads for these `features` and `labels`."""
    used = {_column_of(feature, columns) for feature in features}.union(labels)
    return [column for column in columns if column in used]


def _column_of(feature: str, columns: Collection[str]) -> str | None:
    """Return the column of `feature`: the one of its name, or the one of texts before an equals sign in its name."""
    return next((name for name in (feature, *_before_equals(feature)) if name in columns), None)


def _before_equals(feature: str) -> Iterable[str]:
    return (feature[:position] for position, mark in enumerate(feature) if mark == "=")


def _values(feature: str, columns: Mapping[str, Column], describe_row: DescribeRow) -> FloatArray:
    name = _column_of(feature, columns) or feature
    column = columns[name]
    if name != feature:
        return _indicator(feature[len(name) + 1 :], column)
    if not isinstance(column, Texts):
        return check_finite(feature, column, describe_row)
    for row, text in enumerate(column.values):
        if text is not None and not is_number(text, ","):
            raise DataError(f"{describe_row(row)}: {feature!r} is {text!r}; {EXPECTED_NUMBER}")
    return np.full(len(column.values), np.nan)


def _indicator(value: str, column: Column) -> FloatArray:
    """Return 1 where `column` holds `value`, NaN where it is missing, else 0."""
    texts = column.values if isinstance(column, Texts) else [None if np.isnan(x) else f"{x:g}" for x in column]
    return np.array([np.nan if text is None else float(text == value) for text in texts])
