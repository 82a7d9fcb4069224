"""`load_dataset`: the well-known multi-label data sets, by name."""

from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np

from evolabel.errors import FileFormatError
from evolabel.streams.arff.columns import Nominal
from evolabel.streams.arff.reader import check_nominal, read_arff
from evolabel.streams.dataset import Dataset
from evolabel.streams.named.bundled import find_bundled, has_bundled
from evolabel.streams.named.cache import find_files, folder_of
from evolabel.streams.named.catalogue import Entry, find_entry
from evolabel.streams.named.download import download


def load_dataset(name: str, *, nominal: Nominal = "one-hot") -> Dataset:
    """A data set by its name, the official training part first (`split` tells how long it is).

    It is looked for in the folder EVOLABEL_DATA, then in the cache (EVOLABEL_CACHE, or `evolabel` among the user's
    caches), then among those bundled with installed packages (river has yeast); only then it is downloaded into the
    cache. In both folders the files of a data set lie in a folder of its name.

    Parameters
    ----------
    name : str
        One of `dataset_names()`.
    nominal : {"one-hot", "codes"}
        How nominal features are read, see `read_arff`.

    Returns
    -------
    Dataset

    Examples
    --------
    >>> yeast = load_dataset("yeast")
    >>> yeast.X.shape, yeast.n_labels, yeast.split
    ((2417, 103), 14, 1500)
    """
    check_nominal(nominal)
    entry = find_entry(name)
    folder = find_files(entry)
    if folder is None:
        bundled = find_bundled(entry)
        if bundled is not None:
            return bundled
        if entry.stand_in is not None:
            return replace(load_dataset(entry.stand_in, nominal=nominal), name=entry.name)
        folder = download(entry, partial(_check_download, entry))
    return _read(entry, folder, nominal)


def is_at_hand(entry: Entry) -> bool:
    """Can the data set be loaded without a download?"""
    return folder_of(entry) is not None or has_bundled(entry)


def _read(entry: Entry, folder: Path, nominal: Nominal) -> Dataset:
    labels = -entry.labels if entry.label_file is None else folder / entry.label_file.name
    read = partial(read_arff, labels=labels, nominal=nominal, rows=entry.first, drop=entry.drop, counts=entry.counts)
    dataset = _joined(entry, folder, [read(folder / part.name) for part in entry.parts])
    if (len(dataset), dataset.n_labels, dataset.split) != (entry.rows, entry.labels, entry.split):
        raise FileFormatError(
            f"{folder} does not hold {entry.name!r}: {_told(len(dataset), dataset.n_labels, dataset.split)}, expected "
            f"{_told(entry.rows, entry.labels, entry.split)}; fetch the original files again"
        )
    return dataset


def _joined(entry: Entry, folder: Path, parts: list[Dataset]) -> Dataset:
    first = parts[0]
    if any((p.feature_names, p.label_names) != (first.feature_names, first.label_names) for p in parts):
        raise FileFormatError(f"the files in {folder} have different columns; fetch the original files again")
    X, Y = first.X, first.Y
    if len(parts) > 1:
        X, Y = np.concatenate([part.X for part in parts]), np.concatenate([part.Y for part in parts])
    split = len(first) if len(parts) > 1 else None
    names = first.feature_names, first.label_names
    return Dataset(X, Y, *names, entry.name, split=split, starts_at=entry.starts_at)


def _check_download(entry: Entry, folder: Path) -> None:
    """Read the files once before they enter the cache; without a digest, their number of attributes counts, too."""
    found = _read(entry, folder, "codes").n_features + len(entry.drop)
    if found != entry.features and not all(part.sha256 for part in entry.parts):
        raise FileFormatError(f"{found} features came, expected {entry.features}")


def _told(rows: int, labels: int, split: int | None) -> str:
    return f"{rows} rows, {labels} labels" + (f", {split} rows for training" if split else "")
