"""One-time links: a person opens one, chooses a password, and can sign in from then on."""

import contextlib
import secrets
from collections.abc import Iterator

from sqlalchemy import URL, Connection

from evolabel.errors import ParameterError, StateError
from evolabel.server.log.engines import check_exists, writing_engine
from evolabel.server.log.migrate import prepare_tables
from evolabel.server.log.times import DAY, SECOND
from evolabel.server.people.audit import write_audit
from evolabel.server.people.people import AccountRow, find_account, find_or_insert_person, project_id_of
from evolabel.server.people.sessions import insert_invite
from evolabel.server.people.tokens import token_digest

VALID = DAY
PAGE_ROLES = ("annotator", "expert", "operator")
"""Roles of people who sign in; producers and bridges have tokens."""
FIRST_VALID = 15 * 60 * SECOND  # of the link that the first start prints


def make_invite(
    connection: Connection, person_id: int, at: int, *, project_id: int | None = None, role: str | None = None,
    admin: bool = False, made_by: int | None = None, valid: int = VALID, address: str | None = None,
    request_id: str | None = None,
) -> str:  # fmt: skip
    """Store a one-time link of person `person_id` through `connection` at time `at`, and return its code.

    It gives a `role` in project `project_id`, or makes the person an administrator (`admin`), and ends after `valid`.
    `made_by` is the person who invites; `address` and `request_id` are of the request, for the audit table.
    """
    code = secrets.token_urlsafe(32)
    insert_invite(
        connection,
        {
            "digest": token_digest(code),
            "person_id": person_id,
            "project_id": project_id,
            "role": role,
            "admin": admin,
            "made_by": made_by,
            "created": at,
            "until": at + valid,
        },
    )
    write_audit(
        connection, at, "invite", str(person_id), actor_id=made_by, address=address, request_id=request_id,
        project=project_id, role=role, admin=admin,
    )  # fmt: skip
    return code


def create_invite(url: URL, name: str, at: int, *, project: str | None, role: str | None, admin: bool) -> str:
    """Return the code of a new link for the person called `name` in the database at `url`, made at time `at`.

    It is for a `project` and a `role` there, or for an administrator (`admin`). ParameterError for anything else.
    """
    if admin == (project is not None) or (project is None) != (role is None):
        raise ParameterError("give --project and --role, or --admin alone")
    if role is not None and role not in PAGE_ROLES:
        raise ParameterError(
            f"a link cannot give the role {role!r}; it gives {', '.join(PAGE_ROLES)} (programs have tokens)"
        )
    with command_connection(url, project) as (connection, project_id):
        active_account(connection, name)
        person = find_or_insert_person(connection, name.lower(), at)
        return make_invite(connection, person, at, project_id=project_id, role=role, admin=admin)


@contextlib.contextmanager
def command_connection(url: URL, project: str | None) -> Iterator[tuple[Connection, int | None]]:
    """Yield a connection of a command that writes to the database at `url`, and the number of `project` or None.

    The service may run meanwhile. ParameterError if there is no such database or project.
    """
    check_exists(url)
    engine = writing_engine(url, checkpoint=False)
    try:
        with engine.begin() as connection:
            prepare_tables(connection)
            project_id = None if project is None else project_id_of(connection, project)
            if project is not None and project_id is None:
                raise ParameterError(f"there is no project {project!r} in this database; create it first")
            yield connection, project_id
    finally:
        engine.dispose()


def active_account(connection: Connection, name: str) -> AccountRow | None:
    """Return the person called `name`, read through `connection`, or None; StateError for one who is disabled."""
    check_name(name)
    person = find_account(connection, name.lower())
    if person is not None and person.disabled is not None:
        raise StateError(f"{person.name!r} is disabled; an administrator must enable the account first")
    return person


def check_name(name: str) -> None:
    """Raise ParameterError unless `name` can be that of a person."""
    if not 1 <= len(name.strip()) <= 100 or name != name.strip() or not name.isprintable() or "/" in name:
        raise ParameterError(f"{name[:50]!r} cannot be a name; use 1 to 100 printable characters without /")
