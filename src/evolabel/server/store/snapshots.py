"""Snapshots: the state of a project at a record of its log, bound to the chain value there."""

from collections.abc import Iterator
from typing import NamedTuple

from sqlalchemy import Connection, insert, select

from evolabel.server.store.schema import LOG, SNAPSHOT


class Snapshot(NamedTuple):
    """State at record `seq`: the file of the learner, and all else as JSON text."""

    seq: int
    chain: bytes
    seal: str
    versions: str
    state: str
    data: bytes
    at: int
    reason: str


def insert_snapshot(connection: Connection, project_id: int, snapshot: Snapshot) -> None:
    """Insert a `snapshot` of project `project_id` through `connection`."""
    connection.execute(insert(SNAPSHOT).values(project_id=project_id, **snapshot._asdict()))


def snapshots_of(connection: Connection, project_id: int) -> Iterator[Snapshot]:
    """Yield the snapshots of project `project_id` whose chain value is that of the log, newest first.

    They are read through `connection`.
    """
    query = (
        select(SNAPSHOT.c.seq)
        .join(LOG, (LOG.c.project_id == SNAPSHOT.c.project_id) & (LOG.c.seq == SNAPSHOT.c.seq))
        .where(SNAPSHOT.c.project_id == project_id, SNAPSHOT.c.chain == LOG.c.chain)
        .order_by(SNAPSHOT.c.seq.desc())
    )
    for seq in connection.scalars(query).all():
        row = connection.execute(
            select(SNAPSHOT).where(SNAPSHOT.c.project_id == project_id, SNAPSHOT.c.seq == seq)
        ).one()
        values = row._asdict()
        del values["project_id"]
        yield Snapshot(**{**values, "chain": bytes(row.chain), "data": bytes(row.data)})
