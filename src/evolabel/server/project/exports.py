"""Rows of a project for other programs: answers, samples with their predictions, and the log; read page by page."""

from collections.abc import Iterator
from heapq import merge
from typing import Any

from sqlalchemy import ColumnElement, Connection, Engine, Select, Table, case, select

from evolabel.server.log.canonical import parsed
from evolabel.server.log.records import PAGE, find_kinds, log_line, read_record
from evolabel.server.log.schema import DECISION, LOG, PERSON, QUESTION, RESPONSE, SAMPLE, of_record
from evolabel.server.log.times import utc_text
from evolabel.server.log.writer import reading
from evolabel.server.project.statistics import STANDS

Row = dict[str, Any]


def answered_labels(engine: Engine, project_id: int) -> Iterator[Row]:
    """Yield answers and decisions of project `project_id`, one row per label, in the order of the log, by `engine`.

    A refusal is one row without a label. An answer `stands` if it is the last one of the person and was not taken back,
    a decision of an expert if it is the last one on the label.
    """
    both = merge(_answers(engine, project_id), _decisions(engine, project_id), key=lambda pair: pair[0])
    yield from (row for _, row in both)


def _answers(engine: Engine, project_id: int) -> Iterator[tuple[int, Row]]:
    """Yield what people answered in project `project_id`, read by `engine`: records and rows as exported."""
    columns = (
        RESPONSE, LOG.c.at, PERSON.c.name.label("person"), SAMPLE.c.external_id, SAMPLE.c.source,
        SAMPLE.c.at.label("asked_at"), QUESTION.c.labels, case((STANDS, 1), else_=0).label("stands"),
    )  # fmt: skip
    query = (
        select(*columns)
        .join(LOG, _same_project(LOG) & (LOG.c.seq == RESPONSE.c.seq))
        .join(SAMPLE, _same_project(SAMPLE) & (SAMPLE.c.number == RESPONSE.c.number))
        .outerjoin(QUESTION, _same_project(QUESTION) & (QUESTION.c.number == RESPONSE.c.number))
        .outerjoin(PERSON, PERSON.c.id == RESPONSE.c.person_id)
        .where(RESPONSE.c.project_id == project_id)
    )
    for row in _pages(engine, query, RESPONSE.c.seq):
        facts = {
            **_question_facts(row),
            "revision": row.revision,
            "status": row.status,
            "at": utc_text(row.at),
            "label": None,
            "answer": None,
            "asked": None,
            "saw_prediction": row.saw_prediction,
            "took_ms": row.took_ms,
            "note": row.note,
            "stands": bool(row.stands),
        }
        asked = parsed(row.labels or "[]")
        answers = parsed(row.answers)
        for name, value in answers.items():
            yield row.seq, {**facts, "label": name, "answer": value, "asked": name in asked}
        if not answers:
            yield row.seq, facts


def _decisions(engine: Engine, project_id: int) -> Iterator[tuple[int, Row]]:
    """Yield what experts decided in project `project_id`, read by `engine`: records and rows as exported."""
    of_project, of_sample = DECISION.c.project_id == project_id, SAMPLE.c.number == DECISION.c.number
    query = (
        select(DECISION, LOG.c.at, PERSON.c.name.label("person"), SAMPLE.c.external_id, SAMPLE.c.source,
               SAMPLE.c.at.label("asked_at"), QUESTION.c.labels)
        .join(LOG, of_record(DECISION))
        .join(SAMPLE, (SAMPLE.c.project_id == DECISION.c.project_id) & of_sample)
        .join(QUESTION, (QUESTION.c.project_id == DECISION.c.project_id) & (QUESTION.c.number == DECISION.c.number))
        .outerjoin(PERSON, PERSON.c.id == DECISION.c.person_id)
        .where(of_project)
    )  # fmt: skip
    with reading(engine) as connection:
        decided = connection.execute(select(DECISION).where(of_project).order_by(DECISION.c.seq)).all()
    last = {(row.number, name): row.seq for row in decided for name in parsed(row.answers)}
    for row in _pages(engine, query, DECISION.c.seq):
        facts = {
            **_question_facts(row),
            "revision": None,
            "status": "decision",
            "at": utc_text(row.at),
        }
        rest = {"saw_prediction": True, "took_ms": None, "note": row.note}
        for name, value in parsed(row.answers).items():
            answered = {"label": name, "answer": value, "asked": name in parsed(row.labels)}
            yield row.seq, {**facts, **answered, **rest, "stands": last.get((row.number, name)) == row.seq}


def _question_facts(row: Any) -> dict[str, Any]:
    """Return which question the answer or decision in `row` belongs to, and who gave it."""
    return {
        "number": row.number,
        "id": row.external_id,
        "source": row.source,
        "asked_at": utc_text(row.asked_at),
        "person": row.person or f"person {row.person_id}",
    }


def _same_project(table: Table) -> ColumnElement[bool]:
    return table.c.project_id == RESPONSE.c.project_id


def sample_rows(engine: Engine, project_id: int) -> Iterator[Row]:
    """Yield the samples of project `project_id` with their predictions and questions, read by `engine`."""
    query = (
        select(LOG, SAMPLE.c.external_id, SAMPLE.c.source)
        .join(SAMPLE, of_record(SAMPLE))
        .where(LOG.c.project_id == project_id)
    )
    with reading(engine) as connection:
        names = [feature["name"] for feature in project_columns(connection, project_id)[0]]
    for row in _pages(engine, query, LOG.c.seq):
        record = read_record(row)
        payload = record.entry.payload or {}
        x = dict(zip(names, payload["x"], strict=True)) if "x" in payload else None  # None: it is missing
        outcome = {key: value for key, value in record.entry.outcome.items() if key not in ("number", "events")}
        yield {
            "number": record.entry.outcome["number"],
            "id": row.external_id,
            "source": row.source,
            "at": utc_text(record.entry.at),
            "x": x,
            **({"y": payload["y"]} if "y" in payload else {}),
            **outcome,
        }


def log_rows(engine: Engine, project_id: int, after: int = 0, limit: int | None = None) -> Iterator[Row]:
    """Yield the records of project `project_id` behind record `after`, at most `limit`, read by `engine`.

    They have their hashes and chain values.
    """
    rows = _pages(engine, select(LOG).where(LOG.c.project_id == project_id), LOG.c.seq, last=after, most=limit)
    yield from map(log_line, rows)


def _pages(engine: Engine, query: Select[Any], key: Any, last: int = 0, most: int | None = None) -> Iterator[Any]:
    """Yield the rows of `query` behind `last` in the order of the column `key`, at most so many (`most`).

    No connection is kept between two pages.
    """
    while most is None or most > 0:
        size = PAGE if most is None else min(PAGE, most)
        with reading(engine) as connection:
            rows = connection.execute(query.where(key > last).order_by(key).limit(size)).all()
        yield from rows
        if len(rows) < size:
            return
        last, most = rows[-1].seq, None if most is None else most - size


def project_columns(connection: Connection, project_id: int) -> tuple[list[Row], list[str]]:
    """Return the features of project `project_id` and the names of all labels it has had, read through `connection`."""
    made = find_kinds(connection, project_id, ("project.created", "label.added"))
    created, *added = [record.entry.payload for record in made]
    return created["features"], [label["name"] for label in (*created["labels"], *added)]
