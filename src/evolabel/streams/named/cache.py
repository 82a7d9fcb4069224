"""Folders with the files of named data sets: the user's folder (EVOLABEL_DATA), and the cache of downloads.

Files in the user's folder are not checked. A file in the cache must have the SHA-256 of the catalogue, or the one that
was written beside it when it was downloaded.
"""

import hashlib
import os
from pathlib import Path

from evolabel._utils.folders import user_cache_folder
from evolabel.errors import FileFormatError
from evolabel.streams.named.catalogue import Entry


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
    return next((folder for folder in folders if _holds(folder, entry)), None)


def describe_data_folder() -> str:
    """Return "EVOLABEL_DATA" for messages, with the path it names if there is no such folder."""
    own = data_folder()
    return "EVOLABEL_DATA" if own is None or own.is_dir() else f"EVOLABEL_DATA (there is no folder {own})"


def describe_target_folders(entry: Entry) -> str:
    """Return the folders into which a user can put the files of `entry`, for messages."""
    own = data_folder()
    first = f"the folder {entry.folder} of the folder named by EVOLABEL_DATA" if own is None else own / entry.folder
    return f"{first}, or into {cache_folder() / entry.folder}"


def write_digest(path: Path, digest: str) -> None:
    """Write the SHA-256 `digest` of the file `path` to a file beside it, in the format of sha256sum."""
    _digest_file(path).write_text(f"{digest}  {path.name}\n", "utf-8")


def sha256_of(path: Path) -> str:
    """Return the SHA-256 of the file `path` in hexadecimal digits."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _holds(folder: Path, entry: Entry) -> bool:
    return all((folder / file.name).is_file() for file in entry.files)


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
    return path.with_name(f"{path.name}.sha256")
