"""The state of a project made again: from a snapshot, if there is one, and the records behind it."""

import logging
import platform
from functools import cache
from importlib.metadata import version
from typing import NamedTuple

import scipy.linalg  # noqa: F401  (its BLAS is among those that `versions` names)
from sqlalchemy import Connection
from threadpoolctl import threadpool_info

from evolabel.active import ActiveLearner
from evolabel.errors import EvolabelError
from evolabel.kernels.cache_state import processor_name
from evolabel.server.contexts.state import ProjectState
from evolabel.server.store.activity import COMMAND
from evolabel.server.store.canonical import canonical, parsed
from evolabel.server.store.log import FIRST_CHAIN, Head, LogError, Record, last_of_kinds, read_records, time_of
from evolabel.server.store.snapshots import Snapshot, snapshots_of

logger = logging.getLogger("evolabel.server")

_NOTHING = None, 0, FIRST_CHAIN, 0  # state, number, chain value and time before the first record
IMPORT = "put it back by `evolabel serve import-log`, or restore a backup"
"""What to do where a payload is missing."""
_PACKAGES = ("evolabel", "numpy", "scipy", "numba")


class ReplayError(EvolabelError, RuntimeError):
    """A record, applied again, fails or has another outcome than the log says."""


class Restored(NamedTuple):
    """A state, the head of its log, the snapshot it began with, and the number of records applied.

    `last_at` is the time of the last record, or of the snapshot that was stored behind it when the service stopped.
    """

    state: ProjectState
    head: Head
    snapshot_seq: int
    replayed: int
    last_at: int


def restore(
    connection: Connection, project_id: int, epoch: int, *, from_start: bool = False, keep_decisions: bool = False
) -> Restored:
    """Return the state after the last record of project `project_id` in this `epoch`.

    The log is read through `connection`, all of it if `from_start`, else behind the newest snapshot. LogError if it is
    not whole, ReplayError at the first record whose outcome differs. With `keep_decisions` outcomes may differ: what
    was asked is asked, whatever this version of the program would ask.
    """
    state, seq, chain, at = _NOTHING if from_start else _newest(connection, project_id)
    start = seq
    for record in read_records(connection, project_id, seq, chain):
        state = applied(state, record, keep_decisions=keep_decisions)
        seq, chain = record.seq, record.chain
    if state is None:
        raise LogError("the log of the project is empty; restore a backup")
    last_at = max(time_of(connection, project_id, seq), at if seq == start else 0)
    return Restored(state, Head(seq, chain, epoch), start, seq - start, last_at)


def applied(state: ProjectState | None, record: Record, *, keep_decisions: bool = False) -> ProjectState:
    """Return the state after `record`; ReplayError if it cannot be applied or its outcome is not the one in the log.

    With `keep_decisions` the outcome in the log decides what is asked, and is not compared.
    """
    entry = record.entry
    if entry.payload is None:
        raise ReplayError(f"the payload of record {record.seq} is in the archive; {IMPORT}")
    decided = entry.outcome if keep_decisions else None
    try:
        if state is None:
            return ProjectState.created(entry.payload)
        outcome = canonical(state.apply(entry.kind, record.applied_payload(), entry.at, decided))
    except Exception as error:
        raise ReplayError(
            f"record {record.seq} ({entry.kind}) cannot be applied ({type(error).__name__}: {error}); start the "
            "version that wrote it once, or this one with --keep-decisions"
        ) from error
    if not keep_decisions and outcome != canonical(entry.outcome):
        raise ReplayError(
            f"record {record.seq} ({entry.kind}) has another outcome than before: {outcome[:200]} instead of "
            f"{canonical(entry.outcome)[:200]}; start the version that wrote it once, or this one with --keep-decisions"
        )
    return state


class LastStart(NamedTuple):
    """The last start of a process with a project: its versions; if it was a command, when the service had stopped."""

    versions: dict[str, str]
    stopped: int | None


def find_last_start(connection: Connection, project_id: int) -> LastStart:
    """Return the last start of project `project_id`, read through `connection`."""
    found = last_of_kinds(connection, project_id, ("project.created", "epoch.started"))
    said = {} if found is None else found.entry.payload
    return LastStart(dict(said.get("versions", {})), said.get("stopped") if said.get("cause") == COMMAND else None)


def take_snapshot(state: ProjectState, head: Head, at: int, reason: str) -> Snapshot:
    """Return the snapshot of `state` at `head`, taken at time `at` for this `reason`."""
    data = state.learner.to_bytes()
    return Snapshot(
        head.seq, head.chain, state.seal(), canonical(versions()), canonical(state.facts()), data, at, reason
    )


@cache
def _versions() -> dict[str, str]:
    found = {name: version(name) for name in _PACKAGES}
    libraries = [library for library in threadpool_info() if library["user_api"] == "blas"]
    blas = {f"{lib['internal_api']} {lib['version']} {lib.get('architecture', '')}".strip() for lib in libraries}
    processor = {"machine": platform.machine(), "processor": processor_name(), "blas": ", ".join(sorted(blas))}
    return {**found, "python": platform.python_version(), **processor}


def versions() -> dict[str, str]:
    """Return what the bits of a model depend on: versions of packages and Python, the processor and its BLAS."""
    return dict(_versions())


def _newest(connection: Connection, project_id: int) -> tuple[ProjectState | None, int, bytes, int]:
    """Return state, number, chain value and time of the newest snapshot that is whole; `_NOTHING` without one."""
    for snapshot in snapshots_of(connection, project_id):
        if (state := loaded_state(snapshot)) is not None:
            return state, snapshot.seq, snapshot.chain, snapshot.at
        logger.error("snapshot %d is damaged; an older one or the whole log gives the same state", snapshot.seq)
    return _NOTHING


def loaded_state(snapshot: Snapshot) -> ProjectState | None:
    """Return the state in `snapshot`, or None if it is damaged."""
    try:
        state = ProjectState.restored(parsed(snapshot.state), ActiveLearner.from_bytes(snapshot.data))
    except (EvolabelError, ValueError, KeyError, TypeError):
        return None
    return state if state.seal() == snapshot.seal else None
