"""When the database was last backed up: a small file beside it, written by the command that makes the copy."""

import json
import os
from pathlib import Path

from sqlalchemy import URL


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
