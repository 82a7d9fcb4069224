"""The data sets that `load_dataset` knows by name; the table itself is `catalogue.toml`."""

import tomllib
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache
from importlib.resources import files
from typing import Any

from evolabel.errors import DataError


@dataclass(frozen=True)
class DataFile:
    """One file: its name in the folder of its data set, where it can be fetched, and the SHA-256 of its bytes."""

    name: str
    address: str | None = None
    sha256: str | None = None


@dataclass(frozen=True)
class Entry:
    """One data set: its ARFF files (training part first), its label file, and what they must hold together.

    `features` counts attributes, before nominal ones are spread, and with those of `drop`, which are left out;
    `starts_at` is explained by `Dataset`. Where `first` is given, only so many first rows are meant; where `folder`
    differs from the name, the files are those of another data set.
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
        """All files."""
        return self.parts if self.label_file is None else (*self.parts, self.label_file)

    @property
    def can_be_fetched(self) -> bool:
        """Is there an address for every file?"""
        return all(file.address for file in self.files)


def dataset_names() -> list[str]:
    """Names that `load_dataset` knows, in alphabetical order.

    Examples
    --------
    >>> dataset_names()[:4]
    ['bibtex', 'birds', 'bookmarks', 'cal500']
    """
    return sorted(read_catalogue())


def find_entry(name: str) -> Entry:
    """The entry of a name, upper or lower case; an unknown name is told together with those that are close to it."""
    entries = read_catalogue()
    wanted = str(name).lower()
    if wanted in entries:
        return entries[wanted]
    close = get_close_matches(wanted, entries, n=3, cutoff=0.5)
    hint = f"did you mean {' or '.join(map(repr, close))}? " if close else ""
    raise DataError(f"there is no data set named {name!r}; {hint}known are {', '.join(dataset_names())}")


@cache
def read_catalogue() -> dict[str, Entry]:
    """All entries by name."""
    table = tomllib.loads(files("evolabel.streams.named").joinpath("catalogue.toml").read_text("utf-8"))
    return {name: _entry(name, row) for name, row in table.items()}


def _entry(name: str, row: dict[str, Any]) -> Entry:
    base = row.pop("from", None)
    files: list[DataFile | None] = [_data_file(file, base) for file in row.pop("files")]
    *parts, label_file = [*files, None] if row.get("counts") else files
    folder, drop = row.pop("folder", name), tuple(row.pop("drop", ()))
    return Entry(name, tuple(filter(None, parts)), label_file, folder=folder, drop=drop, **row)


def _data_file(file: dict[str, str], base: str | None) -> DataFile:
    address = base and base + file.get("as", file["name"])
    return DataFile(file["name"], address, file.get("sha256"))
