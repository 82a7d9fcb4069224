"""Files that are never half written: readers see the old one or the new one, and both are whole."""

import errno
import os
import secrets
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


def write_atomically(target: Path, data: bytes) -> None:
    """Write to a temporary file beside the target, flush it to disk, then rename it."""
    if not target.name:  # as in "." or "/"
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(target))
    part = target.with_name(f".{target.name}.{secrets.token_hex(8)}.part")
    try:
        with naming(target):
            with part.open("xb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            os.replace(part, target)
    except BaseException:
        part.unlink(missing_ok=True)
        raise
    _flush_folder(target.parent)


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

    `workplace` must be on the same disk as `target`, so that moving a file is one rename.
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
            file.replace(target / file.name)
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
