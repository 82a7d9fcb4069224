"""Room on the disk of the database: samples are refused before it is full, so that answers can still be stored."""

import shutil
from pathlib import Path
from typing import NamedTuple

from sqlalchemy import URL

from evolabel.errors import EvolabelError

_MEGABYTE = 1_000_000
_OF_PRODUCERS = ("sample", "labels.late")
_OF_THE_SERVICE = ("close", "epoch.started")


class DiskFullError(EvolabelError, OSError):
    """There is too little room on the disk for a record; nothing was changed."""


def free_bytes(url: URL) -> int | None:
    """Return the room on the disk of the SQLite database at `url`; None for a PostgreSQL server, which has its own."""
    if url.get_backend_name() != "sqlite":
        return None
    return shutil.disk_usage(Path(str(url.database)).absolute().parent).free


class Room(NamedTuple):
    """Bytes that are `free` on the disk, None if that is not known; with less than `needed` no samples are taken."""

    free: int | None = None
    needed: int = 0


NOT_KNOWN = Room()
"""Room on a disk that is not looked at."""


def check_room(kind: str, room: Room) -> None:
    """Raise DiskFullError if there is no `room` for a record of this `kind`; answers need a quarter of it."""
    if kind not in _OF_THE_SERVICE and (lacking := lacking_room(kind, room)):
        raise DiskFullError(f"{lacking}; make room, then send the request again")


def lacking_room(kind: str, room: Room) -> str:
    """Return what `room` lacks for a record of this `kind`, empty if it suffices."""
    least = room.needed if kind in _OF_PRODUCERS else room.needed // 4
    if room.free is None or room.free >= least:
        return ""
    return f"{room.free // _MEGABYTE} MB are left on the disk of the service, {least // _MEGABYTE} MB are needed"
