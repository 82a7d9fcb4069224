"""`read_for_model`: the columns of a file that a trained model needs, found by their names."""

from collections.abc import Sequence
from dataclasses import replace
from os import PathLike
from pathlib import Path

import numpy as np

from evolabel.streams.dataset import Dataset
from evolabel.streams.files.convert import check_is_file, format_suffix, read_dataset
from evolabel.streams.files.parquet_file import read_parquet_table
from evolabel.streams.tabular.csv_file import read_columns
from evolabel.streams.tabular.csv_table import read_table
from evolabel.streams.tabular.frames import frame_columns
from evolabel.streams.tabular.known_columns import known_columns, used_columns
from evolabel.streams.tabular.tables import Column, DescribeRow
from evolabel.typing import IntArray


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
    return replace(known_columns(columns, features, labels, str(source), describe_row), lines=lines)


def for_model(dataset: Dataset, features: Sequence[str], labels: Sequence[str]) -> Dataset:
    """Return the `features` and `labels` of a trained model from `dataset`, as `read_for_model` does from a file."""
    return known_columns(_columns_of(dataset), features, labels, dataset.name, _numbered)


def _columns(
    path: Path, features: Sequence[str], labels: Sequence[str]
) -> tuple[dict[str, Column], DescribeRow, IntArray | None]:
    """Return the columns, a function that describes a row, and the line numbers of all rows (None: no lines)."""
    match format_suffix(path):
        case ".csv" | ".tsv":
            table = read_table(path)
            columns = read_columns(table, used_columns(table.names, features, labels))
            return columns, table.describe_row, np.array(table.lines)
        case ".parquet":
            frame = read_parquet_table(path)
            return frame_columns(frame.select(used_columns(frame.column_names, features, labels))), _numbered, None
        case ".arff":
            return _columns_of(read_dataset(path, labels)), _numbered, None
        case _:
            return _columns_of(read_dataset(path)), _numbered, None


def _columns_of(dataset: Dataset) -> dict[str, Column]:
    names = (*dataset.feature_names, *dataset.label_names)
    return dict(zip(names, (*dataset.X.T, *dataset.Y.T), strict=True))


def _numbered(row: int) -> str:
    return f"row {row}"
