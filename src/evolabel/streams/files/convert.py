"""Data sets in files: `write_dataset` writes NumPy's .npz or Parquet, `read_dataset` reads these, ARFF and CSV."""

import zlib
from collections.abc import Iterable, Sequence
from os import PathLike
from pathlib import Path
from zipfile import BadZipFile

import numpy as np

from evolabel._utils.atomic_files import resolve_link, staged
from evolabel.errors import DatasetNotFoundError, FileFormatError, ParameterError
from evolabel.streams.arff.columns import Nominal
from evolabel.streams.arff.reader import read_arff
from evolabel.streams.dataset import Dataset
from evolabel.streams.files.facts import damaged_file, facts_text, parse_facts
from evolabel.streams.files.parquet_file import read_parquet, write_parquet
from evolabel.streams.reading import COMPRESSIONS
from evolabel.streams.tabular.csv_file import from_csv

_READABLE = (".arff", ".csv", ".npz", ".parquet", ".tsv")
_NPZ_ERRORS = (OSError, EOFError, ValueError, KeyError, TypeError, BadZipFile, zlib.error)  # of damaged files


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
    target = Path(path)
    writers = {".npz": _write_npz, ".parquet": write_parquet}
    writer = writers.get(target.suffix.lower())
    if writer is None:
        raise FileFormatError(f"{target.name!r} has no suffix of a format to write; use {' or '.join(writers)}")
    place = resolve_link(target)
    with staged(place.parent, workplace=place.parent) as stage:
        writer(dataset, stage / place.name)


def read_dataset(
    path: str | PathLike[str],
    labels: Iterable[str] | int | None = None,
    *,
    drop: Sequence[str] = (),
    nominal: Nominal = "one-hot",
) -> Dataset:
    """Return the data set in a .npz, .parquet, .arff, .csv or .tsv file; the last three may be compressed.

    Parameters
    ----------
    path : str or path
        The file; its suffix names the format.
    labels : sequence of str, int or None
        Which columns are labels: their names, n for the first n, -n for the last n. None for files of `write_dataset`,
        which store their labels, and if MULAN's XML file of the same name is beside the file.
    drop : sequence of str
        Columns to leave out, such as times and serial numbers.
    nominal : {"one-hot", "codes"}
        How the nominal features of an ARFF file are read, see `read_arff`.

    Returns
    -------
    Dataset

    Raises
    ------
    FileFormatError
        If the file is damaged, or its format unknown.
    """
    source = Path(path)
    check_is_file(source)
    kind = format_suffix(source)
    if kind == ".npz" and labels is not None:
        raise ParameterError(f"{source} has labels of its own; leave out labels={labels!r}")
    match kind:
        case ".npz":
            return _read_npz(source).without(drop)
        case ".parquet":
            return read_parquet(source, labels, drop)
        case ".arff":
            return read_arff(source, labels, nominal=nominal, drop=drop)
        case ".csv" | ".tsv":
            return from_csv(source, labels, drop=drop)
        case other:
            raise FileFormatError(f"{source} has an unknown format ({other!r}); expected {', '.join(_READABLE)}")


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
        np.savez_compressed(file, X=dataset.X, Y=dataset.Y, facts=np.array(facts_text(dataset)))


def _read_npz(path: Path) -> Dataset:
    try:
        with np.load(path, allow_pickle=False) as arrays:
            facts = parse_facts(str(arrays["facts"]), path)
            return Dataset(arrays["X"], arrays["Y"], **facts)
    except _NPZ_ERRORS as error:
        raise damaged_file(path, error) from None
