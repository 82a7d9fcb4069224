"""Samples, questions and the answers of people to them, read from the tables; nothing of it is hidden here."""

from collections.abc import Collection
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, Connection, exists, select

from evolabel.server.log.canonical import parsed
from evolabel.server.log.records import Record, read_record
from evolabel.server.log.schema import LOG, PERSON, QUESTION, RESPONSE, SAMPLE, of_record
from evolabel.server.project.statistics import LAST, STANDS


class GivenResponse(NamedTuple):
    """A response of a person to a question, with what the model had predicted for the sample.

    `learned` is the number of labels that the model has learned from it, if it is a correction.
    """

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
    learned: int

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
        .join(SAMPLE, of_record(SAMPLE))
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


def earlier_responses(connection: Connection, project_id: int, number: int) -> dict[int, list[GivenResponse]]:
    """Return what each person said to question `number` of project `project_id` before the last response.

    It is read through `connection`, by number of the person; what was taken back is left out.
    """
    query = _responses(project_id, ~LAST & (RESPONSE.c.status != "withdrawn")).where(RESPONSE.c.number == number)
    found: dict[int, list[GivenResponse]] = {}
    for row in connection.execute(query.order_by(RESPONSE.c.seq)):
        found.setdefault(row.person_id, []).append(_given(row))
    return found


def _responses(project_id: int, which: ColumnElement[bool] = STANDS) -> Any:
    """Return the query of `which` responses in project `project_id`, with times and the records of their samples."""
    of_sample = LOG.alias("of_sample")
    return (
        select(RESPONSE, LOG.c.at, LOG.c.outcome.label("done"), PERSON.c.display, of_sample.c.outcome)
        .join(LOG, of_record(RESPONSE))
        .join(SAMPLE, (SAMPLE.c.project_id == RESPONSE.c.project_id) & (SAMPLE.c.number == RESPONSE.c.number))
        .join(of_sample, (of_sample.c.project_id == SAMPLE.c.project_id) & (of_sample.c.seq == SAMPLE.c.seq))
        .outerjoin(PERSON, PERSON.c.id == RESPONSE.c.person_id)
        .where(RESPONSE.c.project_id == project_id, which)
    )


def _given(row: Any) -> GivenResponse:
    return GivenResponse(
        row.seq, row.number, row.person_id, row.display or f"person {row.person_id}", row.revision, row.status,
        parsed(row.answers), row.at, row.final_at, row.took_ms, row.note, parsed(row.outcome)["labels"],
        parsed(row.done).get("learned", 0),
    )  # fmt: skip


def closed_questions(
    connection: Connection, project_id: int, cause: str, person_id: int, *, after: int, limit: int
) -> list[dict[str, Any]]:
    """Return the questions of project `project_id` that were closed by `cause`, with numbers above `after`, by number.

    At most `limit` are read through `connection`; each has whether person `person_id` has answered it.
    """
    own = (RESPONSE.c.project_id == QUESTION.c.project_id) & (RESPONSE.c.number == QUESTION.c.number)
    answered = exists().where(own, RESPONSE.c.person_id == person_id, RESPONSE.c.status != "withdrawn")
    query = (
        select(QUESTION.c.number, QUESTION.c.labels, QUESTION.c.needed, SAMPLE.c.at, answered.label("answered"))
        .join(SAMPLE, (SAMPLE.c.project_id == QUESTION.c.project_id) & (SAMPLE.c.number == QUESTION.c.number))
        .where(QUESTION.c.project_id == project_id, QUESTION.c.cause == cause, QUESTION.c.number > after)
        .order_by(QUESTION.c.number)
        .limit(limit)
    )
    return [
        {**row, "labels": parsed(row["labels"]), "answered": bool(row["answered"]), "status": cause}
        for row in connection.execute(query).mappings()
    ]


_SEARCHED = 5000  # samples back in which values of the same source are looked for


def answers_before(
    connection: Connection, project_id: int, number: int, person_id: int
) -> tuple[dict[str, int | None], int]:
    """Return the answers that person `person_id` gave last to question `number` of project `project_id`, and the time.

    They are read through `connection`, also if they were taken back; empty and 0 if there are none.
    """
    query = (
        select(RESPONSE.c.answers, LOG.c.at)
        .join(LOG, of_record(RESPONSE))
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
        .join(SAMPLE, of_record(SAMPLE))
        .where(SAMPLE.c.project_id == project_id, SAMPLE.c.number <= number, LOG.c.payload.is_not(None))
        .where(SAMPLE.c.number > number - _SEARCHED)
        .order_by(SAMPLE.c.number.desc())
        .limit(most)
    )
    if source is not None:
        query = query.where(SAMPLE.c.source == source)
    return [parsed(payload)["x"] for payload in connection.scalars(query)][::-1]
