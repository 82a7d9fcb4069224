"""The files of named data sets: the user's folder (EVOLABEL_DATA), the cache of downloads, and the download itself.

Files in the user's folder are not checked. A file in the cache must have the SHA-256 of the catalogue, or the one that
was written beside it when it was downloaded. A download stores all files of a data set, checked, or none.
"""

import hashlib
import logging
import os
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from http.client import HTTPException
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

from evolabel._utils.files import staged
from evolabel._utils.folders import user_cache_folder
from evolabel.errors import DatasetNotFoundError, FileFormatError
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
                digest = _fetch(file, stage / file.name, opener)
                _digest_file(stage / file.name).write_text(f"{digest}  {file.name}\n", "utf-8")
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
    own = data_folder()
    searched = "EVOLABEL_DATA" if own is None or own.is_dir() else f"EVOLABEL_DATA (there is no folder {own})"
    target = f"the folder {entry.folder} of the folder named by EVOLABEL_DATA" if own is None else own / entry.folder
    return DatasetNotFoundError(
        f"data set {entry.name!r} is neither in {searched} nor in the cache, and {reason}; "
        f"put {names}{about} into {target}, or into {cache_folder() / entry.folder}"
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


def data_folder() -> Path | None:
    """Return the user's folder of data sets, the value of EVOLABEL_DATA; None if it is not set."""
    value = os.environ.get("EVOLABEL_DATA")
    return Path(value).expanduser() if value else None


def cache_folder() -> Path:
    """Return the folder of downloads: EVOLABEL_CACHE, else `evolabel` in the user's cache folder."""
    value = os.environ.get("EVOLABEL_CACHE")
    return Path(value).expanduser() if value else user_cache_folder() / "evolabel"


def find_checked_folder(entry: Entry) -> Path | None:
    """Return the folder with all files of `entry`, or None; FileFormatError if a file in the cache was changed."""
    folder = find_folder(entry)
    if folder is not None and folder == cache_folder() / entry.folder:
        _check_unchanged(folder, entry)
    return folder


def find_folder(entry: Entry) -> Path | None:
    """Return the first folder with all files of `entry`, in the user's folder or in the cache, or None."""
    folders = [folder / entry.folder for folder in (data_folder(), cache_folder()) if folder is not None]
    return next((folder for folder in folders if all((folder / file.name).is_file() for file in entry.files)), None)


def sha256_of(path: Path) -> str:
    """Return the SHA-256 of the file `path` in hexadecimal digits."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _check_unchanged(folder: Path, entry: Entry) -> None:
    for file in entry.files:
        path = folder / file.name
        known = (file.address and file.sha256) or _stored_digest(path)  # None: a user copied the file into the cache
        if known and sha256_of(path) != known:
            raise FileFormatError(
                f"{path} was changed (its SHA-256 is not {known}); delete it to fetch it again, "
                "or put your own version into the folder named by EVOLABEL_DATA"
            )


def _stored_digest(path: Path) -> str | None:
    file = _digest_file(path)
    return file.read_text("utf-8", "replace").partition(" ")[0] if file.is_file() else None


def _digest_file(path: Path) -> Path:
    """Return the file with the SHA-256 of `path`, beside it, in the format of sha256sum."""
    return path.with_name(f"{path.name}.sha256")
