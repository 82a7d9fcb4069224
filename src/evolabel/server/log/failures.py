"""Requests that the learner could not learn from, by the hash of their bodies. They are not in the log."""

from sqlalchemy import Connection, delete, insert, select

from evolabel.server.log.schema import FAILURE


def failures_of(connection: Connection, project_id: int, version: str) -> dict[bytes, int]:
    """Return how often each body of project `project_id` has failed in this `version`, read through `connection`."""
    query = select(FAILURE.c.body_hash, FAILURE.c.count).where(
        FAILURE.c.project_id == project_id, FAILURE.c.version == version
    )
    return {bytes(body_hash): count for body_hash, count in connection.execute(query)}


def store_failure(connection: Connection, project_id: int, values: dict[str, object]) -> None:
    """Write the failure of one body of project `project_id` through `connection`, instead of what is there of it.

    `values` are body_hash, count, error, version and at.
    """
    same = (FAILURE.c.project_id == project_id, FAILURE.c.body_hash == values["body_hash"])
    connection.execute(delete(FAILURE).where(*same))
    connection.execute(insert(FAILURE).values(project_id=project_id, **values))
