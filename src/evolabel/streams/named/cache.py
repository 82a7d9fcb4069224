"""Where the files of named data sets lie: the user's own folder, and the cache of what was downloaded.

The user's files are taken as they are. The cache is ours: a file there must have the digest of the catalogue, or else
the one that was noted beside it when it was downloaded.
"""

import hashlib
import os
import sys
from pathlib import Path

from evolabel.errors import FileFormatError
from evolabel.streams.named.catalogue import Entry


def data_folder() -> Path | None:
    """The user's folder of data sets, named by EVOLABEL_DATA."""
    named = os.environ.get("EVOLABEL_DATA")
    return Path(named).expanduser() if named else None


def cache_folder() -> Path:
    """Where downloads go: EVOLABEL_CACHE, else `evolabel` among the caches of the user."""
    named = os.environ.get("EVOLABEL_CACHE")
    return Path(named).expanduser() if named else _user_caches() / "evolabel"


def find_files(entry: Entry) -> Path | None:
    """The folder that holds all files of a data set, None if there is none; files of the cache are checked."""
    folder = folder_of(entry)
    if folder is not None and folder == cache_folder() / entry.folder:
        _check_unchanged(folder, entry)
    return folder


def folder_of(entry: Entry) -> Path | None:
    """The same, unchecked."""
    folders = [folder / entry.folder for folder in (data_folder(), cache_folder()) if folder is not None]
    return next((folder for folder in folders if _holds(folder, entry)), None)


def own_place() -> str:
    """The user's folder, for messages; told where it does not exist."""
    own = data_folder()
    return "EVOLABEL_DATA" if own is None or own.is_dir() else f"EVOLABEL_DATA (there is no folder {own})"


def places(entry: Entry) -> str:
    """The folders in which a person may put the files, for messages."""
    own = data_folder()
    first = f"the folder {entry.folder} of a folder that EVOLABEL_DATA names" if own is None else own / entry.folder
    return f"{first}, or into {cache_folder() / entry.folder}"


def note_digest(path: Path, digest: str) -> None:
    """Write the digest of a file beside it, in the form that sha256sum checks."""
    _note_of(path).write_text(f"{digest}  {path.name}\n", "utf-8")


def sha256_of(path: Path) -> str:
    """SHA-256 of a file, in hexadecimal digits."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _holds(folder: Path, entry: Entry) -> bool:
    return all((folder / file.name).is_file() for file in entry.files)


def _check_unchanged(folder: Path, entry: Entry) -> None:
    for file in entry.files:
        path = folder / file.name
        known = (file.address and file.sha256) or _noted_digest(path)  # else somebody put it there by hand
        if known and sha256_of(path) != known:
            raise FileFormatError(
                f"{path} is not the file it should be (its SHA-256 differs from {known}); delete it to fetch it again, "
                "or put your own version into the folder named by EVOLABEL_DATA"
            )


def _noted_digest(path: Path) -> str | None:
    note = _note_of(path)
    return note.read_text("utf-8", "replace").partition(" ")[0] if note.is_file() else None


def _note_of(path: Path) -> Path:
    return path.with_name(f"{path.name}.sha256")


def _user_caches() -> Path:
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
