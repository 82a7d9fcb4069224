"""Rows of people, members and tokens."""

from typing import NamedTuple

from sqlalchemy import Connection, insert, select, update

from evolabel.server.log.schema import MEMBER, PERSON, PROJECT, TOKEN


class TokenRow(NamedTuple):
    """A token with the person it belongs to."""

    id: int
    person_id: int
    project_id: int | None
    role: str | None
    admin: bool
    per_minute: int | None
    expires: int | None


def names_of(connection: Connection) -> dict[int, str]:
    """Return the names of all people in the database of `connection`, by their numbers."""
    return {row.id: row.name for row in connection.execute(select(PERSON.c.id, PERSON.c.name))}


def find_or_insert_person(connection: Connection, name: str, at: int, *, admin: bool = False) -> int:
    """Return the number of the person called `name`, who is added through `connection` at time `at` if there is none.

    `admin`: the person administers the server from now on.
    """
    number = connection.scalar(select(PERSON.c.id).where(PERSON.c.name == name))
    if number is None:
        values = {"name": name, "display": name, "admin": admin, "created": at}
        key = connection.execute(insert(PERSON).values(**values)).inserted_primary_key
        number = key[0] if key else 0
    elif admin:
        connection.execute(update(PERSON).where(PERSON.c.id == number).values(admin=True))
    return int(number)


def add_member(connection: Connection, project_id: int, person_id: int, role: str) -> None:
    """Give person `person_id` a `role` in project `project_id` through `connection`, unless there is one already."""
    where = (MEMBER.c.project_id == project_id, MEMBER.c.person_id == person_id)
    if connection.execute(select(MEMBER.c.role).where(*where)).first() is None:
        connection.execute(insert(MEMBER).values(project_id=project_id, person_id=person_id, role=role))


def set_member(connection: Connection, project_id: int, person_id: int, role: str) -> None:
    """Give person `person_id` a `role` in project `project_id`, through `connection`."""
    where = (MEMBER.c.project_id == project_id, MEMBER.c.person_id == person_id)
    if connection.execute(update(MEMBER).where(*where).values(role=role)).rowcount == 0:
        connection.execute(insert(MEMBER).values(project_id=project_id, person_id=person_id, role=role))


def insert_token(connection: Connection, values: dict[str, object]) -> int:
    """Insert a token with these `values` through `connection`, and return its number."""
    key = connection.execute(insert(TOKEN).values(**values)).inserted_primary_key
    return int(key[0]) if key else 0


def find_token(connection: Connection, digest: bytes, now: int) -> TokenRow | None:
    """Return the token with this `digest`, read through `connection`, if it is valid at time `now`, else None."""
    query = (
        select(TOKEN, PERSON.c.admin)
        .join(PERSON, PERSON.c.id == TOKEN.c.person_id)
        .where(TOKEN.c.digest == digest, TOKEN.c.revoked.is_(None), PERSON.c.disabled.is_(None))
    )
    row = connection.execute(query).first()
    if row is None or (row.expires is not None and row.expires <= now):
        return None
    return TokenRow(row.id, row.person_id, row.project_id, row.role, row.admin, row.per_minute, row.expires)


def project_id_of(connection: Connection, slug: str) -> int | None:
    """Return the number of the project called `slug`, read through `connection`, or None."""
    found = connection.scalar(select(PROJECT.c.id).where(PROJECT.c.slug == slug))
    return None if found is None else int(found)
