"""What an operator does with a stored database: copies, new tables, archives put back, a rebuild."""

import contextlib
import os
import sqlite3
import time
from collections.abc import Sequence
from pathlib import Path

from sqlalchemy import URL
from threadpoolctl import threadpool_limits

from evolabel.errors import ParameterError
from evolabel.server.log.archive import put_back, read_archive
from evolabel.server.log.disk import note_backup
from evolabel.server.log.engines import check_exists, read_url
from evolabel.server.log.migrate import SCHEMA_VERSION, known_versions, upgrade_tables, version_of
from evolabel.server.log.times import now_us
from evolabel.server.log.writer import LogWriter, NotWriterError, crash_point
from evolabel.server.ops.verify import Verified, verify_database
from evolabel.server.people.people import project_id_of
from evolabel.server.project.batch import Origin
from evolabel.server.project.rebuild import RebuildPlan, rebuild_cost, rebuild_model
from evolabel.server.project.service import Service

_PAGES = 1000  # copied at a time, so that the service can write in between


def back_up(url: URL, to: Path) -> dict[str, Verified]:
    """Copy the SQLite database at `url` to the new file `to`; return what the check of the copy found, by project.

    A copy that is not whole is removed, and LogError names what is wrong with it.
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
            note_backup(url, now_us(), to.stat().st_size)
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


def migrate_database(url: URL, *, backed_up: bool = False) -> str:
    """Change the tables of the database at `url` to the version of the program; return a sentence on what was done.

    A SQLite file is copied first. `backed_up`: the operator has a backup of the PostgreSQL database. NotWriterError if
    the service runs.
    """
    check_exists(url)
    writer = LogWriter(url)
    try:
        if not writer.acquire():
            raise NotWriterError("the service writes to this database; stop it, then migrate")
        with writer.transaction() as connection:
            found = version_of(connection)
        if found == SCHEMA_VERSION:
            return f"the tables have version {found} already; nothing was changed"
        if found is not None and found not in known_versions():
            raise ParameterError(f"the tables have version {found}, newer than this program; install the newer one")
        copied = "" if found is None else _back_up(url, found, backed_up=backed_up)
        with writer.transaction() as connection:
            upgrade_tables(connection)
            crash_point("in_migration")
        return f"the tables have version {SCHEMA_VERSION} now, before {found}{copied}"
    finally:
        writer.close()


def _back_up(url: URL, version: str, *, backed_up: bool) -> str:
    """Copy a SQLite database of this `version`, and return where to in words; ParameterError without a backup."""
    if url.get_backend_name() == "postgresql":
        if not backed_up:
            line = dump_line(url, Path(f"before-{SCHEMA_VERSION}.dump"))
            raise ParameterError(f"make a backup first: {line}; then run the command again with --backed-up")
        return ""
    to = Path(f"{url.database}.{version}.{time.strftime('%Y%m%d-%H%M%S', time.gmtime())}")
    back_up(url, to)
    return f"; the backup is {to}"


def import_archives(url: URL, paths: Sequence[Path]) -> dict[Path, int]:
    """Put the payloads in the files at `paths` back into the logs of the database at `url`; return how many of each.

    All or none of a file are put back; DataError if one is not that of its record.
    """
    check_exists(url)
    writer, found = LogWriter(url), dict[Path, int]()
    try:
        if not writer.acquire():
            raise NotWriterError("a service runs on this database; stop it first")
        for path in paths:
            slug, rows = read_archive(path)
            with writer.transaction() as connection:
                project = project_id_of(connection, slug)
                if project is None:
                    raise ParameterError(f"{path} is of project {slug!r}, which is not in this database")
                found[path] = put_back(connection, project, rows)
    finally:
        writer.close()
    return found


def rebuild_project(url: URL, slug: str, plan: RebuildPlan, *, dry_run: bool = False) -> str:
    """Make the model of project `slug` of the database at `url` anew by `plan`, and return a sentence on what was done.

    `dry_run`: nothing is changed.
    """
    threadpool_limits(1)  # the same bits as in the service
    service = Service(url)
    try:
        service.start_one(slug)
        worker = service.workers.get(slug)
        if worker is None:
            raise ParameterError(f"there is no project {slug!r}; check its name")
        cost = rebuild_cost(worker, plan)
        if dry_run:
            return (
                f"{cost['records']} records, about {cost['seconds']} s, {cost['corrections']} corrections would count"
            )
        done = rebuild_model(worker, plan, Origin())
    finally:
        service.stop()
    numbers = ", ".join(map(str, done["left_out"]))
    left_out = f"; acts that do not fit the new rules were left out: {numbers}" if numbers else ""
    return f"{cost['records']} records, checksum before {done['seal_before']}, after {done['seal']}{left_out}"
