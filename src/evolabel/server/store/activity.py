"""What happened in a project, for people: acts, stops, and what the model changed, made from the records of the log."""

from typing import Any, NamedTuple

from sqlalchemy import Connection, select

from evolabel.server.store.canonical import canonical, parsed
from evolabel.server.store.log import Record
from evolabel.server.store.schema import ACTIVITY, PERSON

_QUIET = ("sample", "answer", "refusal", "withdrawal", "close", "labels.late", "correction", "history")
_LARGE = ("settings", "features", "labels", "versions", "seal", "events", "rows", "x")
_FIRST_START = 2  # record at which the service has begun a new project


class Happening(NamedTuple):
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
    if entry.kind not in _QUIET and not (entry.kind == "epoch.started" and record.seq == _FIRST_START):
        facts = {**(entry.payload or {}), **entry.outcome}
        found.append((entry.kind, {name: value for name, value in facts.items() if name not in _LARGE}))
    for event in entry.outcome.get("events", ()):
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


def read_activity(
    connection: Connection, project_id: int, most: int, *, before: tuple[int, int] | None = None, kinds: str = ""
) -> list[Happening]:
    """Return what happened in project `project_id`, newest first, at most `most`, read through `connection`.

    Only what came `before` a record and part is returned, and of kinds that begin with `kinds`.
    """
    place = (ACTIVITY.c.seq, ACTIVITY.c.part)
    query = (
        select(*place, ACTIVITY.c.kind, ACTIVITY.c.at, PERSON.c.display, ACTIVITY.c.args)
        .outerjoin(PERSON, PERSON.c.id == ACTIVITY.c.actor_id)
        .where(ACTIVITY.c.project_id == project_id, ACTIVITY.c.kind.startswith(kinds, autoescape=True))
        .order_by(ACTIVITY.c.seq.desc(), ACTIVITY.c.part.desc())
        .limit(most)
    )
    if before is not None:
        seq, part = before
        query = query.where((ACTIVITY.c.seq < seq) | ((ACTIVITY.c.seq == seq) & (ACTIVITY.c.part < part)))
    return [Happening(*row[:5], parsed(row[5])) for row in connection.execute(query)]
