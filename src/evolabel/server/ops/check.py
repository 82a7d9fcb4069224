"""Proof that a stored project is whole: the chain, the budget at every record, and the tables made from the log."""

from fractions import Fraction
from typing import Any, NamedTuple

from sqlalchemy import URL, Connection, select
from threadpoolctl import threadpool_limits

from evolabel.active.selection.token_bucket import exact_share
from evolabel.server.contexts.replay import restore
from evolabel.server.store.counts import COUNT_TABLES
from evolabel.server.store.derive import INDEX_TABLES, changes
from evolabel.server.store.log import FIRST_CHAIN, LogError, Record, read_records
from evolabel.server.store.pen import read_database
from evolabel.server.store.projects import Project, list_projects
from evolabel.server.store.schema import SAMPLE


class Checked(NamedTuple):
    """What was read: number of records, samples and questions asked, their cost and the most that was allowed."""

    records: int
    samples: int
    asked: int
    cost: int
    allowed: float
    seal: str | None


class _Budget:
    """Counts what was seen and asked from the records alone, apart from the learner."""

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


def check_project(connection: Connection, project: Project, *, replay: bool = False) -> Checked:
    """Read the whole log of `project` through `connection`; LogError names the first record that is wrong.

    `replay` also applies every record anew, without snapshots, and compares every outcome.
    """
    budget, records = _Budget(), list[Record]()
    for record in read_records(connection, project.id, 0, FIRST_CHAIN):
        budget.read(record)
        records.append(record._replace(chain=b"", blob=None))
    if len(records) != project.head.seq:
        raise LogError(f"the log has {len(records)} records, the project has {project.head.seq}; restore a backup")
    _check_derived(connection, project.id, records)
    seal = None
    if replay:
        seal = restore(connection, project.id, project.head.epoch, from_start=True).state.seal()
    return Checked(len(records), budget.samples, budget.asked, budget.cost, float(budget.earned), seal)


def check_database(url: URL, *, replay: bool = False) -> dict[str, Checked]:
    """Return what `check_project` finds in each project of the database at `url`, by name; `replay` as there."""
    with threadpool_limits(1), read_database(url) as connection:  # the same bits as in the service
        projects = list_projects(connection)
        return {project.slug: check_project(connection, project, replay=replay) for project in projects}


def _check_derived(connection: Connection, project_id: int, records: list[Record]) -> None:
    """Raise LogError unless the tables hold exactly the rows that `records` make."""
    change = changes(project_id, records)
    closed = change.closed
    for row in change.inserted["question"]:
        row.update(closed.get(row["number"], {}))
    made = {table: change.inserted[table.name] for table in INDEX_TABLES}
    made |= {table: change.counted.rows(table, project_id) for table in COUNT_TABLES}
    archived = {r.entry.outcome["number"] for r in records if r.entry.kind == "sample" and r.entry.payload is None}
    for table, rows in made.items():
        stored = [row._asdict() for row in connection.execute(select(table).where(table.c.project_id == project_id))]
        if table is SAMPLE and archived:  # of these only the table has id and source
            known = {row["number"]: {"external_id": row["external_id"], "source": row["source"]} for row in stored}
            rows = [row | known.get(row["number"], {}) if row["number"] in archived else row for row in rows]
        if _sorted(stored) != _sorted(rows):
            raise LogError(f"the table {table.name} differs from the log; restore a backup")


def _sorted(rows: list[dict[str, Any]]) -> list[list[tuple[str, str]]]:
    return sorted(sorted((name, repr(value)) for name, value in row.items()) for row in rows)
