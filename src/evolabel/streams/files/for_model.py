"""`read_for_model`: rows of a file for a model that knows its columns by name."""

from collections.abc import Sequence
from dataclasses import replace
from os import PathLike
from pathlib import Path

import numpy as np

from evolabel.streams.dataset import Dataset
from evolabel.streams.files.convert import check_there, format_of, read_dataset
from evolabel.streams.files.parquet_file import read_parquet_table
from evolabel.streams.tabular.csv_file import read_columns
from evolabel.streams.tabular.csv_table import read_table
from evolabel.streams.tabular.frames import frame_columns
from evolabel.streams.tabular.known_columns import known_columns, wanted
from evolabel.streams.tabular.tables import Column, Where
from evolabel.typing import IntArray


def read_for_model(path: str | PathLike[str], features: Sequence[str], labels: Sequence[str]) -> Dataset:
    r"""Read the columns a trained model knows from a file of any readable kind, and leave all others alone.

    So rows that nobody has labelled yet can be predicted, whatever else the file holds, in any order of columns.

    Parameters
    ----------
    path : str or path
        A .csv, .parquet, .arff or .npz file.
    features, labels : sequence of str
        Names the model knows. All features must be there; labels that are not are NaN.

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
    check_there(source)
    columns, where, lines = _columns(source, features, labels)
    return replace(known_columns(columns, features, labels, str(source), where), lines=lines)


def for_model(dataset: Dataset, features: Sequence[str], labels: Sequence[str]) -> Dataset:
    """The same from a data set."""
    return known_columns(_columns_of(dataset), features, labels, dataset.name, _numbered)


def _columns(
    path: Path, features: Sequence[str], labels: Sequence[str]
) -> tuple[dict[str, Column], Where, IntArray | None]:
    """The columns, the place of a row in words, and the lines of all rows, where there are lines."""
    match format_of(path):
        case ".csv" | ".tsv":
            table = read_table(path)
            return read_columns(table, wanted(table.names, features, labels)), table.where, np.array(table.lines)
        case ".parquet":
            frame = read_parquet_table(path)
            return frame_columns(frame.select(wanted(frame.column_names, features, labels))), _numbered, None
        case ".arff":
            return _columns_of(read_dataset(path, labels)), _numbered, None
        case _:
            return _columns_of(read_dataset(path)), _numbered, None


def _columns_of(dataset: Dataset) -> dict[str, Column]:
    names = (*dataset.feature_names, *dataset.label_names)
    return dict(zip(names, (*dataset.X.T, *dataset.Y.T), strict=True))


def _numbered(row: int) -> str:
    return f"row {row}"
