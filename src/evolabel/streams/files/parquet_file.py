"""Data sets as Parquet files: one column per feature and label, and their facts in the metadata of the schema."""

from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from evolabel._utils import optional
from evolabel.errors import DataError
from evolabel.streams.dataset import Dataset
from evolabel.streams.files.facts import damaged_file, facts_text, parse_facts
from evolabel.streams.tabular.frames import from_frame
from evolabel.typing import FloatArray

_FACTS_KEY = b"evolabel"


def write_parquet(dataset: Dataset, path: Path) -> None:
    """Write `dataset` to the file `path`: all columns as numbers, null where a value is missing."""
    pyarrow = _load("pyarrow")
    names = dataset.feature_names + dataset.label_names
    name, times = Counter(names).most_common(1)[0]
    if times > 1:
        raise DataError(f"{times} columns are named {name!r}, Parquet needs different names; rename them, or use .npz")
    columns = [pyarrow.array(values, from_pandas=True) for values in (*dataset.X.T, *dataset.Y.T)]
    table = pyarrow.table(columns, names=list(names), metadata={_FACTS_KEY: facts_text(dataset)})
    _load("pyarrow.parquet").write_table(table, path)


def read_parquet(path: Path, labels: Iterable[str] | int | None, drop: Iterable[str] = ()) -> Dataset:
    """Return the data set in the Parquet file `path`, without the columns in `drop`.

    If `labels` is None, the file must be one of `write_parquet`; otherwise `labels` are read as in `from_frame`.
    """
    table = read_parquet_table(path)
    if labels is not None:
        return from_frame(table, labels, drop=drop, name=path.stem)
    text = (table.schema.metadata or {}).get(_FACTS_KEY)
    if text is None:
        raise DataError(f"the labels of {path} are not given; pass their names, or -n for the last n columns")
    try:
        facts = parse_facts(text.decode(), path)
        X, Y = _numbers(table, facts["feature_names"]), _numbers(table, facts["label_names"])
        dataset = Dataset(X, Y, **facts)
    except (ValueError, KeyError, TypeError) as error:
        raise damaged_file(path, error) from None
    return dataset.without(drop)


def _numbers(table: Any, names: Iterable[str]) -> FloatArray:
    return np.column_stack([np.asarray(table[name].to_numpy(), dtype=np.float64) for name in names])


def read_parquet_table(path: Path) -> Any:
    """Return the Parquet file `path` as a table of pyarrow."""
    pyarrow, parquet = _load("pyarrow"), _load("pyarrow.parquet")
    try:
        return parquet.read_table(path)
    except (OSError, pyarrow.ArrowException) as error:
        raise damaged_file(path, error) from None


def _load(module: str) -> Any:
    return optional.load(module, "parquet", "a Parquet file")
