"""Proof that stored projects are whole, and how far this program gives the same outcomes as before.

The log is read once, in pieces, so that the memory does not grow with it: the chain, the budget at every record, the
tables made from the log, and a replay, whose outcomes and states are compared with those in the log.
"""

import copy
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any, NamedTuple

from sqlalchemy import URL, Connection
from threadpoolctl import threadpool_limits

from evolabel.errors import EvolabelError
from evolabel.server.log.archive import archived_ranges
from evolabel.server.log.canonical import canonical
from evolabel.server.log.log import FIRST_CHAIN, PAGE, LogError, Record, read_records
from evolabel.server.log.pen import read_database
from evolabel.server.log.projects import Project, list_projects
from evolabel.server.log.snapshots import read_snapshot, snapshot_seals
from evolabel.server.ops.budget_count import BudgetCount
from evolabel.server.ops.table_check import TableCheck
from evolabel.server.project.replay import apply_record, find_state, versions
from evolabel.server.project.state import Facts, ProjectState

_SEALS = ("seal", "seal_before")


class Verified(NamedTuple):
    """What was read: number of records, samples and questions asked, their cost and the most that was allowed."""

    records: int
    samples: int
    asked: int
    cost: int
    allowed: float
    replay: "Replay | None"


class UnverifiedError(LogError):
    """Projects are not whole or cannot be applied; the message has a sentence on each, `found` what the others have."""

    def __init__(self, message: str, found: dict[str, Verified]) -> None:
        super().__init__(message)
        self.found = found


class Replay:
    """The records behind `start` applied again, with the decisions in the log; outcomes and snapshots are compared.

    Parameters
    ----------
    seals : dict
        Seals of snapshots, by their records.
    start : int
        Record behind which the replay begins.
    state : ProjectState, optional
        The state there; None before the first record.
    """

    def __init__(self, seals: dict[int, str], start: int = 0, state: ProjectState | None = None) -> None:
        self.start = start
        self.records = self.compared = self.different = 0
        self.first: str | None = None
        """The first record or snapshot that differs, and how."""
        self.furthest = 0.0
        """The largest difference of a predicted probability."""
        self._seals = seals
        self._state = state
        self._is_own = state is not None  # whether the records were written by this version of the program

    def read(self, record: Record) -> None:
        """Apply `record`, and compare its outcome; ReplayError if it cannot be applied."""
        if record.seq <= self.start:
            return
        self._state, outcome = apply_record(self._state, record)
        self.records += 1
        written = _versions_in(record)
        self._is_own = self._is_own if written is None else written == versions()
        logged = record.entry.outcome
        if not self._is_own:  # seals are those of the files of the other version
            outcome, logged = _without_seals(outcome), _without_seals(logged)
        self.furthest = max(self.furthest, _distance(outcome, logged))
        if canonical(outcome) != canonical(logged):
            name = f"record {record.seq} ({record.entry.kind})"
            self._differs(f"{name}: {canonical(outcome)[:200]} instead of {canonical(logged)[:200]}")
        if record.seq in self._seals and self._is_own:
            self.compared += 1
            if copy.deepcopy(self._state).seal() != self._seals[record.seq]:  # snapshots are made of copies
                self._differs(f"the snapshot at record {record.seq}: it is not the state that the log gives")

    @property
    def seal(self) -> str:
        """Seal of the state after the last record."""
        if self._state is None:
            raise LogError("the log of the project is empty; restore a backup")
        return self._state.seal()

    def _differs(self, what: str) -> None:
        self.different += 1
        self.first = self.first or what


def verify_project(
    connection: Connection, project: Project, *, from_start: bool = False, replay: bool = True
) -> Verified:
    """Read the whole log of `project` through `connection`; LogError names the first record that is wrong.

    The `replay` begins with the oldest snapshot of this version of the program, or with the first record if
    `from_start` or there is no older one. ReplayError if a record cannot be applied.
    """
    budget, tables, last = BudgetCount(), TableCheck(connection, project.id), 0
    replayed = _begin_replay(connection, project.id, from_start=from_start) if replay else None

    def each() -> Iterator[Record]:
        for record in read_records(connection, project.id, 0, FIRST_CHAIN):
            budget.read(record)
            if replayed is not None:
                replayed.read(record)
            yield record._replace(blob=None)

    for records in _pieces(each()):
        tables.read(records)
        last = records[-1].seq
    if last != project.head.seq:
        raise LogError(f"the log has {last} records, the project has {project.head.seq}; restore a backup")
    tables.finish()
    return Verified(last, budget.samples, budget.asked, budget.cost, float(budget.earned), replayed)


def verify_database(url: URL, *, from_start: bool = False, replay: bool = True) -> dict[str, Verified]:
    """Return what `verify_project` finds in each project of the database at `url`, by name; arguments as there.

    All projects are read; UnverifiedError at the end if some are not whole.
    """
    found, failed = dict[str, Verified](), list[str]()
    with threadpool_limits(1), read_database(url) as connection:  # the same bits as in the service
        projects = list_projects(connection)
        options = {"from_start": from_start, "replay": replay}
        for project in projects:
            try:
                found[project.slug] = verify_project(connection, project, **options)
            except EvolabelError as error:
                failed.append(f"{project.slug}: {error}")
    if failed:
        raise UnverifiedError("; ".join(failed), found)
    return found


def _begin_replay(connection: Connection, project_id: int, *, from_start: bool) -> Replay:
    """Return the replay of project `project_id` from the first record on, or behind the oldest snapshot that serves.

    It serves if it is of this version, can be read and is not the last one. Where payloads are in the archive, it is
    the oldest one behind them.
    """
    seals = snapshot_seals(connection, project_id)
    order, archived = list(seals), max((last for _, last in archived_ranges(connection, project_id)), default=0)
    if from_start:
        return Replay(seals)
    for seq in [seq for seq in order if seq >= archived] if archived else order[:-1]:
        snapshot = read_snapshot(connection, project_id, seq)
        if snapshot.versions == canonical(versions()) and (state := find_state(snapshot)) is not None:
            return Replay(seals, seq, state)
    return Replay(seals)


def _pieces(records: Iterable[Record]) -> Iterator[list[Record]]:
    """Yield `records` in lists of a page each."""
    source = iter(records)
    while piece := list(islice(source, PAGE)):
        yield piece


def _versions_in(record: Record) -> Any:
    """Return the versions of the program that wrote `record` and those behind it; None if it does not have them."""
    payload = record.entry.payload or {}
    return payload.get("to") if record.entry.kind == "library.changed" else payload.get("versions")


def _without_seals(outcome: Facts) -> Facts:
    return {name: value for name, value in outcome.items() if name not in _SEALS}


def _distance(outcome: Facts, logged: Facts) -> float:
    """Return the largest difference of a probability between two outcomes of a sample; 0 for other records."""
    pairs = ((outcome.get("prediction", {}).get(name), p) for name, p in logged.get("prediction", {}).items())
    return max((abs(one - other) for one, other in pairs if one is not None), default=0.0)
