"""Tables changed to the version of the program, after a backup."""

import time
from pathlib import Path

from sqlalchemy import URL

from evolabel.errors import ParameterError
from evolabel.server.log.crash_points import crash_point
from evolabel.server.log.engines import check_exists
from evolabel.server.log.migrate import SCHEMA_VERSION, known_versions, upgrade_tables, version_of
from evolabel.server.log.pen import NotWriterError, Pen
from evolabel.server.ops.backup import back_up, dump_line


def migrate_database(url: URL, *, backed_up: bool = False) -> str:
    """Change the tables of the database at `url` to the version of the program; return a sentence on what was done.

    A SQLite file is copied first. `backed_up`: the operator has a backup of the PostgreSQL database. NotWriterError if
    the service runs.
    """
    check_exists(url)
    pen = Pen(url)
    try:
        if not pen.acquire():
            raise NotWriterError("the service writes to this database; stop it, then migrate")
        with pen.transaction() as connection:
            found = version_of(connection)
        if found == SCHEMA_VERSION:
            return f"the tables have version {found} already; nothing was changed"
        if found is not None and found not in known_versions():
            raise ParameterError(f"the tables have version {found}, newer than this program; install the newer one")
        copied = "" if found is None else _back_up(url, found, backed_up=backed_up)
        with pen.transaction() as connection:
            upgrade_tables(connection)
            crash_point("in_migration")
        return f"the tables have version {SCHEMA_VERSION} now, before {found}{copied}"
    finally:
        pen.close()


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
