"""Files that records of the log refer to by their hash."""

import hashlib

from sqlalchemy import Connection, insert, select

from evolabel.server.log.schema import BLOB


def store_blob(connection: Connection, project_id: int, data: bytes, at: int) -> None:
    """Store `data` of project `project_id` at time `at` through `connection`, unless it is there."""
    key = hashlib.sha256(data).digest()
    same = (BLOB.c.project_id == project_id, BLOB.c.hash == key)
    if connection.execute(select(BLOB.c.at).where(*same)).first() is None:
        connection.execute(insert(BLOB).values(project_id=project_id, hash=key, data=data, at=at))


def read_blob(connection: Connection, project_id: int, name: str) -> bytes | None:
    """Return the file of project `project_id` whose hash is `name`, read through `connection`; None if it is gone."""
    same = (BLOB.c.project_id == project_id, BLOB.c.hash == bytes.fromhex(name))
    found = connection.scalar(select(BLOB.c.data).where(*same))
    return None if found is None or hashlib.sha256(found).hexdigest() != name else bytes(found)
