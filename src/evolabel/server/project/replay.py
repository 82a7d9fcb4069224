"""The state of a project made again: from a snapshot, if there is one, and the records behind it."""

import logging
import platform
from collections.abc import Callable
from functools import cache
from importlib.metadata import version
from typing import NamedTuple

import scipy.linalg  # noqa: F401  (its BLAS is among those that `versions` names)
from sqlalchemy import Connection
from threadpoolctl import threadpool_info

from evolabel.active import ActiveLearner
from evolabel.engine.cache_state import processor_name
from evolabel.errors import EvolabelError
from evolabel.persistence.model_file import stored_checksum
from evolabel.persistence.schemas import SCHEMA
from evolabel.server.log.activity import COMMAND
from evolabel.server.log.canonical import canonical, digest, parsed
from evolabel.server.log.records import FIRST_CHAIN, Head, LogError, Record, last_of_kinds, read_records, time_of
from evolabel.server.log.snapshots import Snapshot, snapshots_of
from evolabel.server.project.learner_changes import RULE_KINDS, UNDONE, present_rules
from evolabel.server.project.state import Facts, ProjectState

logger = logging.getLogger("evolabel.server")

_NOTHING = None, 0, FIRST_CHAIN, 0  # state, number, chain value and time before the first record
IMPORT = "put it back by `evolabel serve import-log`, or restore a backup"
"""What to do where a payload is missing."""
_ACTS = (*RULE_KINDS, UNDONE)
_PACKAGES = ("evolabel", "numpy", "scipy", "numba")


class ReplayError(EvolabelError, RuntimeError):
    """A record or a snapshot cannot be applied by this version of the program."""


class Restored(NamedTuple):
    """A state, the head of its log, the snapshot it began with, and the number of records applied.

    `last_at` is the time of the last record, or of the snapshot that was stored behind it when the service stopped.
    `left_out` are the acts that did not fit the rules.
    """

    state: ProjectState
    head: Head
    snapshot_seq: int
    replayed: int
    last_at: int
    left_out: list[int]


def restore(
    connection: Connection, project_id: int, epoch: int, check: Callable[[], object] = lambda: None
) -> Restored:
    """Return the state after the last record of project `project_id` in this `epoch`, read through `connection`.

    The log is read behind the newest snapshot that this version of the program can read, or from its first record on.
    LogError if it is not whole, ReplayError if a record cannot be applied. `check` is called before every record, and
    ends the replay by an error.
    """
    unread, left_out = list[str](), list[int]()
    state, seq, chain, at = _newest(connection, project_id, unread)
    start = seq
    try:
        for record in read_records(connection, project_id, seq, chain):
            check()
            state, outcome = apply_record(state, record)
            left_out += [record.seq] * ("left_out" in outcome)
            seq, chain = record.seq, record.chain
    except ReplayError as error:
        raise ReplayError("; ".join([str(error), *unread])) from error
    if state is None:
        raise LogError("the log of the project is empty; restore a backup")
    last_at = max(time_of(connection, project_id, seq), at if seq == start else 0)
    return Restored(state, Head(seq, chain, epoch), start, seq - start, last_at, left_out)


def apply_record(state: ProjectState | None, record: Record) -> tuple[ProjectState, Facts]:
    """Return the state after `record`, and the outcome that this version of the program would give it.

    What was asked and predicted is taken from the log, so that the project goes on where the outcomes differ: `evolabel
    serve verify` compares them. An act on a rule that is another one here is left out. ReplayError if the record cannot
    be applied.
    """
    entry = record.entry
    if entry.payload is None:
        raise ReplayError(f"the payload of record {record.seq} is in the archive; {IMPORT}")
    try:
        if state is None:
            state = ProjectState.created(entry.payload)
            return state, {"seal": state.checksum()}
        payload = record.applied_payload()
        if entry.kind in _ACTS:
            payload = _present_act(state, record, payload)
        return state, state.apply(entry.kind, payload, entry.at, entry.outcome)
    except Exception as error:
        if state is not None and entry.kind in _ACTS and isinstance(error, EvolabelError):
            logger.warning("record %d (%s) is left out: %s", record.seq, entry.kind, error)
            return state, {"left_out": str(error)}
        raise ReplayError(
            f"record {record.seq} ({entry.kind}) cannot be applied ({type(error).__name__}: {error}); start the "
            "version that wrote it"
        ) from error


def _present_act(state: ProjectState, record: Record, payload: Facts) -> Facts:
    """Return the `payload` of the act of `record`, or of its undo, with the numbers that its rules have in `state`.

    StateError if it was about rules that are others there.
    """
    if record.entry.kind in RULE_KINDS:
        return present_rules(state.learner, payload, record.entry.outcome["conditions"])
    if "conditions" not in payload:
        return payload
    return {**payload, "inverse": present_rules(state.learner, payload["inverse"], payload["conditions"])}


class LastStart(NamedTuple):
    """The last start of a process with a project: its versions; if it was a command, when the service had stopped."""

    versions: dict[str, str]
    stopped: int | None


def find_last_start(connection: Connection, project_id: int) -> LastStart:
    """Return the last start of project `project_id`, read through `connection`."""
    found = last_of_kinds(connection, project_id, ("project.created", "epoch.started"))
    payload = {} if found is None else found.entry.payload
    stopped = payload.get("stopped") if payload.get("cause") == COMMAND else None
    return LastStart(dict(payload.get("versions", {})), stopped)


def take_snapshot(state: ProjectState, head: Head, at: int, reason: str) -> Snapshot:
    """Return the snapshot of `state` at `head`, taken at time `at` for this `reason`."""
    data = state.learner.to_bytes()
    return Snapshot(
        head.seq, head.chain, state.checksum(), canonical(versions()), canonical(state.facts()), data, at, reason
    )


@cache
def _versions() -> dict[str, str]:
    found = {name: version(name) for name in _PACKAGES}
    libraries = [library for library in threadpool_info() if library["user_api"] == "blas"]
    blas = {f"{lib['internal_api']} {lib['version']} {lib.get('architecture', '')}".strip() for lib in libraries}
    processor = {"machine": platform.machine(), "processor": processor_name(), "blas": ", ".join(sorted(blas))}
    return {**found, "schema": str(SCHEMA), "python": platform.python_version(), **processor}


def versions() -> dict[str, str]:
    """Return what the bits of a model depend on: packages, the schema of files, Python, the processor and its BLAS."""
    return dict(_versions())


def _newest(connection: Connection, project_id: int, unread: list[str]) -> tuple[ProjectState | None, int, bytes, int]:
    """Return state, number, chain value and time of the newest snapshot that can be read; `_NOTHING` without one.

    A sentence on each newer one is appended to `unread`.
    """
    for snapshot in snapshots_of(connection, project_id):
        try:
            return load_state(snapshot), snapshot.seq, snapshot.chain, snapshot.at
        except ReplayError as error:
            unread.append(str(error))
            logger.error("%s; an older one or the whole log is read", error)
    return _NOTHING


def load_state(snapshot: Snapshot) -> ProjectState:
    """Return the state in `snapshot`; ReplayError, which names the version that wrote it, if it cannot be read."""
    try:
        state = ProjectState.restored(parsed(snapshot.state), ActiveLearner.from_bytes(snapshot.data))
        if digest(stored_checksum(snapshot.data) + snapshot.state).hex() != snapshot.checksum:
            raise ReplayError("it is damaged")
    except (EvolabelError, ValueError, KeyError, TypeError) as error:
        writer = parsed(snapshot.versions).get("evolabel", "of an unknown version")
        raise ReplayError(
            f"the snapshot at record {snapshot.seq}, of evolabel {writer}, cannot be read ({error})"
        ) from error
    return state


def find_state(snapshot: Snapshot) -> ProjectState | None:
    """Return the state in `snapshot`, or None if it cannot be read."""
    try:
        return load_state(snapshot)
    except ReplayError:
        return None
