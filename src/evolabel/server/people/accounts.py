"""People, invitations and tokens on the command line, also while the service runs."""

import contextlib
from collections.abc import Iterator
from datetime import UTC, datetime

from sqlalchemy import URL, Connection

from evolabel.errors import ParameterError
from evolabel.server.log.engines import check_exists, writing_engine
from evolabel.server.log.migrate import prepare_tables
from evolabel.server.log.schema import ROLES
from evolabel.server.log.times import SECOND, now_us
from evolabel.server.log.writer import read_database
from evolabel.server.people.audit import Sender, write_audit
from evolabel.server.people.membership import PAGE_ROLES, active_account, make_invite
from evolabel.server.people.people import (
    PersonRow,
    add_member,
    disable_account,
    enable_account,
    find_or_insert_person,
    find_person,
    list_people,
    project_id_of,
)
from evolabel.server.people.tokens import end_of_token, make_token


def set_disabled(url: URL, name: str, *, disabled: bool) -> None:
    """Disable the person called `name` in the database at `url`, so that sessions and tokens end, or enable again.

    ParameterError if there is no such person. An enabled person needs a new link to choose a password.
    """
    with command_connection(url, None) as (connection, _):
        person = find_person(connection, name.lower())
        if person is None:
            raise ParameterError(f"there is no person {name!r}; `evolabel serve user` lists the people")
        if (person.disabled is not None) == disabled:
            return
        if disabled:
            disable_account(connection, person.id, now_us())
        else:
            enable_account(connection, person.id)
        write_audit(connection, "user-disabled" if disabled else "user-enabled", person.name, _sender())


def describe_people(url: URL, name: str | None = None) -> list[str]:
    """Return a line for each person in the database at `url`, or for the one called `name`."""
    with read_database(url) as connection:
        people = list_people(connection)
    shown = [person for person in people if name is None or person.name == name.lower()]
    if name is not None and not shown:
        raise ParameterError(f"there is no person {name!r}; `evolabel serve user` lists the people")
    return [_described(person) for person in shown]


def _described(person: PersonRow) -> str:
    facts = ["administrator"] if person.admin else []
    facts.append("has a password" if person.password else "has no password")
    if person.disabled is not None:
        facts.append(f"disabled since {datetime.fromtimestamp(person.disabled // SECOND, UTC):%Y-%m-%d}")
    return f"{person.name}: {', '.join(facts)}"


def create_token(
    url: URL, person: str, project: str | None, role: str | None, name: str, *, until: str | None = None
) -> str:
    """Return a new token of `person` in the database at `url`, called `name`.

    It is for a `project` and a `role` there, or, without both, for the whole server, and ends at the date or time
    `until`, or after 90 days. ParameterError if only one is given or there is none such.
    """
    if (project is None) != (role is None):
        raise ParameterError("a project and a role go together; give both, or neither for an administrator")
    if role is not None and role not in ROLES:
        raise ParameterError(f"there is no role {role!r}; the roles are {', '.join(ROLES)}")
    sender = _sender()
    expires = end_of_token(until, sender.at)
    with command_connection(url, project) as (connection, project_id):
        active_account(connection, person)
        number = find_or_insert_person(connection, person.lower(), sender.at, admin=project is None)
        if project_id is not None and role is not None:
            add_member(connection, project_id, number, role)
        write_audit(connection, "token-made", person.lower(), sender, project=project_id, role=role, name=name)
        return make_token(connection, number, project_id, role, name=name, at=sender.at, expires=expires)


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
        return make_invite(connection, person, _sender(at), project_id=project_id, role=role, admin=admin)


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


def _sender(at: int | None = None) -> Sender:
    """Return a command as the sender of what it does at time `at`, by default now."""
    return Sender(None, admin=True, at=now_us() if at is None else at)
