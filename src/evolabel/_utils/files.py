"""Paths as users give them, and files that are written completely or not at all: readers never see a part of one."""

import errno
import os
import platform
import re
import secrets
import shutil
import stat
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from os import PathLike, fsencode
from pathlib import Path

from evolabel.errors import ParameterError

_LONGEST_NAME = 255  # bytes


def as_path(path: str | PathLike[str]) -> Path:
    """Return `path` as a `Path`; ParameterError if no file can be called so: a NUL character, or a name too long."""
    found = Path(path)
    if "\0" in str(found):
        raise ParameterError(f"the path {str(found)!r} has a NUL character, which no file name may have; leave it out")
    if too_long := [name for name in found.parts if len(fsencode(name)) > _LONGEST_NAME]:
        raise ParameterError(
            f"the name {too_long[0][:20]!r}... in the path has {len(fsencode(too_long[0]))} bytes, a file may have "
            f"{_LONGEST_NAME}; use a shorter one"
        )
    return found


_PART = re.compile(r"\..*\.(?P<pid>\d+)-(?P<host>[0-9a-f]{8})-[0-9a-f]{16}\.part", re.DOTALL)


def write_atomically(target: Path, data: bytes) -> None:
    """Write `data` to a temporary file beside `target`, flush it to disk, then rename it to `target`.

    The new file gets the mode and, where permitted, the owner of the file it replaces. A link is followed: the file it
    points to is replaced. A device or a pipe is written to directly. Temporary files of processes that have ended are
    deleted.
    """
    if not target.name:  # as in "." or "/"
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(target))
    if is_special(target):
        with name_in_errors(target):
            target.write_bytes(data)
        return
    place = resolve_link(target)
    _remove_dead_parts(place.parent)
    part = place.with_name(_part_name(place.name))
    try:
        with name_in_errors(target):
            mode = stat.S_IMODE(place.stat().st_mode) if place.is_file() else 0o666  # no more rights than before
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


def is_special(target: Path) -> bool:
    """Return whether `target` is a device or a pipe, which cannot be replaced."""
    return target.exists() and not (target.is_file() or target.is_dir())


def resolve_link(target: Path) -> Path:
    """Return the path the link `target` points to, or `target` if it is no link; OSError if links form a circle."""
    if not target.is_symlink():
        return target
    place = Path(os.path.realpath(target))
    if place.is_symlink():
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), str(target))
    return place


def _keep_rights(place: Path, part: Path) -> None:
    """Give the new file `part` the mode and, where permitted, the owner of the file at `place`, if there is one."""
    if not place.is_file():
        return
    old, new = place.stat(), part.stat()
    if (old.st_uid, old.st_gid) != (new.st_uid, new.st_gid):
        with suppress(PermissionError):
            os.chown(part, old.st_uid, old.st_gid)
    os.chmod(part, stat.S_IMODE(old.st_mode))


@contextmanager
def name_in_errors(target: Path) -> Iterator[None]:
    """Add the name of the file `target` to every OSError of the block: that of a full disk has none."""
    try:
        yield
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(target)) from error


@contextmanager
def staged(target: Path, workplace: Path) -> Iterator[Path]:
    """Yield an empty folder inside `workplace`; its files move to the folder `target` at the end of the block.

    If the block raises, they are deleted, and so are such folders of processes that have ended. `workplace` must be on
    the same disk as `target`, so that moving a file is one rename. Modes, owners and links are treated as in
    `write_atomically`.
    """
    workplace.mkdir(parents=True, exist_ok=True)
    _remove_dead_parts(workplace)
    folder = workplace / _part_name("files")
    folder.mkdir(mode=0o700)
    try:
        yield folder
        files = sorted(folder.iterdir())
        for file in files:
            with file.open("rb+") as written:
                os.fsync(written.fileno())
        target.mkdir(parents=True, exist_ok=True)
        for file in files:
            place = resolve_link(target / file.name)
            _keep_rights(place, file)
            os.replace(file, place)
        _flush_folder(target)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _flush_folder(folder: Path) -> None:
    """Flush the renames inside `folder` to disk, where the system supports it."""
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


# ---------------------------------------------------------------------- temporary files


def _part_name(name: str) -> str:
    """Return a new hidden name for a part of the file `name`; it has the process and the computer that write it."""
    return f".{name}.{os.getpid()}-{_host()}-{secrets.token_hex(8)}.part"


def _remove_dead_parts(folder: Path) -> None:
    """Delete the files and folders in `folder` named by `_part_name` whose process has ended.

    Those of other computers stay, because their processes cannot be seen from here; so do those that may not be
    deleted.
    """
    with suppress(OSError):
        found = [(entry, match) for entry in os.scandir(folder) if (match := _PART.fullmatch(entry.name))]
        for entry, match in found:
            if match["host"] == _host() and not _is_running(int(match["pid"])):
                _remove(entry)


def _remove(entry: "os.DirEntry[str]") -> None:
    if entry.is_dir(follow_symlinks=False):
        shutil.rmtree(entry.path, ignore_errors=True)
    else:
        with suppress(OSError):
            os.unlink(entry.path)


def _host() -> str:
    return f"{zlib.crc32(platform.node().encode()):08x}"


def _is_running(pid: int) -> bool:
    """Return whether a process `pid` may be running; always True on Windows, where signal 0 would end it."""
    if os.name != "posix":
        return True
    try:
        os.kill(pid, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:
        return True
    return True
