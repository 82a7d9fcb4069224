"""Files that are never half written: readers see the old one or the new one, and both are whole."""

import errno
import os
import secrets
import shutil
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path


def write_atomically(target: Path, data: bytes) -> None:
    """Write to a temporary file beside the target, flush it to disk, then rename it.

    A file that is replaced passes on its mode and, where permitted, its owner. A link is followed: the file it points
    to is replaced. A device or a pipe is written to directly, as there is nothing to keep.
    """
    if not target.name:  # as in "." or "/"
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(target))
    if _is_device(target):
        with naming(target):
            target.write_bytes(data)
        return
    place = followed(target)
    part = place.with_name(f".{place.name}.{secrets.token_hex(8)}.part")
    try:
        with naming(target):
            mode = _first_mode(place)
            with open(part, "xb", opener=lambda path, flags: os.open(path, flags, mode)) as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            _keep_rights(place, part)
            os.replace(part, place)
    except BaseException:
        part.unlink(missing_ok=True)
        raise
    _flush_folder(place.parent)


def followed(target: Path) -> Path:
    """The path behind a link, or `target` itself; OSError if links lead in a circle."""
    if not target.is_symlink():
        return target
    place = Path(os.path.realpath(target))
    if place.is_symlink():
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), str(target))
    return place


def _is_device(target: Path) -> bool:
    """Is there something that is neither a file nor a folder, such as a pipe?"""
    return target.exists() and not (target.is_file() or target.is_dir())


def _first_mode(place: Path) -> int:
    """The mode to create the new file with: never wider than that of the file it replaces."""
    return stat.S_IMODE(place.stat().st_mode) if place.is_file() else 0o666


def _keep_rights(place: Path, part: Path) -> None:
    """Give the new file `part` the owner, where permitted, and the mode of the file at `place`, if there is one."""
    if not place.is_file():
        return
    old, new = place.stat(), part.stat()
    if (old.st_uid, old.st_gid) != (new.st_uid, new.st_gid):
        with suppress(PermissionError):
            os.chown(part, old.st_uid, old.st_gid)
    os.chmod(part, stat.S_IMODE(old.st_mode))


@contextmanager
def naming(target: Path) -> Iterator[None]:
    """What the system refuses is told with the name of the file it is about: a full disk does not say which."""
    try:
        yield
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(target)) from error


@contextmanager
def staged(target: Path, workplace: Path) -> Iterator[Path]:
    """An empty folder to write files into; they move to `target` when the block ends well, and vanish when it fails.

    `workplace` must be on the same disk as `target`, so that moving a file is one rename. Files that are replaced pass
    on their mode and owner, and links are followed, as in `write_atomically`.
    """
    workplace.mkdir(parents=True, exist_ok=True)
    folder = Path(tempfile.mkdtemp(prefix=".", suffix=".part", dir=workplace))
    try:
        yield folder
        files = sorted(folder.iterdir())
        for file in files:
            _flush(file)
        target.mkdir(parents=True, exist_ok=True)
        for file in files:
            place = followed(target / file.name)
            _keep_rights(place, file)
            os.replace(file, place)
        _flush_folder(target)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _flush(path: Path) -> None:
    with path.open("rb+") as file:
        os.fsync(file.fileno())


def _flush_folder(folder: Path) -> None:
    """Make the renames themselves durable, where the system can."""
    try:
        handle = os.open(folder, os.O_RDONLY)
    except OSError:
        return
    try:
        os.fsync(handle)
    except OSError:
        pass
    finally:
        os.close(handle)
