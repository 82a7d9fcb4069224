"""Rows of people, members, tokens and open invitations."""

from collections.abc import Collection
from typing import Any, NamedTuple

from sqlalchemy import Connection, delete, func, insert, select, update

from evolabel.server.log.canonical import parsed
from evolabel.server.log.schema import INVITE, MEMBER, PERSON, PROJECT, SESSION, TOKEN


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


class MemberRow(NamedTuple):
    """A person with a role in a project."""

    person_id: int
    name: str
    display: str
    role: str
    has_password: bool
    disabled: int | None


class PersonRow(NamedTuple):
    """A person of the server; `password` is its hash, `disabled` the time since which the person cannot sign in."""

    id: int
    name: str
    display: str
    password: str | None
    admin: bool
    created: int
    disabled: int | None
    preferences: dict[str, Any]

    @classmethod
    def of(cls, row: Any) -> "PersonRow":
        """Return the person in a `row` with all columns of the table, whatever else it has."""
        facts = {name: getattr(row, name) for name in cls._fields}
        return cls(**{**facts, "preferences": parsed(row.preferences) if row.preferences else {}})


def list_members(connection: Connection, project_id: int) -> list[MemberRow]:
    """Return the members of project `project_id` by name, read through `connection`."""
    query = (
        select(*PERSON.c[("id", "name", "display", "password", "disabled")], MEMBER.c.role)
        .join(MEMBER, MEMBER.c.person_id == PERSON.c.id)
        .where(MEMBER.c.project_id == project_id)
        .order_by(PERSON.c.name)
    )
    return [
        MemberRow(row.id, row.name, row.display, row.role, row.password is not None, row.disabled)
        for row in connection.execute(query)
    ]


def last_seen(connection: Connection) -> dict[int, int]:
    """Return when each person with a session last used one, by number, read through `connection`."""
    query = select(SESSION.c.person_id, func.max(SESSION.c.seen)).group_by(SESSION.c.person_id)
    return {row[0]: row[1] for row in connection.execute(query)}


def find_person(connection: Connection, name: str) -> PersonRow | None:
    """Return the person called `name`, also one who is disabled, read through `connection`; None if there is none."""
    row = connection.execute(select(PERSON).where(PERSON.c.name == name)).first()
    return None if row is None else PersonRow.of(row)


def list_people(connection: Connection) -> list[PersonRow]:
    """Return all people of the server by name, read through `connection`."""
    return [PersonRow.of(row) for row in connection.execute(select(PERSON).order_by(PERSON.c.name))]


def end_membership(connection: Connection, project_id: int, person_id: int, at: int) -> None:
    """End the membership of `person_id` in project `project_id` at time `at`: tokens, invitations, sessions too."""
    connection.execute(delete(MEMBER).where(MEMBER.c.project_id == project_id, MEMBER.c.person_id == person_id))
    revoke_tokens(connection, at, project_id=project_id, person_id=person_id)
    drop_invites(connection, project_id=project_id, person_id=person_id)
    connection.execute(delete(SESSION).where(SESSION.c.person_id == person_id))


def list_tokens(connection: Connection, project_id: int) -> list[dict[str, Any]]:
    """Return the tokens of project `project_id` that were not revoked, newest first, read through `connection`."""
    columns = ("id", "role", "hint", "per_minute", "created", "expires", "used")
    query = (
        select(*TOKEN.c[columns], TOKEN.c.name.label("purpose"), PERSON.c.name.label("person"))
        .join(PERSON, PERSON.c.id == TOKEN.c.person_id)
        .where(TOKEN.c.project_id == project_id, TOKEN.c.revoked.is_(None))
        .order_by(TOKEN.c.id.desc())
    )
    return [dict(row) for row in connection.execute(query).mappings()]


def revoke_tokens(connection: Connection, at: int, *, kept: Collection[str] = (), **which: int) -> int:
    """Revoke through `connection` at time `at` the tokens with the values in `which`, by column; return how many.

    Those with a role among those `kept` stay.
    """
    query = update(TOKEN).where(TOKEN.c.revoked.is_(None), *(TOKEN.c[name] == value for name, value in which.items()))
    if kept:
        query = query.where(TOKEN.c.role.not_in(kept))
    return connection.execute(query.values(revoked=at)).rowcount


def touch_token(connection: Connection, token_id: int, at: int) -> None:
    """Store through `connection` that token `token_id` was used at time `at`."""
    connection.execute(update(TOKEN).where(TOKEN.c.id == token_id).values(used=at))


def list_invites(connection: Connection, project_id: int, now: int) -> list[dict[str, Any]]:
    """Return the invitations to project `project_id` that can be used at time `now`, read through `connection`."""
    inviter = PERSON.alias()
    query = (
        select(*INVITE.c[("digest", "role", "created", "until")], PERSON.c.name.label("person"))
        .add_columns(inviter.c.name.label("made_by"))
        .join(PERSON, PERSON.c.id == INVITE.c.person_id)
        .outerjoin(inviter, inviter.c.id == INVITE.c.made_by)
        .where(INVITE.c.project_id == project_id, INVITE.c.used.is_(None), INVITE.c.until > now)
        .order_by(INVITE.c.created.desc())
    )
    rows = (dict(row) for row in connection.execute(query).mappings())
    return [{"id": bytes(row.pop("digest")).hex()[:16], **row} for row in rows]


def drop_invites(connection: Connection, **which: int) -> None:
    """Delete through `connection` the unused invitations whose columns have the values in `which`."""
    query = delete(INVITE).where(INVITE.c.used.is_(None), *(INVITE.c[name] == value for name, value in which.items()))
    connection.execute(query)


def drop_invite(connection: Connection, project_id: int, key: str) -> bool:
    """Delete the unused invitation to project `project_id` whose id is `key`; return whether there was one."""
    query = select(INVITE.c.digest).where(INVITE.c.project_id == project_id, INVITE.c.used.is_(None))
    found = [row.digest for row in connection.execute(query) if bytes(row.digest).hex()[:16] == key]
    for digest in found:
        connection.execute(delete(INVITE).where(INVITE.c.digest == digest))
    return bool(found)


def disable_account(connection: Connection, person_id: int, at: int) -> None:
    """Disable person `person_id` at time `at` through `connection`: sessions, tokens and invitations end."""
    connection.execute(update(PERSON).where(PERSON.c.id == person_id).values(disabled=at))
    connection.execute(delete(SESSION).where(SESSION.c.person_id == person_id))
    revoke_tokens(connection, at, person_id=person_id)
    drop_invites(connection, person_id=person_id)


def enable_account(connection: Connection, person_id: int) -> None:
    """Let person `person_id` sign in again through `connection`, with a new password and not as an administrator."""
    values = {"disabled": None, "password": None, "admin": False}
    connection.execute(update(PERSON).where(PERSON.c.id == person_id).values(**values))
