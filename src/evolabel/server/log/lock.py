"""The lock that makes one process the writer of a database."""

import contextlib
import os
from pathlib import Path
from typing import IO

from sqlalchemy import URL, Connection, text

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
        held = self._connection.scalar(text(f"SELECT pg_try_advisory_lock({first}, {second})"))
        self._connection.commit()
        return bool(held)

    def release(self) -> None:
        """Give the lock back."""
        with contextlib.suppress(Exception):  # a lost connection has released it
            self._connection.execute(text("SELECT pg_advisory_unlock_all()"))
            self._connection.commit()


WriterLock = FileLock | SessionLock
"""Held by one process at a time."""


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
