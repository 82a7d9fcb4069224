"""Samples and what people said to them, read from the tables; nothing of it is hidden here."""

from collections.abc import Collection
from typing import Any, NamedTuple

from sqlalchemy import Connection, select

from evolabel.server.log.canonical import parsed
from evolabel.server.log.log import Record, read_record
from evolabel.server.log.schema import LOG, PERSON, QUESTION, RESPONSE, SAMPLE
from evolabel.server.project.standing import STANDS


class GivenResponse(NamedTuple):
    """The last response of a person to a question, with what the model had predicted for the sample."""

    seq: int
    number: int
    person_id: int
    person: str
    revision: int
    status: str
    answers: dict[str, int | None]
    at: int
    final_at: int | None
    took_ms: int | None
    note: str | None
    predicted: list[str]

    def facts(self) -> dict[str, Any]:
        """Return what everyone who may see the response is shown."""
        hidden = ("seq", "person_id", "predicted")
        return {name: value for name, value in self._asdict().items() if name not in hidden}


class SampleFilter(NamedTuple):
    """Which samples: those with numbers above `after`, only some `numbers`, or only those `asked` about or not."""

    after: int = 0
    numbers: Collection[int] | None = None
    asked: bool | None = None


def list_samples(connection: Connection, project_id: int, chosen: SampleFilter, limit: int) -> list[Record]:
    """Return the records of the samples `chosen` in project `project_id`, at most `limit`, by number.

    They are read through `connection`.
    """
    query = (
        select(LOG)
        .join(SAMPLE, (LOG.c.project_id == SAMPLE.c.project_id) & (LOG.c.seq == SAMPLE.c.seq))
        .where(SAMPLE.c.project_id == project_id, SAMPLE.c.number > chosen.after)
        .order_by(SAMPLE.c.number)
        .limit(limit)
    )
    if chosen.numbers is not None:
        query = query.where(SAMPLE.c.number.in_(list(chosen.numbers)))
    if chosen.asked is not None:
        query = query.where(SAMPLE.c.asked == chosen.asked)
    return [read_record(row) for row in connection.execute(query)]


def responses_to(connection: Connection, project_id: int, number: int) -> list[GivenResponse]:
    """Return the last response of each person to question `number` of project `project_id`, the first one first.

    They are read through `connection`; those taken back are left out.
    """
    query = _responses(project_id).where(RESPONSE.c.number == number).order_by(RESPONSE.c.seq)
    return [_given(row) for row in connection.execute(query)]


def responses_by(
    connection: Connection, project_id: int, person_id: int, limit: int, *, after: int = 0, before: int | None = None
) -> list[GivenResponse]:
    """Return the last responses of person `person_id` to questions of project `project_id`, at most `limit`.

    They are read through `connection`: those with records `after` this one, oldest first, or those `before` one, newest
    first. Those taken back are left out.
    """
    query = _responses(project_id).where(RESPONSE.c.person_id == person_id).limit(limit)
    if before is None:
        query = query.where(RESPONSE.c.seq > after).order_by(RESPONSE.c.seq)
    else:
        query = query.where(RESPONSE.c.seq < before).order_by(RESPONSE.c.seq.desc())
    return [_given(row) for row in connection.execute(query)]


def closing_of(connection: Connection, project_id: int, number: int) -> tuple[str | None, int | None]:
    """Return why and when question `number` of project `project_id` was closed, by `connection`; None while open."""
    query = (
        select(QUESTION.c.cause, LOG.c.at)
        .join(LOG, (LOG.c.project_id == QUESTION.c.project_id) & (LOG.c.seq == QUESTION.c.closed_seq))
        .where(QUESTION.c.project_id == project_id, QUESTION.c.number == number)
    )
    row = connection.execute(query).first()
    return (None, None) if row is None else (row.cause, row.at)


def _responses(project_id: int) -> Any:
    """Return the query of the last response of each person to each question, with its time and the sample's record."""
    of_sample = LOG.alias("of_sample")
    return (
        select(RESPONSE, LOG.c.at, PERSON.c.display, of_sample.c.outcome)
        .join(LOG, (LOG.c.project_id == RESPONSE.c.project_id) & (LOG.c.seq == RESPONSE.c.seq))
        .join(SAMPLE, (SAMPLE.c.project_id == RESPONSE.c.project_id) & (SAMPLE.c.number == RESPONSE.c.number))
        .join(of_sample, (of_sample.c.project_id == SAMPLE.c.project_id) & (of_sample.c.seq == SAMPLE.c.seq))
        .outerjoin(PERSON, PERSON.c.id == RESPONSE.c.person_id)
        .where(RESPONSE.c.project_id == project_id, STANDS)
    )


def _given(row: Any) -> GivenResponse:
    return GivenResponse(
        row.seq, row.number, row.person_id, row.display or f"person {row.person_id}", row.revision, row.status,
        parsed(row.answers), row.at, row.final_at, row.took_ms, row.note, parsed(row.outcome)["labels"],
    )  # fmt: skip
