"""Room on the disk of the database: samples are refused before it is full, so that answers can still be stored."""

import shutil
from pathlib import Path

from sqlalchemy import URL

from evolabel.errors import EvolabelError

_MEGABYTE = 1_000_000
SAMPLES_NEED = 200 * _MEGABYTE
ANSWERS_NEED = 50 * _MEGABYTE
_OF_PRODUCERS = ("sample", "labels.late")
_OF_THE_SERVICE = ("close", "epoch.started")


class DiskFullError(EvolabelError, OSError):
    """There is too little room on the disk for a record; nothing was changed."""


def free_bytes(url: URL) -> int | None:
    """Return the room on the disk of the SQLite database at `url`; None for a PostgreSQL server, which has its own."""
    if url.get_backend_name() != "sqlite":
        return None
    return shutil.disk_usage(Path(str(url.database)).absolute().parent).free


def check_room(kind: str, free: int | None) -> None:
    """Raise DiskFullError if a record of this `kind` must not be written while `free` bytes are left."""
    if free is None or kind in _OF_THE_SERVICE:
        return
    least = SAMPLES_NEED if kind in _OF_PRODUCERS else ANSWERS_NEED
    if free < least:
        raise DiskFullError(
            f"{free // _MEGABYTE} MB are left on the disk of the service, {least // _MEGABYTE} MB are needed; "
            "make room, then send the request again"
        )
