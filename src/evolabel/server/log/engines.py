"""Engines of SQLAlchemy for the two databases; every setting that durability depends on is here."""

from pathlib import Path
from sqlite3 import sqlite_version_info
from typing import Any

from sqlalchemy import URL, Engine, create_engine, event, make_url
from sqlalchemy.exc import ArgumentError
from sqlalchemy.pool import NullPool

from evolabel._utils.optional import load
from evolabel.errors import ParameterError

_BUSY_SECONDS = 10  # another process, such as a backup, may hold the file for a moment
_CHECKPOINT_PAGES = 1000
_SAFE_CHECKPOINT = (3, 51, 3)  # before, SQLite's write-ahead log could be reset while it was read

# A server that hangs or loses its network gives the lock back after these times.
_TCP_SETTINGS = {"tcp_user_timeout": 5000, "keepalives_idle": 5, "keepalives_interval": 2, "keepalives_count": 3}
_IDLE_SETTINGS = "-c idle_session_timeout=10s -c idle_in_transaction_session_timeout=10s"
_FLUSH = {"sqlite": "synchronous=FULL", "postgresql": "synchronous_commit=on"}  # what a commit waits for


def read_url(text: str) -> URL:
    """Return the database URL in `text`; ParameterError if it is neither of SQLite nor of PostgreSQL."""
    try:
        url = make_url(text)
    except ArgumentError:
        raise ParameterError(
            f"{text!r} is not a database URL; write sqlite:///evolabel.db or postgresql://user@host/name"
        ) from None
    backend = url.get_backend_name()
    if backend == "postgresql":
        load("psycopg", "postgres", "a PostgreSQL database")
        return url.set(drivername="postgresql+psycopg")
    if backend != "sqlite":
        raise ParameterError(f"databases are SQLite or PostgreSQL, got {backend}; write sqlite:///evolabel.db")
    if not url.database or url.database == ":memory:":
        raise ParameterError("the database must be a file, so that nothing is lost; write sqlite:///evolabel.db")
    return url.set(drivername="sqlite+pysqlite")


def check_exists(url: URL) -> None:
    """Raise ParameterError if `url` is that of a SQLite file that does not exist; only `evolabel serve` makes one."""
    if url.get_backend_name() == "sqlite" and not Path(str(url.database)).exists():
        raise ParameterError(f"there is no database {url.database}; check --database, or start `evolabel serve` once")


def check_external_checkpoint(version: tuple[int, ...] = sqlite_version_info) -> None:
    """Raise ParameterError unless this `version` of SQLite allows another program to move the write-ahead log.

    Older ones can damage a database when one connection writes while another one does that.
    """
    if version < _SAFE_CHECKPOINT:
        needed = ".".join(map(str, _SAFE_CHECKPOINT))
        raise ParameterError(
            f'database.checkpoint is "external" with SQLite {".".join(map(str, version))}; it needs {needed}, '
            'write checkpoint = "own"'
        )


def writing_engine(url: URL, *, checkpoint: bool = True) -> Engine:
    """Return the engine of the one connection that writes to `url`: each commit is on the disk before it returns.

    Commands that write beside a running service pass no `checkpoint`: only one connection may move pages of SQLite's
    write-ahead log into the database.
    """
    if url.get_backend_name() == "postgresql":
        settings = {**_TCP_SETTINGS, "options": f"-c {_FLUSH['postgresql']} {_IDLE_SETTINGS}"}
        return create_engine(url, poolclass=NullPool, connect_args=settings)
    path = Path(str(url.database)).absolute()
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.exists():
        path.touch(mode=0o600)  # it holds hashes of passwords
    engine = create_engine(url, poolclass=NullPool, connect_args={"timeout": _BUSY_SECONDS, "check_same_thread": False})

    @event.listens_for(engine, "connect")
    def _set_up(connection: Any, _: object) -> None:
        connection.isolation_level = None  # transactions begin where SQLAlchemy begins them
        for setting in (
            "journal_mode=WAL",
            _FLUSH["sqlite"],
            "foreign_keys=ON",
            f"wal_autocheckpoint={_CHECKPOINT_PAGES if checkpoint else 0}",
        ):
            connection.execute(f"PRAGMA {setting}")

    @event.listens_for(engine, "begin")
    def _begin(connection: Any) -> None:
        connection.exec_driver_sql("BEGIN IMMEDIATE")

    return engine


def reading_engine(url: URL) -> Engine:
    """Return an engine whose connections to `url` cannot write, for pages, lists and exports."""
    if url.get_backend_name() == "postgresql":
        settings = {**_TCP_SETTINGS, "options": "-c default_transaction_read_only=on"}
        return create_engine(url, pool_pre_ping=True, connect_args=settings)
    path = Path(str(url.database)).absolute().as_uri()
    return create_engine(
        f"sqlite+pysqlite:///{path}?mode=ro&uri=true",
        connect_args={"timeout": _BUSY_SECONDS, "check_same_thread": False},
    )
