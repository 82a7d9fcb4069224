"""The only connection of the process that writes, for all projects, and the lock that makes one process the writer."""

import contextlib
import os
import signal
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO, Any

from sqlalchemy import URL, Connection, Engine, bindparam, text, update
from sqlalchemy.exc import SQLAlchemyError

from evolabel.errors import EvolabelError
from evolabel.server.log.engines import check_exists, reading_engine, writing_engine
from evolabel.server.log.records import Head, NewRecord, append
from evolabel.server.log.schema import PROJECT

_POSTGRES_KEY = (7290, 1)  # of the advisory lock; any other program should use another pair


class FileLock:
    """Lock on the file at `path`, beside a SQLite database; the operating system releases it when the process ends.

    The file is made if it is missing, and stays.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._file: IO[bytes] | None = None

    def acquire(self) -> bool:
        """Return whether this process holds the lock now; returns at once."""
        if self._file is not None:
            return True
        self.path.parent.mkdir(parents=True, exist_ok=True)
        file = self.path.open("ab")
        try:
            _lock(file.fileno())
        except OSError:
            file.close()
            return False
        self._file = file
        return True

    def release(self) -> None:
        """Give the lock back."""
        if self._file is not None:
            self._file.close()
            self._file = None


class SessionLock:
    """Advisory lock of a PostgreSQL session: a `connection` that is lost takes the right to write with it."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def acquire(self) -> bool:
        """Return whether this session holds the lock now."""
        first, second = _POSTGRES_KEY
        is_locked = self._connection.scalar(text(f"SELECT pg_try_advisory_lock({first}, {second})"))
        self._connection.commit()
        return bool(is_locked)

    def release(self) -> None:
        """Give the lock back."""
        with contextlib.suppress(Exception):  # a lost connection has released it
            self._connection.execute(text("SELECT pg_advisory_unlock_all()"))
            self._connection.commit()


WriterLock = FileLock | SessionLock
"""What makes one process the writer of a database."""


def writer_lock(url: URL, connection: Connection) -> WriterLock:
    """Return the lock of the database at `url`, whose writer uses `connection`."""
    if url.get_backend_name() == "postgresql":
        return SessionLock(connection)
    return FileLock(Path(f"{url.database}.lock"))


if os.name == "nt":  # pragma: no cover
    import msvcrt

    def _lock(descriptor: int) -> None:
        """Lock the open file; OSError if another process holds it."""
        msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined,unused-ignore]

else:
    import fcntl

    def _lock(descriptor: int) -> None:
        """Lock the open file; OSError if another process holds it."""
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)


_SIGNALS = {"EVOLABEL_DIE_AT": "SIGKILL", "EVOLABEL_STOP_AT": "SIGSTOP"}


def crash_point(name: str) -> None:
    """Kill the process if the environment variable EVOLABEL_DIE_AT is `name`, or `name:n` at the n-th time.

    EVOLABEL_STOP_AT stops it instead, until it is continued from outside.
    """
    for variable, sign in _SIGNALS.items():
        point, _, times = os.environ.get(variable, "").partition(":")
        if point != name:
            continue
        left = int(times or 1) - 1
        os.environ[variable] = f"{name}:{left}" if left > 0 else ""
        if left <= 0:
            os.kill(os.getpid(), getattr(signal, sign, signal.SIGTERM))


_MOVE_HEAD = (
    update(PROJECT)
    .where(PROJECT.c.id == bindparam("project"), PROJECT.c.epoch == bindparam("known_epoch"))
    .where(PROJECT.c.head_seq == bindparam("known_seq"))
    .values(head_seq=bindparam("seq"), head_chain=bindparam("chain"))
)


_ANOTHER = "another process writes to this database; send the request to it, or wait"
_LOST = "the connection to the database was lost and is made again; send the request again in a second"


class NotWriterError(EvolabelError, RuntimeError):
    """The process is not the writer of the database: another one is, or the connection was lost."""


class StoreError(EvolabelError, OSError):
    """A transaction has failed; if `is_unknown`, it may be on disk nevertheless: its commit was sent."""

    def __init__(self, message: str, *, is_unknown: bool = False) -> None:
        super().__init__(message)
        self.is_unknown = is_unknown


def store_problem(error: StoreError) -> tuple[str, str]:
    """Return the type and the text of the problem that `error` is for a client."""
    if error.is_unknown:
        return "commit-unknown", f"{error}; whether it is stored is not known: send it again with its ids or its key"
    return "busy", f"{error}; the request can be sent again"


class LogWriter:
    """Runs one transaction at a time on the database at `url`, and only while this process is the writer.

    `checkpoint` as for `writing_engine`.
    """

    def __init__(self, url: URL, *, checkpoint: bool = True) -> None:
        self.url = url
        self._engine = writing_engine(url, checkpoint=checkpoint)
        self._lock = threading.Lock()
        self._connection: Connection | None = None
        self._database_lock: WriterLock | None = None
        self._refusal = _ANOTHER  # why this process is not the writer, while it is not
        self._terms = 0

    def acquire(self) -> bool:
        """Return whether this process is the writer, after it has tried to become it.

        StoreError if the database cannot be opened.
        """
        with self._lock:
            if self._database_lock is not None:
                return True
            try:
                self._connection = self._engine.connect()
                lock = writer_lock(self.url, self._connection)
                self._refusal = _ANOTHER
                if lock.acquire():
                    self._database_lock = lock
                    self._terms += 1
            except SQLAlchemyError as error:
                raise StoreError(f"the database cannot be opened for writing: {_short(error)}") from error
            finally:
                if self._database_lock is None:
                    self._drop()
            return self._database_lock is not None

    @property
    def is_writer(self) -> bool:
        """Whether this process was the writer when it last used the connection."""
        return self._database_lock is not None

    @property
    def term(self) -> int:
        """Number of the time for which this process is the writer, from 1; 0 while it is not.

        What was read in another term may be old: another process can have written in between.
        """
        return self._terms if self.is_writer else 0

    def close(self) -> None:
        """Give up writing and close the connection."""
        with self._lock:
            self._drop()
        self._engine.dispose()

    @contextlib.contextmanager
    def transaction(self) -> Iterator[Connection]:
        """Yield the connection inside a transaction, which is committed at the end or rolled back by an error.

        NotWriterError if this process is not the writer. StoreError if the database fails. Where the connection is lost
        or the end of the transaction unknown, this is no writer until `acquire` succeeds again.
        """
        with self._lock:
            connection = self._connection
            if self._database_lock is None or connection is None:
                raise NotWriterError(self._refusal)
            is_known = False  # whether the transaction has ended, and how
            is_sent = False
            try:
                transaction = connection.begin()
                try:
                    yield connection
                except BaseException:
                    transaction.rollback()
                    is_known = not connection.invalidated
                    raise
                is_sent = True
                transaction.commit()
                is_known = True
            except SQLAlchemyError as error:
                message = f"the database refused the transaction: {_short(error)}"
                raise StoreError(message, is_unknown=is_sent) from error
            finally:
                if not is_known:
                    self._refusal = _LOST
                    self._drop()

    def ping(self) -> None:
        """Use the connection, so that the database does not take it for one of a server that hangs."""
        if self.url.get_backend_name() == "postgresql" and self._database_lock is not None:
            with contextlib.suppress(NotWriterError, StoreError), self.transaction() as connection:
                connection.execute(text("SELECT 1"))

    def append(self, connection: Connection, project_id: int, head: Head, entries: Sequence[NewRecord]) -> Head:
        """Append `entries` to the log of project `project_id` in the transaction of `connection`; return the new head.

        NotWriterError if the project's head is not `head`: another process has written since.
        """
        after = append(connection, project_id, head, entries)
        known = {"project": project_id, "known_epoch": head.epoch, "known_seq": head.seq}
        moved = connection.execute(_MOVE_HEAD, {**known, "seq": after.seq, "chain": after.chain})
        if moved.rowcount != 1:
            raise NotWriterError("another process has written to this project; this one stops writing")
        return after

    def _drop(self) -> None:
        """Close the connection and release the lock."""
        if self._database_lock is not None:
            self._database_lock.release()
        if self._connection is not None:
            with contextlib.suppress(SQLAlchemyError, OSError):
                self._connection.close()
        self._database_lock = self._connection = None


@contextlib.contextmanager
def reading(engine: Engine) -> Iterator[Connection]:
    """Yield a connection of `engine`, whose connections read; StoreError if the database fails."""
    try:
        with engine.connect() as connection:
            yield connection
    except SQLAlchemyError as error:
        raise StoreError(f"the database cannot be read: {_short(error)}") from error


@contextlib.contextmanager
def read_database(url: URL) -> Iterator[Connection]:
    """Yield a connection that reads the database at `url`, for a command; StoreError if the database fails.

    All is read as it was at the first statement, also while a service writes.
    """
    check_exists(url)
    engine = reading_engine(url)
    try:
        with reading(engine) as connection:
            if url.get_backend_name() == "postgresql":
                connection.execution_options(isolation_level="REPEATABLE READ")
            else:
                connection.exec_driver_sql("BEGIN")
            yield connection
    finally:
        engine.dispose()


def _short(error: SQLAlchemyError) -> str:
    """The message of the driver, without the statement and its values."""
    cause: Any = getattr(error, "orig", None) or error
    return str(cause).strip().splitlines()[0] if str(cause).strip() else type(cause).__name__
