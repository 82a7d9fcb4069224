"""Rows of leases and drafts: who looks at a question until when, and what the person has chosen so far."""

from sqlalchemy import Connection, delete, insert, select

from evolabel.server.log.canonical import canonical, parsed
from evolabel.server.log.schema import DRAFT, LEASE

_KEPT = 30 * 24 * 3600 * 1_000_000  # microseconds, of a draft

LeaseChanges = dict[tuple[int, int], int | None]
"""The end of leases by question and person; None for a lease that has ended."""
DraftAnswers = dict[str, int | None]
"""1, 0, or None for unsure, by label; labels that are open yet are absent."""


def read_leases(connection: Connection, project_id: int) -> dict[int, dict[int, int]]:
    """Return the ends of the leases of project `project_id` by question and person, read through `connection`."""
    found: dict[int, dict[int, int]] = {}
    for row in connection.execute(select(LEASE).where(LEASE.c.project_id == project_id)):
        found.setdefault(row.number, {})[row.person_id] = row.until
    return found


def write_leases(connection: Connection, project_id: int, changed: LeaseChanges) -> None:
    """Write the leases `changed` of project `project_id` through `connection`."""
    for number, person in changed:
        connection.execute(
            delete(LEASE).where(LEASE.c.project_id == project_id, LEASE.c.number == number, LEASE.c.person_id == person)
        )
    rows = [
        {"project_id": project_id, "number": number, "person_id": person, "until": until}
        for (number, person), until in changed.items()
        if until is not None
    ]
    if rows:
        connection.execute(insert(LEASE), rows)


def store_draft(
    connection: Connection, project_id: int, number: int, person_id: int, *, answers: DraftAnswers, at: int
) -> None:
    """Keep through `connection` the `answers` that person `person_id` has chosen for question `number` at time `at`.

    They replace the draft before; drafts of project `project_id` that are older than 30 days are removed.
    """
    own = (DRAFT.c.number == number) & (DRAFT.c.person_id == person_id)
    connection.execute(delete(DRAFT).where(DRAFT.c.project_id == project_id, own | (DRAFT.c.at < at - _KEPT)))
    key = {"project_id": project_id, "number": number, "person_id": person_id}
    connection.execute(insert(DRAFT).values(**key, answers=canonical(answers), at=at))


def read_draft(connection: Connection, project_id: int, number: int, person_id: int) -> tuple[DraftAnswers, int] | None:
    """Return the draft of person `person_id` for question `number` of project `project_id` and its time, or None.

    It is read through `connection`.
    """
    query = select(DRAFT).where(DRAFT.c.project_id == project_id, DRAFT.c.number == number)
    row = connection.execute(query.where(DRAFT.c.person_id == person_id)).first()
    return None if row is None else (parsed(row.answers), row.at)
