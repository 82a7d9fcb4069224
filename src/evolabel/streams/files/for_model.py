"""`read_for_model`: the columns of a file that a trained model needs, found by their names."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from os import PathLike
from pathlib import Path

import numpy as np

from evolabel._utils.text import first_names
from evolabel.errors import DataError
from evolabel.streams.cells import is_number
from evolabel.streams.dataset import Dataset
from evolabel.streams.files.convert import check_is_file, format_suffix, read_dataset, read_parquet_table
from evolabel.streams.tabular.csv_file import read_columns, read_table
from evolabel.streams.tabular.frames import frame_columns
from evolabel.streams.tabular.tables import (
    EXPECTED_NUMBER,
    Column,
    DescribeRow,
    Texts,
    check_finite,
    read_label,
)
from evolabel.typing import FloatArray, IntArray


def read_for_model(path: str | PathLike[str], features: Sequence[str], labels: Sequence[str]) -> Dataset:
    r"""Return the features and labels of a trained model from a file; other columns are ignored.

    Labels may be missing, so that new rows can be predicted. Columns are found by name, in any order.

    Parameters
    ----------
    path : str or path
        A .csv, .parquet, .arff or .npz file.
    features, labels : sequence of str
        Names of the features and labels of the model. Every feature needs a column; labels without one are NaN.

    Returns
    -------
    Dataset

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "today.csv")
    ...     _ = path.write_text("time,site,depth\n8:00,north,0.5\n9:00,east,\n")
    ...     today = read_for_model(path, ["depth", "site=north", "site=south"], ["frogs"])
    >>> today.X
    array([[0.5, 1. , 0. ],
           [nan, 0. , 0. ]])
    >>> today.Y
    array([[nan],
           [nan]])
    """
    source = Path(path)
    check_is_file(source)
    columns, describe_row, lines = _columns(source, features, labels)
    return replace(_known_columns(columns, features, labels, str(source), describe_row), lines=lines)


def for_model(dataset: Dataset, features: Sequence[str], labels: Sequence[str]) -> Dataset:
    """Return the `features` and `labels` of a trained model from `dataset`, as `read_for_model` does from a file."""
    return _known_columns(_columns_of(dataset), features, labels, dataset.name, _numbered)


def _columns(
    path: Path, features: Sequence[str], labels: Sequence[str]
) -> tuple[dict[str, Column], DescribeRow, IntArray | None]:
    """Return the columns, a function that describes a row, and the line numbers of all rows (None: no lines)."""
    match format_suffix(path):
        case ".csv" | ".tsv":
            table = read_table(path)
            columns = read_columns(table, _used_columns(table.names, features, labels))
            return columns, table.describe_row, np.array(table.lines)
        case ".parquet":
            frame = read_parquet_table(path)
            return frame_columns(frame.select(_used_columns(frame.column_names, features, labels))), _numbered, None
        case kind:
            return _columns_of(read_dataset(path, labels if kind == ".arff" else None)), _numbered, None


def _columns_of(dataset: Dataset) -> dict[str, Column]:
    names = (*dataset.feature_names, *dataset.label_names)
    return dict(zip(names, (*dataset.X.T, *dataset.Y.T), strict=True))


def _numbered(row: int) -> str:
    return f"row {row}"


def _known_columns(
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


def _used_columns(columns: Collection[str], features: Sequence[str], labels: Sequence[str]) -> list[str]:
    """Return the names in `columns` that `_known_columns` reads for these `features` and `labels`."""
    used = {_column_of(feature, columns) for feature in features}.union(labels)
    return [column for column in columns if column in used]


def _column_of(feature: str, columns: Collection[str]) -> str | None:
    """Return the column of `feature`: the one of its name, or the one of texts before an equals sign in its name."""
    before_equals = (feature[:position] for position, mark in enumerate(feature) if mark == "=")
    return next((name for name in (feature, *before_equals) if name in columns), None)


def _values(feature: str, columns: Mapping[str, Column], describe_row: DescribeRow) -> FloatArray:
    name = _column_of(feature, columns) or feature
    column = columns[name]
    if name != feature:
        return _indicator(feature[len(name) + 1 :], column)
    if not isinstance(column, Texts):
        return check_finite(feature, column, describe_row)
    _refuse_texts(feature, column, describe_row)
    return np.full(len(column.values), np.nan)


def _refuse_texts(feature: str, column: Texts, describe_row: DescribeRow) -> None:
    """Raise DataError unless all texts of `column` are missing; it names one that is not a number, if there is any."""
    given = [(row, text) for row, text in enumerate(column.values) if text is not None]
    for decimal in (",", "."):
        for row, text in given:
            if not is_number(text, decimal):
                raise DataError(f"{describe_row(row)}: {feature!r} is {text!r}; {EXPECTED_NUMBER}")
    if given:
        row, text = given[0]
        raise DataError(f"{describe_row(row)}: {feature!r} is {text!r}, a text; {EXPECTED_NUMBER}")


def _indicator(value: str, column: Column) -> FloatArray:
    """Return 1 where `column` holds `value`, NaN where it is missing, else 0."""
    texts = column.values if isinstance(column, Texts) else [None if np.isnan(x) else f"{x:g}" for x in column]
    return np.array([np.nan if text is None else float(text == value) for text in texts])
