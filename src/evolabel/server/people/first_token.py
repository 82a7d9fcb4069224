"""Tokens made on the command line, also while the service runs."""

import time

from sqlalchemy import URL

from evolabel.errors import ParameterError
from evolabel.server.log.schema import ROLES
from evolabel.server.people.audit import write_audit
from evolabel.server.people.invites import active_account, command_connection
from evolabel.server.people.people import add_member, find_or_insert_person
from evolabel.server.people.tokens import end_of_token, make_token


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
    at = time.time_ns() // 1000
    expires = end_of_token(until, at)
    with command_connection(url, project) as (connection, project_id):
        active_account(connection, person)
        number = find_or_insert_person(connection, person.lower(), at, admin=project is None)
        if project_id is not None and role is not None:
            add_member(connection, project_id, number, role)
        write_audit(connection, at, "token-made", person.lower(), project=project_id, role=role, name=name)
        return make_token(connection, number, project_id, role, name=name, at=at, expires=expires)
