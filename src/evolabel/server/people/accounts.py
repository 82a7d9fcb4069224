"""People and tokens on the command line, also while the service runs."""

from datetime import UTC, datetime

from sqlalchemy import URL

from evolabel.errors import ParameterError
from evolabel.server.log.schema import ROLES
from evolabel.server.log.times import SECOND, now_us
from evolabel.server.log.writer import read_database
from evolabel.server.people.audit import write_audit
from evolabel.server.people.invites import active_account, command_connection
from evolabel.server.people.people import (
    AccountRow,
    add_member,
    disable_account,
    enable_account,
    find_account,
    find_or_insert_person,
    list_accounts,
)
from evolabel.server.people.tokens import end_of_token, make_token


def set_disabled(url: URL, name: str, *, disabled: bool) -> None:
    """Disable the person called `name` in the database at `url`, so that sessions and tokens end, or enable again.

    ParameterError if there is no such person. An enabled person needs a new link to choose a password.
    """
    at = now_us()
    with command_connection(url, None) as (connection, _):
        person = find_account(connection, name.lower())
        if person is None:
            raise ParameterError(f"there is no person {name!r}; `evolabel serve user` lists the people")
        if (person.disabled is not None) == disabled:
            return
        if disabled:
            disable_account(connection, person.id, at)
        else:
            enable_account(connection, person.id)
        write_audit(connection, at, "user-disabled" if disabled else "user-enabled", person.name)


def describe_people(url: URL, name: str | None = None) -> list[str]:
    """Return a line for each person in the database at `url`, or for the one called `name`."""
    with read_database(url) as connection:
        people = list_accounts(connection)
    shown = [person for person in people if name is None or person.name == name.lower()]
    if name is not None and not shown:
        raise ParameterError(f"there is no person {name!r}; `evolabel serve user` lists the people")
    return [_described(person) for person in shown]


def _described(person: AccountRow) -> str:
    facts = ["administrator"] if person.admin else []
    facts.append("has a password" if person.has_password else "has no password")
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
    at = now_us()
    expires = end_of_token(until, at)
    with command_connection(url, project) as (connection, project_id):
        active_account(connection, person)
        number = find_or_insert_person(connection, person.lower(), at, admin=project is None)
        if project_id is not None and role is not None:
            add_member(connection, project_id, number, role)
        write_audit(connection, at, "token-made", person.lower(), project=project_id, role=role, name=name)
        return make_token(connection, number, project_id, role, name=name, at=at, expires=expires)
