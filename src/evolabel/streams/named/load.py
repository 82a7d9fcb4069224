"""`load_dataset`: published multi-label data sets, by name."""

from dataclasses import replace
from functools import partial
from importlib.util import find_spec
from pathlib import Path

import numpy as np

from evolabel._utils import optional
from evolabel.errors import FileFormatError
from evolabel.streams.arff.columns import Nominal
from evolabel.streams.arff.reader import check_nominal, read_arff
from evolabel.streams.dataset import Dataset
from evolabel.streams.named.catalogue import Entry, find_entry
from evolabel.streams.named.download import download, find_checked_folder, find_folder


def load_dataset(name: str, *, nominal: Nominal = "one-hot") -> Dataset:
    """Return a published data set, the official training part first (`split` is its number of rows).

    The data set is searched in the folder EVOLABEL_DATA, then in the cache (EVOLABEL_CACHE, or `evolabel` in the user's
    cache folder), then in installed packages (river contains yeast). If it is nowhere, it is downloaded into the cache.
    In both folders the files of a data set are in a folder of its name.

    Parameters
    ----------
    name : str
        One of `dataset_names()`.
    nominal : {"one-hot", "codes"}
        How nominal features are read, see `read_arff`.

    Raises
    ------
    DataError
        If there is no data set of this name.
    DatasetNotFoundError
        If the data set cannot be downloaded.

    Examples
    --------
    >>> yeast = load_dataset("yeast")
    >>> yeast.X.shape, yeast.n_labels, yeast.split
    ((2417, 103), 14, 1500)
    """
    check_nominal(nominal)
    entry = find_entry(name)
    folder = find_checked_folder(entry)
    if folder is None:
        if _is_bundled(entry):
            return _load_bundled_yeast(entry)
        if entry.stand_in is not None:
            return replace(load_dataset(entry.stand_in, nominal=nominal), name=entry.name)
        folder = download(entry, partial(_check_download, entry))
    return _read(entry, folder, nominal)


def is_at_hand(entry: Entry) -> bool:
    """Return whether the data set of `entry` can be loaded without a download."""
    return find_folder(entry) is not None or _is_bundled(entry)


def _is_bundled(entry: Entry) -> bool:
    """Return whether an installed package contains the data set: river contains the rows of MULAN's yeast.arff."""
    return entry.name == "yeast" and find_spec("river") is not None


def _load_bundled_yeast(entry: Entry) -> Dataset:
    """Return yeast from river, the training part first, as in every `Dataset`; in river the test part comes first."""
    samples = list(optional.load("river.datasets", "river", "the bundled yeast").Yeast())
    n_test = len(samples) - (entry.split or 0)
    ordered = samples[n_test:] + samples[:n_test]
    X = np.array([list(x.values()) for x, _ in ordered], dtype=np.float64)
    Y = np.array([list(y.values()) for _, y in ordered], dtype=np.float64)
    features, labels = samples[0]
    return Dataset(X, Y, tuple(features), tuple(labels), entry.name, split=entry.split, starts_at=entry.starts_at)


def _read(entry: Entry, folder: Path, nominal: Nominal) -> Dataset:
    labels = -entry.labels if entry.label_file is None else folder / entry.label_file.name
    read = partial(read_arff, labels=labels, nominal=nominal, rows=entry.first, drop=entry.drop, counts=entry.counts)
    dataset = _joined(entry, folder, [read(folder / part.name) for part in entry.parts])
    found, expected = (len(dataset), dataset.n_labels, dataset.split), (entry.rows, entry.labels, entry.split)
    if found != expected:
        raise FileFormatError(
            f"{folder} does not hold {entry.name!r}: {_describe_sizes(*found)}, expected {_describe_sizes(*expected)}; "
            "fetch the original files again"
        )
    return dataset


def _joined(entry: Entry, folder: Path, parts: list[Dataset]) -> Dataset:
    first = parts[0]
    if any((p.feature_names, p.label_names) != (first.feature_names, first.label_names) for p in parts):
        raise FileFormatError(f"the files in {folder} have different columns; fetch the original files again")
    if len(parts) == 1:  # no copy: one file may take more than a gigabyte
        return replace(first, name=entry.name, starts_at=entry.starts_at)
    X, Y = np.concatenate([part.X for part in parts]), np.concatenate([part.Y for part in parts])
    names = first.feature_names, first.label_names
    return Dataset(X, Y, *names, entry.name, split=len(first), starts_at=entry.starts_at)


def _check_download(entry: Entry, folder: Path) -> None:
    """Raise FileFormatError if the files in `folder` have wrong sizes.

    The number of features is checked only if the catalogue has no digest of a file.
    """
    found = _read(entry, folder, "codes").n_features + len(entry.drop)
    if found != entry.features and not all(part.sha256 for part in entry.parts):
        raise FileFormatError(f"the files have {found} features, expected {entry.features}")


def _describe_sizes(rows: int, labels: int, split: int | None) -> str:
    return f"{rows} rows, {labels} labels" + (f", {split} rows for training" if split else "")
