"""Data sets in files: `write_dataset` to NumPy's .npz or to Parquet, `read_dataset` from these, from ARFF and CSV."""

from collections.abc import Callable, Iterable, Sequence
from os import PathLike
from pathlib import Path

from evolabel._utils.atomic_files import followed, staged
from evolabel.errors import DatasetNotFoundError, FileFormatError, ParameterError
from evolabel.streams.arff.columns import Nominal
from evolabel.streams.arff.reader import read_arff
from evolabel.streams.dataset import Dataset
from evolabel.streams.files.numpy_file import read_npz, write_npz
from evolabel.streams.files.opening import COMPRESSIONS
from evolabel.streams.files.parquet_file import read_parquet, write_parquet
from evolabel.streams.tabular.csv_file import from_csv

WRITERS: dict[str, Callable[[Dataset, Path], None]] = {".npz": write_npz, ".parquet": write_parquet}
READABLE = (".arff", ".csv", ".npz", ".parquet", ".tsv")


def write_dataset(dataset: Dataset, path: str | PathLike[str]) -> None:
    """Write a data set, with all names and the official split, to a .npz or .parquet file, by the ending of its name.

    The file appears when it is complete; if writing fails, what was there before is untouched.

    Parameters
    ----------
    dataset : Dataset
    path : str or path
        Folders that do not exist yet are made.

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
    writer = WRITERS.get(target.suffix.lower())
    if writer is None:
        raise FileFormatError(f"{target.name!r} names no format that can be written; use {' or '.join(WRITERS)}")
    place = followed(target)
    with staged(place.parent, workplace=place.parent) as stage:
        writer(dataset, stage / place.name)


def read_dataset(
    path: str | PathLike[str],
    labels: Iterable[str] | int | None = None,
    *,
    drop: Sequence[str] = (),
    nominal: Nominal = "one-hot",
) -> Dataset:
    """Read a data set from a .npz, .parquet, .arff or .csv file, the latter two also compressed.

    Parameters
    ----------
    path : str or path
    labels : sequence of str, int or None
        Which columns are labels: their names, n for the first n, -n for the last n. None where the file says it itself
        (files of `write_dataset`), or MULAN's XML file of the same name lies beside it.
    drop : sequence of str
        Columns to leave out, such as times and serial numbers.
    nominal : {"one-hot", "codes"}
        How the nominal features of an ARFF file are read, see `read_arff`.

    Returns
    -------
    Dataset
    """
    source = Path(path)
    check_there(source)
    kind = format_of(source)
    if kind == ".npz" and labels is not None:
        raise ParameterError(f"{source} says itself what its labels are; leave labels={labels!r} away")
    match kind:
        case ".npz":
            return read_npz(source).without(drop)
        case ".parquet":
            return read_parquet(source, labels, drop)
        case ".arff":
            return read_arff(source, labels, nominal=nominal, drop=drop)
        case ".csv" | ".tsv":
            return from_csv(source, labels, drop=drop)
        case other:
            raise FileFormatError(f"{source} is of no known kind ({other!r}); expected {', '.join(READABLE)}")


def check_there(path: Path) -> None:
    """Is it a file?"""
    if path.is_dir():
        raise DatasetNotFoundError(f"{path} is a folder; pass a file in it")
    if not path.is_file():
        raise DatasetNotFoundError(f"there is no file {path}; check the path")


def format_of(path: Path) -> str:
    """The ending of the name, that of a compression aside."""
    inner = path.with_suffix("") if path.suffix.lower() in COMPRESSIONS else path
    return inner.suffix.lower()
