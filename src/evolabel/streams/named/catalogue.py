"""The data sets that `load_dataset` can load, read from `catalogue.toml`."""

import tomllib
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache
from importlib.resources import files
from typing import Any

from evolabel.errors import DataError


@dataclass(frozen=True)
class DataFile:
    """One file: its name in the folder of its data set, its address on the web, and its SHA-256."""

    name: str
    address: str | None = None
    sha256: str | None = None


@dataclass(frozen=True)
class Entry:
    """One data set: its ARFF files (training part first), its label file, and the sizes they must have.

    `features` is the number of attributes in the files, those of `drop` included, which are left out; `split` and
    `starts_at` are as in `Dataset`. With `first`, only this number of first rows is read. If `folder` differs from
    `name`, the files are those of another data set. `counts` is as in `read_arff`. `stand_in` names the entry that is
    loaded if these files are not there; `note` describes them in messages.
    """

    name: str
    parts: tuple[DataFile, ...]
    label_file: DataFile | None
    folder: str
    rows: int
    features: int
    labels: int
    split: int | None = None
    starts_at: int = 0
    first: int | None = None
    drop: tuple[str, ...] = ()
    counts: bool = False
    stand_in: str | None = None
    note: str = ""

    @property
    def files(self) -> tuple[DataFile, ...]:
        """All files: the parts and the label file."""
        return self.parts if self.label_file is None else (*self.parts, self.label_file)

    @property
    def can_be_fetched(self) -> bool:
        """Whether every file has an address."""
        return all(file.address for file in self.files)


def dataset_names() -> list[str]:
    """Return the names that `load_dataset` accepts, in alphabetical order.

    Examples
    --------
    >>> dataset_names()[:4]
    ['bibtex', 'birds', 'bookmarks', 'cal500']
    """
    return sorted(read_catalogue())


def find_entry(name: str) -> Entry:
    """Return the entry of the data set `name`, in any case; DataError with similar names if there is none."""
    entries = read_catalogue()
    key = str(name).lower()
    if key in entries:
        return entries[key]
    close = get_close_matches(key, entries, n=3, cutoff=0.5)
    hint = f"did you mean {' or '.join(map(repr, close))}? " if close else ""
    raise DataError(f"there is no data set named {name!r}; {hint}the names are {', '.join(dataset_names())}")


@cache
def read_catalogue() -> dict[str, Entry]:
    """Return all entries, by name."""
    table = tomllib.loads(files("evolabel.streams.named").joinpath("catalogue.toml").read_text("utf-8"))
    return {name: _entry(name, row) for name, row in table.items()}


def _entry(name: str, row: dict[str, Any]) -> Entry:
    base = row.pop("from", None)
    files: list[DataFile | None] = [
        DataFile(file["name"], base and base + file.get("as", file["name"]), file.get("sha256"))
        for file in row.pop("files")
    ]
    *parts, label_file = [*files, None] if row.get("counts") else files
    folder, drop = row.pop("folder", name), tuple(row.pop("drop", ()))
    return Entry(name, tuple(filter(None, parts)), label_file, folder=folder, drop=drop, **row)
