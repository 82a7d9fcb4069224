"""Proof that the program makes the same states of the log as it did before: replay, and compare every snapshot."""

from typing import NamedTuple

from sqlalchemy import URL, Connection
from threadpoolctl import threadpool_limits

from evolabel.server.contexts.replay import ReplayError, applied, loaded_state, versions
from evolabel.server.contexts.state import ProjectState
from evolabel.server.store.archive import archived_ranges
from evolabel.server.store.canonical import canonical
from evolabel.server.store.log import FIRST_CHAIN, LogError, read_records
from evolabel.server.store.pen import read_database
from evolabel.server.store.projects import Project, list_projects
from evolabel.server.store.snapshots import Snapshot, read_snapshot, snapshot_seals


class Verified(NamedTuple):
    """What was replayed: the record it began behind, numbers of records and of snapshots compared, the last seal."""

    start: int
    records: int
    compared: int
    seal: str


def verify_project(connection: Connection, project: Project, *, from_start: bool = False) -> Verified:
    """Replay the log of `project`, read through `connection`, and compare the seal of every snapshot on the way.

    It begins with the oldest snapshot of this version of the program, or with the first record if `from_start` or
    there is no older one. ReplayError names the first record or snapshot that differs.
    """
    seals = snapshot_seals(connection, project.id)
    first = None if from_start else _first(connection, project.id, list(seals))
    state: ProjectState | None = None
    start, chain = 0, FIRST_CHAIN
    if first is not None:
        state, start, chain = loaded_state(first), first.seq, first.chain
    compared = records = 0
    for record in read_records(connection, project.id, start, chain):
        state = applied(state, record)
        records += 1
        if record.seq in seals:
            compared += 1
            if state.seal() != seals[record.seq]:
                raise ReplayError(f"the snapshot at record {record.seq} differs from the replay; it is not that state")
    if state is None:
        raise LogError("the log of the project is empty; restore a backup")
    return Verified(start, records, compared, state.seal())


def verify_database(url: URL, *, from_start: bool = False) -> dict[str, Verified]:
    """Return what `verify_project` finds in each project of the database at `url`, by name; `from_start` as there."""
    with threadpool_limits(1), read_database(url) as connection:  # the same bits as in the service
        projects = list_projects(connection)
        return {project.slug: verify_project(connection, project, from_start=from_start) for project in projects}


def _first(connection: Connection, project_id: int, order: list[int]) -> Snapshot | None:
    """Return the oldest snapshot of this version that is whole and not the last of `order`, or None.

    Where payloads are in the archive, it is the oldest one behind them.
    """
    archived = max((last for _, last in archived_ranges(connection, project_id)), default=0)
    for seq in [seq for seq in order if seq >= archived] if archived else order[:-1]:
        snapshot = read_snapshot(connection, project_id, seq)
        if snapshot.versions == canonical(versions()) and loaded_state(snapshot) is not None:
            return snapshot
    return None
