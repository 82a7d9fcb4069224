"""Rows of the tables that are made from the log: indexes over its records, and sums for charts."""

import functools
from collections import Counter, defaultdict
from collections.abc import Callable
from typing import Any, NamedTuple

from sqlalchemy import Connection, Table, bindparam, update
from sqlalchemy.dialects import postgresql, sqlite

from evolabel.server.log.activity import activity_rows
from evolabel.server.log.canonical import canonical
from evolabel.server.log.records import Record, insert_rows
from evolabel.server.log.schema import ACTIVITY, DECISION, PER_HOUR_LABEL, PER_MINUTE, QUESTION, RESPONSE, SAMPLE
from evolabel.server.log.times import MINUTE

COUNT_TABLES = (PER_MINUTE, PER_HOUR_LABEL)
"""Tables of sums."""

Key = tuple[Any, ...]


class Counted:
    """Sums to add to the tables, by table, key (a minute, or an hour and a label) and column."""

    def __init__(self) -> None:
        self.sums: dict[str, dict[Key, Counter[str]]] = {table.name: defaultdict(Counter) for table in COUNT_TABLES}

    def add(self, record: Record) -> None:
        """Count one `record`."""
        kind, at = record.entry.kind, record.entry.at
        payload, outcome = record.known_payload(), record.entry.outcome
        minute = self.sums[PER_MINUTE.name][minute_of(at),] if kind in _COUNTED else Counter[str]()
        if kind == "sample":
            minute["samples"] += 1
            if "held" in outcome:
                minute[f"held_{outcome['held']}"] += 1
            if outcome["question"] is not None:
                minute["asked"] += 1
                self._add_labels(at, "asked", dict.fromkeys(outcome["question"]["labels"], 1))
        elif kind == "close" or outcome.get("closes"):
            minute[payload.get("cause", "answered")] += 1
            self._add_labels(at, "judged", outcome["judged"])
            self._add_labels(at, "correct", outcome["right"])

    def _add_labels(self, at: int, column: str, numbers: dict[str, int]) -> None:
        for label, n in numbers.items():
            self.sums[PER_HOUR_LABEL.name][hour_of(at), label][column] += n

    def take_before(self, at: int | None) -> "Counted":
        """Return the sums of minutes and hours before those of time `at`, which are counted no further; all if None."""
        taken, first = Counted(), {PER_MINUTE.name: minute_of, PER_HOUR_LABEL.name: hour_of}
        for name, sums in self.sums.items():
            for key in [key for key in sums if at is None or key[0] < first[name](at)]:
                taken.sums[name][key] = sums.pop(key)
        return taken

    def rows(self, table: Table, project_id: int) -> list[dict[str, Any]]:
        """Return the rows of `table` for project `project_id`, with 0 for what did not happen."""
        keys, columns = _columns(table)
        return [
            {"project_id": project_id, **dict(zip(keys, key, strict=True)), **{name: sums[name] for name in columns}}
            for key, sums in self.sums[table.name].items()
            if sums.total()
        ]


def minute_of(at: int) -> int:
    """Return the number of the minute of time `at`, since 1970."""
    return at // MINUTE


def hour_of(at: int) -> int:
    """Return the number of the hour of time `at`, since 1970."""
    return minute_of(at) // 60


def write_counts(connection: Connection, project_id: int, counted: Counted) -> None:
    """Add what was `counted` in project `project_id` to the tables, inside the transaction of `connection`."""
    for table in COUNT_TABLES:
        if rows := counted.rows(table, project_id):
            connection.execute(_add(table, connection.dialect.name), rows)


_COUNTED = ("sample", "close", "labels.late")


def _columns(table: Table) -> tuple[list[str], list[str]]:
    """Return the columns of the key of `table` behind the project, and those of its sums."""
    key = [column.name for column in table.primary_key.columns][1:]
    return key, [column.name for column in table.columns if not column.primary_key]


@functools.cache
def _add(table: Table, dialect: str) -> sqlite.Insert | postgresql.Insert:
    """Return the statement that adds a row to `table`, or its sums to those of the row that is there."""
    make: Callable[[Table], sqlite.Insert | postgresql.Insert]
    make = sqlite.insert if dialect == "sqlite" else postgresql.insert
    statement = make(table)
    sums = {name: table.c[name] + statement.excluded[name] for name in _columns(table)[1]}
    return statement.on_conflict_do_update(index_elements=list(table.primary_key.columns), set_=sums)


INDEX_TABLES = (SAMPLE, QUESTION, RESPONSE, DECISION, ACTIVITY)
"""Tables that can be made again from the log."""

_CLOSE = update(QUESTION).where(
    QUESTION.c.project_id == bindparam("project"), QUESTION.c.number == bindparam("closed")
)  # sets the columns that are given

Values = dict[str, Any]


class IndexRows(NamedTuple):
    """Rows to insert, by table, values to set, by the number of a question, and sums."""

    inserted: dict[str, list[Values]]
    closed: dict[int, Values]
    counted: Counted


def changes(project_id: int, records: list[Record]) -> IndexRows:
    """Return what `records` of project `project_id` add to the tables."""
    change = IndexRows({table.name: [] for table in INDEX_TABLES}, {}, Counted())
    for record in records:
        _derive(project_id, record, change)
        if record.entry.kind != "sample" or "events" in record.entry.outcome:
            change.inserted["activity"] += activity_rows(project_id, record)
        change.counted.add(record)
    return change


def write(connection: Connection, project_id: int, records: list[Record]) -> None:
    """Write the rows of `records` of project `project_id` inside the transaction of `connection`."""
    change = changes(project_id, records)
    for table in INDEX_TABLES:
        if rows := change.inserted[table.name]:
            insert_rows(connection, table, rows)
    if change.closed:
        keys = [{"project": project_id, "closed": number, **values} for number, values in change.closed.items()]
        connection.execute(_CLOSE, keys)
    write_counts(connection, project_id, change.counted)


def _derive(project_id: int, record: Record, change: IndexRows) -> None:
    """Add to `change` what one `record` of a project makes."""
    seq, entry = record.seq, record.entry
    payload, outcome = record.known_payload(), entry.outcome
    key = {"project_id": project_id, "seq": seq}
    if entry.kind == "sample":
        question = outcome["question"]
        change.inserted["sample"].append(
            {
                **key,
                "number": outcome["number"],
                "external_id": payload.get("id"),
                "at": entry.at,
                "source": payload.get("source"),
                "asked": question is not None,
                "held": outcome.get("held"),
            }
        )
        if question is not None:
            change.inserted["question"].append(
                {
                    **key,
                    "number": outcome["number"],
                    "cost": question["cost"],
                    "labels": canonical(question["labels"]),
                    "reasons": canonical(question["reasons"]),
                    "needed": question["needed"],
                    "closed_seq": None,
                    "cause": None,
                }
            )
    elif entry.kind in _STATUS:
        change.inserted["response"].append(
            {
                **key,
                "number": payload["number"],
                "person_id": payload["person"],
                "revision": payload["revision"],
                "status": _STATUS[entry.kind],
                "answers": canonical(payload.get("answers", {})),
                "took_ms": payload.get("took_ms"),
                "note": payload.get("note"),
                "saw_prediction": bool(payload.get("saw_prediction")),
                "final_at": outcome.get("final_at"),
            }
        )
    elif entry.kind == "decision":
        change.inserted["decision"].append(
            {
                **key,
                "number": payload["number"],
                "person_id": payload["person"],
                "answers": canonical(payload["answers"]),
                "note": payload.get("note"),
            }
        )
    elif entry.kind == "close" or outcome.get("closes"):
        change.closed[payload["number"]] = {"closed_seq": seq, "cause": payload.get("cause", "answered")}


_STATUS = {
    "answer": "submitted",
    "refusal": "refused",
    "withdrawal": "withdrawn",
    "correction": "correction",
}
