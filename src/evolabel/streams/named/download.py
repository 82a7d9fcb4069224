"""Download of the files of a named data set into the cache: all of them, checked, or none."""

import hashlib
import logging
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from http.client import HTTPException
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

from evolabel._utils.atomic_files import staged
from evolabel.errors import DatasetNotFoundError, FileFormatError
from evolabel.streams.named.cache import cache_folder, describe_data_folder, describe_target_folders, write_digest
from evolabel.streams.named.catalogue import DataFile, Entry

_BLOCK_BYTES = 1 << 16
_TIMEOUT_SECONDS = 30.0  # without a byte

_log = logging.getLogger(__name__)

Opener = Callable[[str], AbstractContextManager[Any]]  # address -> response with `headers` and `read(size)`


def open_address(address: str) -> AbstractContextManager[Any]:
    """Return the response to a request for the file at `address`."""
    request = Request(address, headers={"User-Agent": "evolabel"})
    response: AbstractContextManager[Any] = urlopen(request, timeout=_TIMEOUT_SECONDS)
    return response


def download(entry: Entry, check: Callable[[Path], object], opener: Opener = open_address) -> Path:
    """Download all files of `entry` into the cache and return their folder.

    Digests of the catalogue are verified. `check` is called with a temporary folder of the new files, and raises
    FileFormatError if they are wrong; only then they move into the cache. `opener` requests an address.
    """
    if not entry.can_be_fetched:
        raise _not_found(entry, "its files have no address to download them from")
    folder = cache_folder() / entry.folder
    try:
        with staged(folder, workplace=cache_folder()) as stage:
            for file in entry.files:
                write_digest(stage / file.name, _fetch(file, stage / file.name, opener))
            check(stage)
    except (OSError, HTTPException, FileFormatError) as error:
        raise _not_found(entry, f"downloading failed ({error})") from error
    return folder


@contextmanager
def progress_bar(title: str, total: int | None) -> Iterator[Callable[[int], object]]:
    """Show a progress bar with a `title` on a terminal, and yield a function that adds a number of bytes to it.

    `total` is the number of bytes, None if it is unknown. Nothing is shown if rich is not installed.
    """
    if find_spec("rich") is None:
        yield lambda size: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TransferSpeedColumn

    console = Console(stderr=True)
    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TransferSpeedColumn())
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task(title, total=total)
        yield lambda size: bar.advance(task, size)


def _not_found(entry: Entry, reason: str) -> DatasetNotFoundError:
    """Return the error for a data set that cannot be loaded: the `reason`, and which files to put where."""
    names = ", ".join(file.name for file in entry.files)
    about = f" ({entry.note})" if entry.note else ""
    return DatasetNotFoundError(
        f"data set {entry.name!r} is neither in {describe_data_folder()} nor in the cache, and {reason}; "
        f"put {names}{about} into {describe_target_folders(entry)}"
    )


def _fetch(file: DataFile, path: Path, opener: Opener) -> str:
    """Write one file and return its digest, which is verified if the catalogue has one."""
    assert file.address is not None
    _log.info("downloading %s", file.address)
    with opener(file.address) as response, path.open("wb") as out:
        digest = _copy(response, out.write, file.name)
    if file.sha256 and digest != file.sha256:
        raise FileFormatError(f"{file.address} gave a file with SHA-256 {digest}, expected {file.sha256}")
    return digest


def _copy(response: Any, write: Callable[[bytes], object], title: str) -> str:
    announced = response.headers.get("Content-Length")
    total = int(announced) if announced else None
    digest, size = hashlib.sha256(), 0
    with progress_bar(title, total) as advance:
        while block := response.read(_BLOCK_BYTES):
            write(block)
            digest.update(block)
            advance(len(block))
            size += len(block)
    if total not in (None, size):
        raise FileFormatError(f"{title} ended after {size} of {total} bytes")
    return digest.hexdigest()
