"""Proof that stored projects are whole, and how far this program gives the same outcomes as before.

The log is read once, in pieces, so that the memory does not grow with it: the chain, the budget at every record, the
tables made from the log, and a replay, whose outcomes and states are compared with those in the log.
"""

import copy
from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from fractions import Fraction
from itertools import islice
from typing import Any, NamedTuple

from sqlalchemy import URL, ColumnElement, Connection, Table, func, inspect, select
from threadpoolctl import threadpool_limits

from evolabel.active.selection.token_bucket import exact_share
from evolabel.errors import EvolabelError
from evolabel.server.log.archive import archived_ranges
from evolabel.server.log.canonical import canonical
from evolabel.server.log.derive import COUNT_TABLES, INDEX_TABLES, Counted, changes
from evolabel.server.log.projects import Project, list_projects
from evolabel.server.log.records import FIRST_CHAIN, PAGE, LogError, Record, read_records
from evolabel.server.log.schema import ACTIVITY, QUESTION, RESPONSE, SAMPLE
from evolabel.server.log.snapshots import read_snapshot, snapshot_checksums
from evolabel.server.log.writer import read_database
from evolabel.server.project.replay import apply_record, find_state, versions
from evolabel.server.project.state import Facts, ProjectState


class BudgetCount:
    """Counts samples, questions asked, their cost, and what the budget allowed."""

    def __init__(self) -> None:
        self.per = "labels"
        self.n_labels = 0
        self.share = Fraction(0)
        self.earned = Fraction(0)
        self.samples = self.asked = self.cost = 0

    def read(self, record: Record) -> None:
        """Count one `record`; LogError if more was asked than the budget in force allows."""
        kind, payload, outcome = record.entry.kind, record.entry.payload, record.entry.outcome
        if kind == "project.created":
            settings = payload["settings"]
            self.per, self.n_labels = settings["per"], len(payload["labels"])
            self.share = exact_share(settings["budget"])
        elif kind == "settings.changed" and "budget" in payload["changed"]:
            self.share = exact_share(payload["changed"]["budget"])
        elif kind == "label.added":
            self.n_labels += 1
        elif kind == "sample":
            self.samples += 1
            self.earned += self.share * (self.n_labels if self.per == "labels" else 1)
            self.asked += outcome["question"] is not None
            self.cost += outcome["question"]["cost"] if outcome["question"] else 0
        if self.cost > self.earned:
            raise LogError(
                f"record {record.seq}: {self.cost} {self.per} were asked, {float(self.earned):.2f} were allowed"
            )


_SET_LATER = {QUESTION.name: ("closed_seq", "cause")}  # by another record than that of the row
_ARCHIVED = ("external_id", "source")  # of a sample whose payload is in the archive, only the table has these

Rows = list[dict[str, Any]]


class TableCheck:
    """Compares the rows of project `project_id`, read through `connection`, with those that its records make.

    Each row that was made is looked up by its key, and at last the rows are counted, so that none is left over. Only
    the rows of one piece of the log are in memory, and the sums of the last minute and hour.
    """

    def __init__(self, connection: Connection, project_id: int) -> None:
        self._connection = connection
        self._project_id = project_id
        self._counted = Counted()
        self._made: Counter[str] = Counter()
        self._closed = 0

    def read(self, records: list[Record]) -> None:
        """Compare the rows of `records`, the next piece of the log; LogError names a table that differs."""
        change = changes(self._project_id, records)
        archived = {r.entry.outcome["number"] for r in records if r.entry.kind == "sample" and r.entry.payload is None}
        for table in INDEX_TABLES:
            self._compare(table, change.inserted[table.name], _keys(table, change.inserted[table.name]), archived)
        closed = [{"number": number, **values} for number, values in change.closed.items()]
        self._compare_closed(closed)
        for record in records:
            self._counted.add(record)
        self._compare_sums(self._counted.take_before(records[-1].entry.at))

    def finish(self) -> None:
        """Compare the last sums, and the number of rows of each table; LogError names a table that differs."""
        self._compare_sums(self._counted.take_before(None))
        for table in (*INDEX_TABLES, *COUNT_TABLES):
            self._require(self._count(table) == self._made[table.name], table)
        self._require(self._count(QUESTION, QUESTION.c.closed_seq.is_not(None)) == self._closed, QUESTION)

    def _compare(self, table: Table, made: Rows, keys: ColumnElement[bool], archived: Collection[int] = ()) -> None:
        """Compare the rows `made` with those of `table` at `keys`; numbers of samples in the archive are `archived`."""
        self._made[table.name] += len(made)
        if made:
            stored = self._connection.execute(select(table).where(table.c.project_id == self._project_id, keys))
            found = [row._asdict() for row in stored]
            self._require(_sorted(table, found, archived) == _sorted(table, made, archived), table)

    def _compare_closed(self, closed: Rows) -> None:
        """Compare the records that `closed` questions, and why, with the table of questions."""
        self._closed += len(closed)
        if closed:
            columns, numbers = QUESTION.c[tuple(closed[0])], [row["number"] for row in closed]
            query = select(*columns).where(QUESTION.c.project_id == self._project_id, QUESTION.c.number.in_(numbers))
            found = [row._asdict() for row in self._connection.execute(query)]
            self._require(_texts(found) == _texts(closed), QUESTION)

    def _compare_sums(self, counted: Counted) -> None:
        for table in COUNT_TABLES:
            made, first = counted.rows(table, self._project_id), list(table.primary_key.columns)[1]
            spans = [row[first.name] for row in made]
            self._compare(table, made, first.in_(sorted(set(spans))))

    def _count(self, table: Table, *which: ColumnElement[bool]) -> int:
        """Return the number of rows of `table` that are `which`; 0 without the table, which a draft did not have."""
        if not inspect(self._connection).has_table(table.name):
            return 0
        query = select(func.count()).select_from(table).where(table.c.project_id == self._project_id, *which)
        return int(self._connection.scalar(query) or 0)

    def _require(self, same: bool, table: Table) -> None:
        if not same:
            raise LogError(f"the table {table.name} differs from the log; restore a backup")


def _keys(table: Table, made: Rows) -> ColumnElement[bool]:
    """Return the condition of the rows `made` in `table`: by its key, as there is no index of their records."""
    if table is ACTIVITY:
        return ACTIVITY.c.seq.in_(sorted({row["seq"] for row in made}))
    found: ColumnElement[bool] = table.c.number.in_(sorted({row["number"] for row in made}))
    if table is RESPONSE:  # other responses to the question are in other pieces
        found &= RESPONSE.c.seq.in_([row["seq"] for row in made])
    return found


def _sorted(table: Table, rows: Rows, archived: Collection[int]) -> list[list[tuple[str, str]]]:
    """Return `rows` of `table` as texts to compare, without what is not in their own records."""
    later = _SET_LATER.get(table.name, ())
    kept = [{name: value for name, value in row.items() if name not in later} for row in rows]
    if table is SAMPLE:
        kept = [row | dict.fromkeys(_ARCHIVED) if row["number"] in archived else row for row in kept]
    return _texts(kept)


def _texts(rows: Rows) -> list[list[tuple[str, str]]]:
    return sorted(sorted((name, repr(value)) for name, value in row.items()) for row in rows)


_CHECKSUMS = ("seal", "seal_before")


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

    `checksums` are those of snapshots by their records, `state` is that at `start`, None before the first record.
    """

    def __init__(self, checksums: dict[int, str], start: int = 0, state: ProjectState | None = None) -> None:
        self.start = start
        self.records = self.compared = self.different = 0
        self.first: str | None = None
        """The first record or snapshot that differs, and how."""
        self.furthest = 0.0
        """The largest difference of a predicted probability."""
        self._checksums = checksums
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
        if not self._is_own:  # checksums are those of the files of the other version
            outcome, logged = _without_seals(outcome), _without_seals(logged)
        self.furthest = max(self.furthest, _distance(outcome, logged))
        if canonical(outcome) != canonical(logged):
            name = f"record {record.seq} ({record.entry.kind})"
            self._differs(f"{name}: {canonical(outcome)[:200]} instead of {canonical(logged)[:200]}")
        if record.seq in self._checksums and self._is_own:
            self.compared += 1
            if copy.deepcopy(self._state).checksum() != self._checksums[record.seq]:  # snapshots are made of copies
                self._differs(f"the snapshot at record {record.seq}: it is not the state that the log gives")

    @property
    def checksum(self) -> str:
        """Checksum of the state after the last record."""
        if self._state is None:
            raise LogError("the log of the project is empty; restore a backup")
        return self._state.checksum()

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
    checksums = snapshot_checksums(connection, project_id)
    order, archived = list(checksums), max((last for _, last in archived_ranges(connection, project_id)), default=0)
    if from_start:
        return Replay(checksums)
    for seq in [seq for seq in order if seq >= archived] if archived else order[:-1]:
        snapshot = read_snapshot(connection, project_id, seq)
        if snapshot.versions == canonical(versions()) and (state := find_state(snapshot)) is not None:
            return Replay(checksums, seq, state)
    return Replay(checksums)


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
    return {name: value for name, value in outcome.items() if name not in _CHECKSUMS}


def _distance(outcome: Facts, logged: Facts) -> float:
    """Return the largest difference of a probability between two outcomes of a sample; 0 for other records."""
    pairs = ((outcome.get("prediction", {}).get(name), p) for name, p in logged.get("prediction", {}).items())
    return max((abs(one - other) for one, other in pairs if one is not None), default=0.0)
