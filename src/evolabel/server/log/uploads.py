"""Files that people have sent and not used yet, whole or not at all; each belongs to a person and is kept for a day."""

import secrets
from collections.abc import Iterator
from pathlib import Path

from sqlalchemy import Connection, delete, insert, select

from evolabel.server.log.schema import UPLOAD, UPLOAD_PART
from evolabel.server.log.times import DAY

_PART = 2**20  # bytes


def store_upload(connection: Connection, person_id: int, path: Path, at: int) -> str:
    """Store the file `path` of person `person_id` at time `at` through `connection`; return its key.

    Files of more than a day are deleted.
    """
    old = select(UPLOAD.c.key).where(UPLOAD.c.at < at - DAY)
    connection.execute(delete(UPLOAD_PART).where(UPLOAD_PART.c.key.in_(old)))
    connection.execute(delete(UPLOAD).where(UPLOAD.c.at < at - DAY))
    key = secrets.token_urlsafe(16)
    connection.execute(insert(UPLOAD).values(key=key, person_id=person_id, name=path.name, at=at))
    for part, data in enumerate(_parts(path)):
        connection.execute(insert(UPLOAD_PART).values(key=key, part=part, data=data))
    return key


def _parts(path: Path) -> Iterator[bytes]:
    with path.open("rb") as file:
        while data := file.read(_PART):
            yield data


def upload_name(connection: Connection, person_id: int, key: str, at: int) -> str | None:
    """Return the name of the file `key` of person `person_id`, read through `connection`; None a day after it was sent.

    `at` is the present time.
    """
    is_kept = UPLOAD.c.key == key, UPLOAD.c.person_id == person_id, UPLOAD.c.at >= at - DAY
    return connection.scalar(select(UPLOAD.c.name).where(*is_kept))


def write_upload(connection: Connection, key: str, path: Path) -> None:
    """Write the stored file `key`, read through `connection`, to `path`."""
    query = select(UPLOAD_PART.c.data).where(UPLOAD_PART.c.key == key)
    with path.open("wb") as file:
        part = 0
        while (data := connection.scalar(query.where(UPLOAD_PART.c.part == part))) is not None:
            file.write(data)
            part += 1


def delete_upload(connection: Connection, key: str) -> None:
    """Delete the stored file `key` through `connection`."""
    connection.execute(delete(UPLOAD_PART).where(UPLOAD_PART.c.key == key))
    connection.execute(delete(UPLOAD).where(UPLOAD.c.key == key))
