"""What happened in a project, for people: acts, stops, and what the model changed, made from the records of the log."""

from collections.abc import Collection, Sequence
from typing import Any, NamedTuple

from sqlalchemy import Connection, Row, Select, or_, select

from evolabel.core.events import EDITS
from evolabel.server.log.canonical import canonical, parsed
from evolabel.server.log.records import Record
from evolabel.server.log.schema import ACTIVITY, PERSON, RESPONSE

_QUIET = ("sample", "answer", "refusal", "withdrawal", "close", "labels.late", "correction", "history")
_LARGE = (
    "settings", "features", "labels", "versions", "seal", "seal_before", "events", "rows", "x", "form", "inverse",
    "next", "conditions", "file",
)  # fmt: skip
_FIRST_START = 2  # record at which the service has begun a new project
COMMAND = "command"
"""Cause of a start by a command, which is no stop of the service."""


class ActivityItem(NamedTuple):
    """Something that happened: its record and part there, kind, time, person, and the values of its text."""

    seq: int
    part: int
    kind: str
    at: int
    person: str | None
    args: dict[str, Any]


def activity_rows(project_id: int, record: Record) -> list[dict[str, Any]]:
    """Return the rows that a `record` of project `project_id` makes: of the act itself, and of each of its events.

    Kinds of events are those of the library, with `model.` before them.
    """
    entry = record.entry
    found = list[tuple[str, dict[str, Any]]]()
    is_quiet = entry.kind in _QUIET or (entry.kind == "epoch.started" and _is_no_stop(record))
    if not is_quiet:
        facts = {**(entry.payload or {}), **entry.outcome}
        found.append((entry.kind, {name: value for name, value in facts.items() if name not in _LARGE}))
    for event in entry.outcome.get("events", ()):
        if event["kind"] in EDITS:  # the act itself
            continue
        args = {name: value for name, value in event.items() if name != "kind"}
        found.append((f"model.{event['kind'].replace(' ', '_')}", args))
    return [
        {
            "project_id": project_id,
            "seq": record.seq,
            "part": part,
            "kind": kind,
            "at": entry.at,
            "actor_id": entry.actor_id if kind == entry.kind else None,
            "args": canonical(args),
        }
        for part, (kind, args) in enumerate(found)
    ]


def _is_no_stop(record: Record) -> bool:
    """Return whether the start in `record` is that of a new project, or of a command while the service was stopped."""
    return record.seq == _FIRST_START or (record.entry.payload or {}).get("cause") == COMMAND


def read_activity(
    connection: Connection, project_id: int, most: int, *, before: int = 2**62, kinds: Sequence[str] = ("",),
    person: str | None = None,
) -> list[ActivityItem]:  # fmt: skip
    """Return what happened in project `project_id`, newest first, at most `most`, read through `connection`.

    Only what records `before` that number made is returned, of kinds that begin with one of `kinds`, by `person`.
    """
    query = _of_kinds(project_id, kinds).where(ACTIVITY.c.seq < before)
    if person is not None:
        query = query.where(PERSON.c.name == person)
    query = query.order_by(ACTIVITY.c.seq.desc(), ACTIVITY.c.part.desc()).limit(most)
    return [_item(row) for row in connection.execute(query)]


def activity_after(
    connection: Connection, project_id: int, after: int, most: int, kind: str = ""
) -> tuple[list[ActivityItem], bool]:
    """Return what records of project `project_id` behind number `after` made, oldest first, and whether there is more.

    They are read through `connection`, of kinds that begin with `kind`. At most `most` are returned, unless a single
    record made more: records are whole.
    """
    rows = _of_kinds(project_id, [kind]).order_by(ACTIVITY.c.seq, ACTIVITY.c.part)
    found = connection.execute(rows.where(ACTIVITY.c.seq > after).limit(most + 1)).all()
    more = len(found) > most
    if more and found[0].seq == found[-1].seq:
        found = connection.execute(rows.where(ACTIVITY.c.seq == found[0].seq)).all()
    elif more:
        found = [row for row in found if row.seq < found[-1].seq]
    return [_item(row) for row in found], more


def activity_of(connection: Connection, project_id: int, records: Collection[int]) -> list[ActivityItem]:
    """Return what these `records` of project `project_id` made, read through `connection`."""
    query = _of_kinds(project_id, [""]).where(ACTIVITY.c.seq.in_(sorted(records)))
    return [_item(row) for row in connection.execute(query)]


def people_in(connection: Connection, project_id: int) -> list[tuple[str, str]]:
    """Return name and display name of those who did or answered something in project `project_id`, by `connection`."""
    acted = select(ACTIVITY.c.actor_id).where(ACTIVITY.c.project_id == project_id)
    answered = select(RESPONSE.c.person_id).where(RESPONSE.c.project_id == project_id)
    query = select(PERSON.c.name, PERSON.c.display).where(PERSON.c.id.in_(acted) | PERSON.c.id.in_(answered))
    return [(row.name, row.display) for row in connection.execute(query.order_by(PERSON.c.display))]


def _item(row: Row[Any]) -> ActivityItem:
    return ActivityItem(row.seq, row.part, row.kind, row.at, row.display, parsed(row.args))


def _of_kinds(project_id: int, kinds: Sequence[str]) -> Select[Any]:
    """Return the query of what happened in project `project_id`, of kinds that begin with one of `kinds`."""
    columns = ACTIVITY.c.seq, ACTIVITY.c.part, ACTIVITY.c.kind, ACTIVITY.c.at, PERSON.c.display, ACTIVITY.c.args
    begins = [ACTIVITY.c.kind.startswith(kind, autoescape=True) for kind in kinds]
    joined = select(*columns).outerjoin(PERSON, PERSON.c.id == ACTIVITY.c.actor_id)
    return joined.where(ACTIVITY.c.project_id == project_id, or_(*begins))
