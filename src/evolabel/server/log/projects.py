"""Rows of projects, and what is read from the log by sample or key."""

import functools
from collections.abc import Collection
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, Connection, Select, Text, any_, bindparam, func, insert, select, update
from sqlalchemy.dialects.postgresql import ARRAY

from evolabel.server.log.canonical import canonical, parsed
from evolabel.server.log.records import FIRST_CHAIN, Head, Record, read_record
from evolabel.server.log.schema import DECISION, LOG, PROJECT, RESPONSE, SAMPLE, of_record


class Project(NamedTuple):
    """A project as its row has it."""

    id: int
    slug: str
    title: str
    head: Head
    state: str
    created: int


def list_projects(connection: Connection) -> list[Project]:
    """Return all projects in the database of `connection`, oldest first."""
    return [_project(row) for row in connection.execute(select(PROJECT).order_by(PROJECT.c.id))]


def find_project(connection: Connection, slug: str) -> Project | None:
    """Return the project called `slug`, read through `connection`, or None."""
    row = connection.execute(select(PROJECT).where(PROJECT.c.slug == slug)).first()
    return None if row is None else _project(row)


def insert_project(connection: Connection, slug: str, title: str, at: int) -> Project:
    """Insert a project `slug` with a `title` and no records, made at time `at`, through `connection`; return it."""
    head = Head(0, FIRST_CHAIN, 1)
    values = {"slug": slug, "title": title, "created": at, "head_seq": 0, "head_chain": FIRST_CHAIN, "epoch": 1}
    key = connection.execute(insert(PROJECT).values(**values, state="active")).inserted_primary_key
    return Project(int(key[0]) if key else 0, slug, title, head, "active", at)


def next_epoch(connection: Connection, project: Project) -> Head:
    """Raise the epoch of `project` through `connection`, so that writers before are refused; return the head."""
    connection.execute(update(PROJECT).where(PROJECT.c.id == project.id).values(epoch=PROJECT.c.epoch + 1))
    row = connection.execute(select(PROJECT).where(PROJECT.c.id == project.id)).one()
    return _project(row).head


def find_samples(connection: Connection, project_id: int, external_ids: Collection[str]) -> dict[str, Record]:
    """Return the records of samples of project `project_id` with one of `external_ids`, by id, through `connection`."""
    backend = connection.dialect.name
    ids = list(external_ids) if backend == "postgresql" else canonical(list(external_ids))
    rows = connection.execute(_samples_by_ids(backend), {"project": project_id, "ids": ids})
    return {row.external_id: read_record(row) for row in rows}


@functools.cache
def _samples_by_ids(backend: str) -> Select[Any]:
    """Return the query of samples by their ids for `backend`; all ids are one parameter: a list, or its JSON text.

    It is made once: to make it takes longer than the search for a hundred ids.
    """
    column = SAMPLE.c.external_id
    if backend == "postgresql":
        has_id: ColumnElement[bool] = column == any_(bindparam("ids", type_=ARRAY(Text)))
    else:
        has_id = column.in_(select(func.json_each(bindparam("ids")).table_valued("value").c.value))
    return select(column, LOG).join(LOG, of_record(SAMPLE)).where(SAMPLE.c.project_id == bindparam("project"), has_id)


def find_sample(connection: Connection, project_id: int, number: int) -> Record | None:
    """Return the record of sample `number` of project `project_id`, read through `connection`, or None."""
    query = (
        select(LOG).join(SAMPLE, of_record(SAMPLE)).where(SAMPLE.c.project_id == project_id, SAMPLE.c.number == number)
    )
    row = connection.execute(query).first()
    return None if row is None else read_record(row)


def last_response(connection: Connection, project_id: int, number: int, person_id: int) -> Record | None:
    """Return the record of the last response of person `person_id` to question `number`, or None.

    It is read through `connection` from project `project_id`.
    """
    query = (
        select(LOG)
        .join(RESPONSE, of_record(RESPONSE))
        .where(RESPONSE.c.project_id == project_id, RESPONSE.c.number == number, RESPONSE.c.person_id == person_id)
        .order_by(RESPONSE.c.revision.desc())
    )
    row = connection.execute(query).first()
    return None if row is None else read_record(row)


def last_answers(connection: Connection, project_id: int, number: int) -> dict[int, dict[str, int | None]]:
    """Return the last answers of each person to question `number` of project `project_id`, by number of the person.

    They are read through `connection`; those taken back are left out, a refusal has none.
    """
    query = (
        select(RESPONSE.c.person_id, RESPONSE.c.status, RESPONSE.c.answers)
        .where(RESPONSE.c.project_id == project_id, RESPONSE.c.number == number)
        .order_by(RESPONSE.c.revision)
    )
    last = {row.person_id: row for row in connection.execute(query)}
    return {person: parsed(row.answers) for person, row in last.items() if row.status != "withdrawn"}


def decided_answers(connection: Connection, project_id: int, number: int) -> dict[str, int]:
    """Return what experts have decided on question `number` of project `project_id`, by label; the last counts.

    It is read through `connection`.
    """
    same = (DECISION.c.project_id == project_id, DECISION.c.number == number)
    found: dict[str, int] = {}
    for answers in connection.scalars(select(DECISION.c.answers).where(*same).order_by(DECISION.c.seq)):
        found |= parsed(answers)
    return found


def _project(row: Any) -> Project:
    head = Head(row.head_seq, bytes(row.head_chain), row.epoch)
    return Project(row.id, row.slug, row.title, head, row.state, row.created)
