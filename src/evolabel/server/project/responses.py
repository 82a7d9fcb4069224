"""What people have answered, and the values of earlier samples, as pages show them."""

from typing import Any, NamedTuple

from sqlalchemy import Connection, select

from evolabel.server.log.canonical import parsed
from evolabel.server.log.schema import LOG, RESPONSE, SAMPLE

_SEARCHED = 5000  # samples back in which values of the same source are looked for


class OwnResponse(NamedTuple):
    """The last response of a person to a question, and what the model had said."""

    number: int
    status: str
    answers: dict[str, int | None]
    at: int
    final_at: int | None
    predicted: list[str]


def last_own_responses(connection: Connection, project_id: int, person_id: int, most: int) -> list[OwnResponse]:
    """Return the last responses of person `person_id` in project `project_id`, at most `most`, newest first.

    They are read through `connection`; those taken back are left out.
    """
    query = (
        select(RESPONSE, LOG.c.at)
        .join(LOG, (LOG.c.project_id == RESPONSE.c.project_id) & (LOG.c.seq == RESPONSE.c.seq))
        .where(RESPONSE.c.project_id == project_id, RESPONSE.c.person_id == person_id)
        .order_by(RESPONSE.c.seq.desc())
        .limit(10 * most)
    )
    newest: dict[int, Any] = {}
    for row in connection.execute(query):
        newest.setdefault(row.number, row)
    rows = [row for row in newest.values() if row.status != "withdrawn"][:most]
    return [
        OwnResponse(
            row.number, row.status, parsed(row.answers), row.at, row.final_at,
            _predicted(connection, project_id, row.number),
        )
        for row in rows
    ]  # fmt: skip


def answers_before(
    connection: Connection, project_id: int, number: int, person_id: int
) -> tuple[dict[str, int | None], int]:
    """Return the answers that person `person_id` gave last to question `number` of project `project_id`, and the time.

    They are read through `connection`, also if they were taken back; empty and 0 if there are none.
    """
    query = (
        select(RESPONSE.c.answers, LOG.c.at)
        .join(LOG, (LOG.c.project_id == RESPONSE.c.project_id) & (LOG.c.seq == RESPONSE.c.seq))
        .where(RESPONSE.c.project_id == project_id, RESPONSE.c.number == number, RESPONSE.c.person_id == person_id)
        .where(RESPONSE.c.status == "submitted")
        .order_by(RESPONSE.c.revision.desc())
    )
    found = connection.execute(query.limit(1)).first()
    return ({}, 0) if found is None else (dict(parsed(found.answers)), found.at)


def cells_before(
    connection: Connection, project_id: int, number: int, most: int, source: str | None = None
) -> list[list[Any]]:
    """Return the values of the samples up to `number` of project `project_id`, at most `most`, oldest first.

    They are read through `connection`; with a `source`, only samples that came from it.
    """
    query = (
        select(LOG.c.payload)
        .join(SAMPLE, (LOG.c.project_id == SAMPLE.c.project_id) & (LOG.c.seq == SAMPLE.c.seq))
        .where(SAMPLE.c.project_id == project_id, SAMPLE.c.number <= number, LOG.c.payload.is_not(None))
        .where(SAMPLE.c.number > number - _SEARCHED)
        .order_by(SAMPLE.c.number.desc())
        .limit(most)
    )
    if source is not None:
        query = query.where(SAMPLE.c.source == source)
    return [parsed(payload)["x"] for payload in connection.scalars(query)][::-1]


def _predicted(connection: Connection, project_id: int, number: int) -> list[str]:
    """Return the labels that the model predicted for sample `number`, as logged."""
    query = (
        select(LOG.c.outcome)
        .join(SAMPLE, (LOG.c.project_id == SAMPLE.c.project_id) & (LOG.c.seq == SAMPLE.c.seq))
        .where(SAMPLE.c.project_id == project_id, SAMPLE.c.number == number)
    )
    return list(parsed(connection.scalar(query) or '{"labels": []}')["labels"])
