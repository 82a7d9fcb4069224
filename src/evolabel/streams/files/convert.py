"""Data sets in files: `write_dataset` writes NumPy's .npz or Parquet, `read_dataset` reads these and all others."""

import json
import zlib
from collections import Counter
from collections.abc import Iterable, Sequence
from os import PathLike
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np

from evolabel._utils import optional
from evolabel._utils.files import as_path, resolve_link, staged
from evolabel._utils.json_text import parse_json
from evolabel.errors import DataError, DatasetNotFoundError, FileFormatError, ParameterError
from evolabel.streams.arff.columns import Nominal
from evolabel.streams.arff.reader import read_arff
from evolabel.streams.columns import ONLY_NUMBERS, ColumnKinds
from evolabel.streams.dataset import Dataset
from evolabel.streams.reading import COMPRESSIONS
from evolabel.streams.tabular.csv_file import read_table
from evolabel.streams.tabular.excel import read_excel
from evolabel.streams.tabular.frames import from_frame
from evolabel.streams.tabular.json_lines import read_json_lines
from evolabel.streams.tabular.label_column import LabelColumn
from evolabel.streams.tabular.text_table import TextTable, table_dataset
from evolabel.typing import FloatArray

_READABLE = (".arff", ".csv", ".jsonl", ".npz", ".parquet", ".tsv", ".xlsx")
_WRITTEN = (".npz", ".parquet")
_NPZ_ERRORS = (OSError, EOFError, ValueError, KeyError, TypeError, BadZipFile, zlib.error)  # of damaged files

# Names, split and order of a data set are stored beside its numbers as JSON text, its facts.
_VERSION = 1  # of the format of the files
_FIELDS = ("name", "split", "feature_names", "label_names", "starts_at", "one_per_row", "kinds")
_FACTS_KEY = b"evolabel"  # in the metadata of a Parquet file


def check_written_format(path: Path) -> None:
    """Raise FileFormatError unless the suffix of `path` is that of a format to write."""
    if path.suffix.lower() not in _WRITTEN:
        raise FileFormatError(f"{path.name!r} has no suffix of a format to write; use {' or '.join(_WRITTEN)}")


def write_dataset(dataset: Dataset, path: str | PathLike[str]) -> None:
    """Write a data set with its names and its split to a .npz or .parquet file, by the suffix of `path`.

    The file is written atomically: if writing fails, an older file of this name is unchanged.

    Parameters
    ----------
    dataset : Dataset
        The data set to write.
    path : str or path
        The file. Its folders are created if they do not exist.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> import numpy as np
    >>> pond = Dataset(np.array([[0.5], [np.nan]]), np.array([[1.0], [np.nan]]), ("depth",), ("frogs",), split=1)
    >>> with TemporaryDirectory() as folder:
    ...     write_dataset(pond, Path(folder, "pond.npz"))
    ...     again = read_dataset(Path(folder, "pond.npz"))
    >>> again.X[0], again.label_names, again.split
    (array([0.5]), ('frogs',), 1)
    """
    target = as_path(path)
    check_written_format(target)
    writer = _write_npz if target.suffix.lower() == ".npz" else _write_parquet
    place = resolve_link(target)
    with staged(place.parent, workplace=place.parent) as stage:
        writer(dataset, stage / place.name)


def read_dataset(
    path: str | PathLike[str],
    labels: Iterable[str] | int | LabelColumn | None = None,
    *,
    drop: Sequence[str] = (),
    time: Sequence[str] = (),
    nominal: Nominal = "one-hot",
) -> Dataset:
    """Return the data set in a file: .npz, .parquet, .xlsx, .arff, .csv, .tsv or .jsonl; the last four also compressed.

    Parameters
    ----------
    path : str or path
        The file; its suffix names the format.
    labels : sequence of str, int, LabelColumn or None
        Which columns are labels: their names, n for the first n, -n for the last n; or the one column that holds all
        labels. None for files of `write_dataset`, which store their labels, and if MULAN's XML file of the same name is
        beside the file.
    drop : sequence of str
        Columns to leave out, such as serial numbers.
    time : sequence of str
        Columns of timestamps, see `from_csv`; not in .npz and .arff files.
    nominal : {"one-hot", "codes"}
        How the nominal features of an ARFF file are read, see `read_arff`.

    Raises
    ------
    FileFormatError
        If the file is damaged, or its format unknown.
    """
    source = as_path(path)
    check_is_file(source)
    kind = format_suffix(source)
    if kind == ".npz" and labels is not None:
        raise ParameterError(f"{source} has labels of its own; leave out labels={labels!r}")
    if kind in (".npz", ".arff") and (time or isinstance(labels, LabelColumn)):
        raise ParameterError(f"{source} has no columns of texts; leave out the time and label columns")
    match kind:
        case ".npz":
            return _read_npz(source).without(drop)
        case ".parquet":
            return _read_parquet(source, labels, drop, time)
        case ".arff":
            assert not isinstance(labels, LabelColumn)
            return read_arff(source, labels, nominal=nominal, drop=drop)
        case ".csv" | ".tsv" | ".jsonl" | ".xlsx":
            return table_dataset(read_text_table(source), labels, drop=drop, time=time)
        case other:
            raise FileFormatError(f"{source} has an unknown format ({other!r}); expected {', '.join(_READABLE)}")


def read_text_table(path: Path, most_cells: int | None = None) -> TextTable:
    """Return the table in the file `path` of CSV, JSON lines or Excel; the last two have `most_cells` at most."""
    match format_suffix(path):
        case ".jsonl":
            return read_json_lines(path, most_cells)
        case ".xlsx":
            return read_excel(path, most_cells)
        case _:
            return read_table(path)


def check_is_file(path: Path) -> None:
    """Raise DatasetNotFoundError unless `path` is a file."""
    if path.is_dir():
        raise DatasetNotFoundError(f"{path} is a folder; pass a file in it")
    if not path.is_file():
        raise DatasetNotFoundError(f"there is no file {path}; check the path")


def format_suffix(path: Path) -> str:
    """Return the suffix of `path` in lower case; that of a compression is removed first."""
    inner = path.with_suffix("") if path.suffix.lower() in COMPRESSIONS else path
    return inner.suffix.lower()


def _write_npz(dataset: Dataset, path: Path) -> None:
    with path.open("wb") as file:  # given a name, numpy would add a suffix
        np.savez_compressed(file, X=dataset.X, Y=dataset.Y, facts=np.array(_facts_text(dataset)))


def _read_npz(path: Path) -> Dataset:
    try:
        with np.load(path, allow_pickle=False) as arrays:
            facts = _parse_facts(str(arrays["facts"]), path)
            return Dataset(arrays["X"], arrays["Y"], **facts)
    except _NPZ_ERRORS as error:
        raise _damaged_file(path, error) from None


def _facts_text(dataset: Dataset) -> str:
    """Return the facts about `dataset`, all but its numbers, as JSON text."""
    return json.dumps({field: getattr(dataset, field) for field in _FIELDS} | {"version": _VERSION})


def _parse_facts(text: str, path: Path) -> dict[str, Any]:
    """Return the facts in the JSON `text` of the file `path`, as arguments of `Dataset`."""
    stored = parse_json(text)
    if stored["version"] > _VERSION:
        raise FileFormatError(
            f"{path} has format version {stored['version']}, this evolabel reads up to {_VERSION}; update evolabel"
        )
    facts = {field: stored[field] for field in _FIELDS if field in stored}
    texts, flags, origins = facts.get("kinds", ONLY_NUMBERS)
    return {**facts, "kinds": ColumnKinds(tuple(texts), tuple(flags), dict(origins))}


def _damaged_file(path: Path, error: Exception) -> FileFormatError:
    """Return `error` if it is a FileFormatError, else one that names the damaged file `path` and the `error`."""
    if isinstance(error, FileFormatError):
        return error
    return FileFormatError(f"{path} is not a complete file of write_dataset ({error}); write it again")


def _write_parquet(dataset: Dataset, path: Path) -> None:
    """Write `dataset` to the file `path`: all columns as numbers, null where a value is missing."""
    pyarrow, parquet = optional.load_parquet()
    names = dataset.feature_names + dataset.label_names
    name, times = Counter(names).most_common(1)[0]
    if times > 1:
        raise DataError(f"{times} columns are named {name!r}, Parquet needs different names; rename them, or use .npz")
    columns = [pyarrow.array(values, from_pandas=True) for values in (*dataset.X.T, *dataset.Y.T)]
    table = pyarrow.table(columns, names=list(names), metadata={_FACTS_KEY: _facts_text(dataset)})
    parquet.write_table(table, path)


def _read_parquet(
    path: Path, labels: Iterable[str] | int | LabelColumn | None, drop: Iterable[str], time: Sequence[str]
) -> Dataset:
    """Return the data set in the Parquet file `path`, without the columns in `drop`, `time` as timestamps.

    If `labels` is None, the file must be one of `_write_parquet`; otherwise `labels` are read as in `from_frame`.
    """
    table = read_parquet_table(path)
    if labels is not None:
        return from_frame(table, labels, drop=drop, time=time, name=path.stem)
    text = (table.schema.metadata or {}).get(_FACTS_KEY)
    if text is None:
        raise DataError(f"the labels of {path} are not given; pass their names, or -n for the last n columns")
    try:
        facts = _parse_facts(text.decode(), path)
        X, Y = _numbers(table, facts["feature_names"]), _numbers(table, facts["label_names"])
        dataset = Dataset(X, Y, **facts)
    except (ValueError, KeyError, TypeError) as error:
        raise _damaged_file(path, error) from None
    return dataset.without(drop)


def _numbers(table: Any, names: Iterable[str]) -> FloatArray:
    return np.column_stack([np.asarray(table[name].to_numpy(), dtype=np.float64) for name in names])


def read_parquet_table(path: Path) -> Any:
    """Return the Parquet file `path` as a table of pyarrow."""
    pyarrow, parquet = optional.load_parquet()
    try:
        return parquet.read_table(path)
    except (OSError, pyarrow.ArrowException) as error:
        raise _damaged_file(path, error) from None
