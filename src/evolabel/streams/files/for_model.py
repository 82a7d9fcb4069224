"""`read_for_model`: the columns of a file that a trained model needs, found by their names."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from functools import partial
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from evolabel._utils.files import as_path
from evolabel._utils.notes import note
from evolabel._utils.text import first_names
from evolabel.errors import DataError
from evolabel.streams.dataset import Dataset
from evolabel.streams.files.convert import (
    check_is_file,
    format_suffix,
    read_dataset,
    read_parquet_table,
    read_text_table,
)
from evolabel.streams.tabular.column_coding import ColumnCoding, Unseen
from evolabel.streams.tabular.frames import frame_columns
from evolabel.streams.tabular.tables import Column, DescribeRow, Texts, read_label
from evolabel.streams.tabular.text_table import read_columns


def read_for_model(path: str | PathLike[str], features: Sequence[str], labels: Sequence[str]) -> Dataset:
    r"""Return the features and labels of a trained model from a file; other columns are ignored.

    Labels may be missing, so that new rows can be predicted. Columns are found by name, in any order.

    Parameters
    ----------
    path : str or path
        A file that `read_dataset` reads.
    features, labels : sequence of str
        Names of the features and labels of the model. Every feature needs a column; labels without one are NaN.

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
    return read_with_coding(path, _by_features(features), labels).dataset


class ModelRows(NamedTuple):
    """Rows of a file for a model, the texts in them that the model has no feature for, and columns kept as texts."""

    dataset: Dataset
    unseen: list[Unseen]
    kept: dict[str, list[str]]


def read_with_coding(
    path: str | PathLike[str], coding: ColumnCoding | int, labels: Sequence[str], keep: Sequence[str] = ()
) -> ModelRows:
    """Return the rows of the file `path` for a model with the columns of `coding` and these `labels`.

    Other columns are ignored; those named by `keep` are returned as texts. Labels without a column are NaN. If `coding`
    is a number, all columns but the labels are features of a model without names, which has so many.
    """
    source = as_path(path)
    check_is_file(source)
    table = _open_table(source, labels)
    if absent := [name for name in keep if name not in table.names]:
        raise DataError(f"{source} has no column {absent[0]!r} to keep; its columns are {first_names(table.names)}")
    coding = _in_order(table, coding, labels, source) if isinstance(coding, int) else coding.coded_in(table.names)
    gaps = _absent_keys(table, coding, source)
    used = {*coding.used([*table.names, *gaps], str(source)), *labels}
    columns = table.read([name for name in table.names if name in used], coding.times)
    columns |= {name: Texts.of([None] * len(table.lines or ())) for name in gaps}
    dataset, unseen = _known_columns(columns, coding, labels, str(source), table.describe_row)
    lines = None if table.lines is None else np.array(table.lines)
    return ModelRows(replace(dataset, lines=lines), unseen, {name: table.texts(name) for name in keep})


def _in_order(table: "_Table", width: int, labels: Sequence[str], source: Path) -> ColumnCoding:
    """Return the coding by which all columns of `table` but the `labels` are the `width` features of a model."""
    features = [name for name in table.names if name not in labels]
    if len(features) != width:
        raise DataError(
            f"{source} has {len(features)} columns ({first_names(features)}), the model has {width} features without "
            "names; give it a file with these columns, in their order"
        )
    return _by_features(features)


def _absent_keys(table: "_Table", coding: ColumnCoding, source: Path) -> list[str]:
    """Return the columns of `coding` that no line of JSON lines has, if it has any; a note names them."""
    absent = coding.absent(table.names) if table.may_lack_keys else []
    if not absent or len(absent) == len(coding.columns):
        return []
    note(f"no line of {source} has {first_names(absent)}; read as missing")
    return absent


def for_model(dataset: Dataset, features: Sequence[str], labels: Sequence[str]) -> Dataset:
    """Return the `features` and `labels` of a trained model from `dataset`, as `read_for_model` does from a file."""
    return _known_columns(_columns_of(dataset), _by_features(features), labels, dataset.name, _numbered)[0]


def _by_features(features: Sequence[str]) -> ColumnCoding:
    """Return the coding that reads each feature by its name, or from a column of texts before its equals sign."""
    return ColumnCoding(tuple(features), (None,) * len(features))


class _Table(NamedTuple):
    """A file that is read column by column.

    `read` returns columns by name, those of its second argument as texts; `texts` returns the cells of one.
    """

    names: Sequence[str]
    read: Callable[[list[str], Collection[str]], dict[str, Column]]
    texts: Callable[[str], list[str]]
    describe_row: DescribeRow
    lines: Sequence[int] | None = None
    may_lack_keys: bool = False


def _open_table(path: Path, labels: Sequence[str]) -> _Table:
    """Return the table in the file `path`; `labels` are the labels of an ARFF file."""
    match format_suffix(path):
        case (".csv" | ".tsv" | ".jsonl" | ".xlsx") as kind:
            table = read_text_table(path)
            cells, read = table.columns(), partial(read_columns, table)
            sparse = kind == ".jsonl"
            return _Table(table.names, read, lambda name: list(cells[name]), table.describe_row, table.lines, sparse)
        case ".parquet":
            frame = read_parquet_table(path)
            return _Table(frame.column_names, partial(frame_columns, frame), partial(_frame_texts, frame), _numbered)
        case kind:
            columns = _columns_of(read_dataset(path, labels if kind == ".arff" else None))
            return _Table(list(columns), lambda *_: columns, lambda name: _as_texts(columns[name]), _numbered)


def _frame_texts(frame: Any, name: str) -> list[str]:
    """Return the cells of the column `name` of a table of pyarrow as texts, empty where one is missing."""
    return ["" if value is None else str(value) for value in frame.column(name).to_pylist()]


def _as_texts(column: Column) -> list[str]:
    """Return the values of `column` as texts, empty where one is missing."""
    if isinstance(column, Texts):
        return ["" if text is None else text for text in column.values]
    return ["" if np.isnan(value) else f"{value:g}" for value in column]


def _columns_of(dataset: Dataset) -> dict[str, Column]:
    names = (*dataset.feature_names, *dataset.label_names)
    return dict(zip(names, (*dataset.X.T, *dataset.Y.T), strict=True))


def _numbered(row: int) -> str:
    return f"row {row}"


def _known_columns(
    columns: Mapping[str, Column], coding: ColumnCoding, labels: Sequence[str], name: str, describe_row: DescribeRow
) -> tuple[Dataset, list[Unseen]]:
    """Return the data set `name` with the features of `coding` and the `labels` of a model from `columns`.

    Labels without a column are NaN. A feature such as `site=north` is 1 where the column `site` is north, and 0 for any
    other text; the texts that have no feature are returned beside. `describe_row` returns where a row is, for messages.
    """
    X, unseen = coding.encode(columns, describe_row, name)
    missing = np.full(len(X), np.nan)
    read = [read_label(label, columns[label], describe_row) if label in columns else missing for label in labels]
    return Dataset(X, np.column_stack(read), tuple(coding.feature_names), tuple(labels), name), unseen
