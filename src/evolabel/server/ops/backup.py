"""Copies of a running database, which are read and checked before they count as backups."""

import contextlib
import os
import sqlite3
import time
from pathlib import Path

from sqlalchemy import URL

from evolabel.errors import ParameterError
from evolabel.server.log.backups import note_backup
from evolabel.server.log.engines import read_url
from evolabel.server.ops.verify import Verified, verify_database

_PAGES = 1000  # copied at a time, so that the service can write in between


def back_up(url: URL, to: Path) -> dict[str, Verified]:
    """Copy the SQLite database at `url` to the new file `to`; return what the check of the copy found, by project.

    A copy that is not whole is removed, and LogError says what is wrong with it.
    """
    if url.get_backend_name() != "sqlite":
        raise ParameterError(f"PostgreSQL makes its own backups; run: {dump_line(url, to)}")
    if to.exists():
        raise ParameterError(f"{to} exists already; give the name of a new file")
    source = Path(str(url.database)).absolute()
    if not source.exists():
        raise ParameterError(f"there is no database {source}; give the one of the service by --database")
    unchecked = to.with_name(to.name + ".unchecked")
    try:
        _copy(source, unchecked)
        found = verify_database(read_url(f"sqlite:///{unchecked.absolute()}"), replay=False)
        os.replace(unchecked, to)
        with contextlib.suppress(OSError):  # the copy is good without the note
            note_backup(url, time.time_ns() // 1000, to.stat().st_size)
    finally:
        unchecked.unlink(missing_ok=True)
    return found


def dump_line(url: URL, to: Path) -> str:
    """Return the command that writes the PostgreSQL database at `url` to the file `to`; the password is left out."""
    plain = url._replace(drivername="postgresql", password=None)
    return f"pg_dump --format=custom --file={to} {plain.render_as_string()}"


def _copy(source: Path, to: Path) -> None:
    """Copy the database `source` to one file `to`, while others write; the copy is on the disk at the end."""
    to.unlink(missing_ok=True)
    to.touch(mode=0o600)  # it holds hashes of passwords
    with (
        contextlib.closing(sqlite3.connect(f"{source.as_uri()}?mode=ro", uri=True)) as reading,
        contextlib.closing(sqlite3.connect(to)) as writing,
    ):
        reading.backup(writing, pages=_PAGES)
        writing.execute("PRAGMA journal_mode=DELETE")  # no second file beside the copy
    with to.open("rb+") as file:
        os.fsync(file.fileno())
