"""Room on the disk of the database, and when it was last backed up."""

import json
import os
import shutil
from pathlib import Path
from typing import NamedTuple

from sqlalchemy import URL

from evolabel.errors import EvolabelError


def note_backup(url: URL, at: int, size: int) -> None:
    """Write down that a backup of the SQLite database at `url` was made and checked at time `at`, of `size` bytes."""
    note = _note(url)
    fresh = note.with_name(note.name + ".new")
    fresh.write_text(json.dumps({"at": at, "bytes": size}), encoding="utf-8")
    os.replace(fresh, note)


def last_backup(url: URL) -> int | None:
    """Return the time of the last backup of the SQLite database at `url`; None if there is none."""
    try:
        return int(json.loads(_note(url).read_text("utf-8"))["at"])
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _note(url: URL) -> Path:
    database = Path(str(url.database)).absolute()
    return database.with_name(database.name + ".last-backup")


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
