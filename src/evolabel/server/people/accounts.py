"""People of the server on the command line, also while the service runs."""

import time
from datetime import UTC, datetime

from sqlalchemy import URL

from evolabel.errors import ParameterError
from evolabel.server.log.pen import read_database
from evolabel.server.log.times import SECOND
from evolabel.server.people.audit import write_audit
from evolabel.server.people.invites import command_connection
from evolabel.server.people.members import AccountRow, disable_account, enable_account, find_account, list_accounts


def set_disabled(url: URL, name: str, *, disabled: bool) -> None:
    """Disable the person called `name` in the database at `url`, so that sessions and tokens end, or enable again.

    ParameterError if there is no such person. An enabled person needs a new link to choose a password.
    """
    at = time.time_ns() // 1000
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
