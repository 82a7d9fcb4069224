"""Rows of the tables that are indexes over the log, made from its records."""

from typing import Any, NamedTuple

from sqlalchemy import Connection, bindparam, update

from evolabel.server.log.activity import activity_rows
from evolabel.server.log.canonical import canonical
from evolabel.server.log.counts import Counted, write_counts
from evolabel.server.log.insert_rows import insert_rows
from evolabel.server.log.log import Record
from evolabel.server.log.schema import ACTIVITY, QUESTION, RESPONSE, SAMPLE

INDEX_TABLES = (SAMPLE, QUESTION, RESPONSE, ACTIVITY)
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
    elif entry.kind == "close" or outcome.get("closes"):
        change.closed[payload["number"]] = {"closed_seq": seq, "cause": payload.get("cause", "answered")}


_STATUS = {
    "answer": "submitted",
    "refusal": "refused",
    "withdrawal": "withdrawn",
    "correction": "correction",
}
