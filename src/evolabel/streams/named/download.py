"""Fetch the files of a named data set into the cache: all of them, checked, or none."""

import hashlib
import logging
from collections.abc import Callable
from contextlib import AbstractContextManager
from http.client import HTTPException
from pathlib import Path
from typing import Protocol
from urllib.request import Request, urlopen

from evolabel._utils.atomic_files import staged
from evolabel.errors import DatasetNotFoundError, FileFormatError
from evolabel.streams.named.cache import cache_folder, note_digest, own_place, places
from evolabel.streams.named.catalogue import DataFile, Entry
from evolabel.streams.named.progress import progress_bar

CHUNK = 1 << 16
PATIENCE = 30.0  # seconds without a byte

log = logging.getLogger(__name__)


class Headers(Protocol):
    """What came before the bytes."""

    def get(self, name: str) -> str | None:
        """One header."""


class Response(Protocol):
    """What an address answers."""

    @property
    def headers(self) -> Headers:
        """What came before the bytes."""

    def read(self, size: int) -> bytes:
        """The next bytes, none at the end."""


Opener = Callable[[str], AbstractContextManager[Response]]


def open_address(address: str) -> AbstractContextManager[Response]:
    """Ask an address for its file."""
    answer: AbstractContextManager[Response] = urlopen(
        Request(address, headers={"User-Agent": "evolabel"}), timeout=PATIENCE
    )
    return answer


def download(entry: Entry, check: Callable[[Path], object], opener: Opener = open_address) -> Path:
    """Fetch all files of a data set into the cache and return their folder.

    Digests that the catalogue knows are verified; `check` is called with the folder of the new files before they take
    their place, and raises FileFormatError if they are not what they should be.
    """
    if not entry.can_be_fetched:
        raise not_found(entry, "nobody publishes these files at an address of their own")
    folder = cache_folder() / entry.folder
    try:
        with staged(folder, workplace=cache_folder()) as stage:
            for file in entry.files:
                note_digest(stage / file.name, _fetch(file, stage / file.name, opener))
            check(stage)
    except (OSError, HTTPException, FileFormatError) as error:
        raise not_found(entry, f"downloading failed ({error})") from error
    return folder


def not_found(entry: Entry, reason: str) -> DatasetNotFoundError:
    """The one error of a data set that cannot be had: why, and what to put where."""
    names = ", ".join(file.name for file in entry.files)
    about = f" ({entry.note})" if entry.note else ""
    return DatasetNotFoundError(
        f"data set {entry.name!r} is neither in {own_place()} nor in the cache, and {reason}; "
        f"put {names}{about} into {places(entry)}"
    )


def _fetch(file: DataFile, path: Path, opener: Opener) -> str:
    """Write one file and return its digest, which is verified where it is known."""
    assert file.address is not None
    log.info("downloading %s", file.address)
    with opener(file.address) as answer, path.open("wb") as out:
        digest = _copy(answer, out.write, file.name)
    if file.sha256 and digest != file.sha256:
        raise FileFormatError(f"{file.address} gave a file with SHA-256 {digest}, expected {file.sha256}")
    return digest


def _copy(answer: Response, write: Callable[[bytes], object], title: str) -> str:
    announced = answer.headers.get("Content-Length")
    total = int(announced) if announced else None
    digest, size = hashlib.sha256(), 0
    with progress_bar(title, total) as advance:
        while chunk := answer.read(CHUNK):
            write(chunk)
            digest.update(chunk)
            advance(len(chunk))
            size += len(chunk)
    if total not in (None, size):
        raise FileFormatError(f"{title} ended after {size} of {total} bytes")
    return digest.hexdigest()
