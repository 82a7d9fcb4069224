"""Data sets as .npz files: two arrays, and the facts about them as text; nothing is pickled."""

import zlib
from pathlib import Path
from zipfile import BadZipFile

import numpy as np

from evolabel.streams.dataset import Dataset
from evolabel.streams.files.facts import Facts, broken

DAMAGE = (OSError, EOFError, ValueError, KeyError, TypeError, BadZipFile, zlib.error)


def write_npz(dataset: Dataset, path: Path) -> None:
    """Write features, labels and facts, compressed."""
    with path.open("wb") as file:  # given a name, numpy would add its own ending
        np.savez_compressed(file, X=dataset.X, Y=dataset.Y, facts=np.array(Facts.of(dataset).text()))


def read_npz(path: Path) -> Dataset:
    """Read a file of `write_npz`."""
    try:
        with np.load(path, allow_pickle=False) as arrays:
            return Facts.parse(str(arrays["facts"]), path).dataset(arrays["X"], arrays["Y"])
    except DAMAGE as error:
        raise broken(path, error) from None
