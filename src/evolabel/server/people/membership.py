"""Acts on people: invite, add, change the role, remove, disable; tokens made and revoked. Each is in the audit table.

Pages and routes call the same functions. Everything is checked before anything is written.
"""

import secrets
from typing import NamedTuple

from sqlalchemy import Connection, insert

from evolabel.errors import ParameterError, StateError
from evolabel.server.log.schema import INVITE, ROLES
from evolabel.server.log.times import DAY
from evolabel.server.people import people
from evolabel.server.people.audit import Sender, write_audit
from evolabel.server.people.people import (
    PersonRow,
    add_member,
    find_or_insert_person,
    find_person,
    list_members,
    set_member,
)
from evolabel.server.people.policies import ForbiddenError, HiddenError, included_roles
from evolabel.server.people.sessions import delete_sessions, roles_of
from evolabel.server.people.tokens import make_token, token_digest

VALID = DAY
PAGE_ROLES = ("annotator", "expert", "operator")
"""Roles of people who sign in; producers and bridges have tokens."""


class NewToken(NamedTuple):
    """A token to make: whose it is, its role, what it is for, its end, and its own limit of requests per minute."""

    person: str
    role: str
    purpose: str
    expires: int
    per_minute: int | None = None


def add_token(connection: Connection, project_id: int, new: NewToken, sender: Sender) -> str:
    """Make the `new` token for project `project_id` on behalf of `sender` through `connection`, and return it.

    The person is added if there is none. `sender`, unless an administrator, cannot make a token of another person who
    can sign in: answers would be given in that person's name.
    """
    check_role_name(new.role)
    person = active_account(connection, new.person)
    may_act_for = person is None or sender.admin or person.id == sender.person_id
    if person is not None and not may_act_for and (person.admin or person.password):
        raise ForbiddenError(f"{person.name!r} signs in with a password; only an administrator may make this token")
    person_id = find_or_insert_person(connection, new.person.lower(), sender.at)
    add_member(connection, project_id, person_id, new.role)
    token = make_token(
        connection, person_id, project_id, new.role,
        name=new.purpose, at=sender.at, expires=new.expires, per_minute=new.per_minute,
    )  # fmt: skip
    write_audit(
        connection, "token-made", new.person.lower(), sender, project=project_id, role=new.role, name=new.purpose
    )
    return token


def revoke_token(connection: Connection, project_id: int, token_id: int, sender: Sender) -> None:
    """Revoke token `token_id` of project `project_id` on behalf of `sender`; HiddenError if there is none."""
    if not people.revoke_tokens(connection, sender.at, id=token_id, project_id=project_id):
        raise HiddenError(f"there is no token {token_id} in this project, or it was revoked; list the tokens")
    write_audit(connection, "token-revoked", str(token_id), sender, project=project_id)


def invite_member(connection: Connection, project_id: int, name: str, role: str, sender: Sender) -> str:
    """Return the code of a one-time link by which the person called `name` gets a `role` in project `project_id`.

    A link sets a password. So `sender`, unless an administrator, cannot make one for a person who has a password or a
    role elsewhere: such a person is added as a member.
    """
    check_role_name(role)
    if role not in PAGE_ROLES:
        raise ParameterError(f"a {role} has no pages to sign in to; make a token instead")
    person = active_account(connection, name)
    if person is not None and not sender.admin:
        elsewhere = set(roles_of(connection, person.id)) - {project_id}
        if person.admin or person.password or elsewhere:
            raise StateError(f"{name.lower()!r} has an account already; add the person as a member instead")
    person_id = find_or_insert_person(connection, name.lower(), sender.at)
    return make_invite(connection, person_id, sender, project_id=project_id, role=role)


def cancel_invite(connection: Connection, project_id: int, key: str, sender: Sender) -> None:
    """Delete the open invitation `key` to project `project_id` on behalf of `sender`; HiddenError if there is none."""
    if not people.drop_invite(connection, project_id, key):
        raise HiddenError(f"there is no open invitation {key[:20]!r} to this project; list the invitations")
    write_audit(connection, "invite-cancelled", key, sender, project=project_id)


def admit(connection: Connection, project_id: int, name: str, role: str, sender: Sender) -> None:
    """Give the person called `name`, who has an account, a `role` in project `project_id` on behalf of `sender`."""
    check_role_name(role)
    person = active_account(connection, name)
    if person is None:
        raise HiddenError(f"there is no person {name!r}; invite the person instead")
    if project_id in roles_of(connection, person.id):
        raise StateError(f"{person.name!r} is a member already; change the role instead")
    set_member(connection, project_id, person.id, role)
    write_audit(connection, "member-added", person.name, sender, project=project_id, role=role)


def welcome(connection: Connection, project_id: int, name: str, role: str, sender: Sender) -> str | None:
    """Return the code of a link for the person called `name`, who gets a `role` in project `project_id`.

    None for one who has a password: that stays, and the person is a member at once. `sender` is an administrator.
    """
    person = active_account(connection, name)
    if person is None or not person.password:
        return invite_member(connection, project_id, name, role, sender)
    admit(connection, project_id, name, role, sender)
    return None


def change_role(connection: Connection, project_id: int, name: str, role: str, sender: Sender) -> None:
    """Give member `name` of project `project_id` another `role` on behalf of `sender`.

    Sessions of the person end, and tokens for more than the new role.
    """
    check_role_name(role)
    member = member_called(connection, project_id, name)
    if member.role == role:
        return
    set_member(connection, project_id, member.person_id, role)
    delete_sessions(connection, member.person_id)
    kept = included_roles(role)
    people.revoke_tokens(connection, sender.at, kept=kept, project_id=project_id, person_id=member.person_id)
    write_audit(connection, "role-changed", member.name, sender, project=project_id, role=role, before=member.role)


def remove_member(connection: Connection, project_id: int, name: str, sender: Sender) -> None:
    """End the membership of `name` in project `project_id` on behalf of `sender`: tokens, invitations, sessions too."""
    member = member_called(connection, project_id, name)
    people.end_membership(connection, project_id, member.person_id, sender.at)
    write_audit(connection, "member-removed", member.name, sender, project=project_id, role=member.role)


def invite_user(connection: Connection, name: str, sender: Sender, *, admin: bool = False) -> str:
    """Return the code of a link with which the person called `name` chooses a password, on behalf of `sender`.

    The person is added if there is none, and enabled again if disabled. `admin`: the link makes an administrator.
    """
    check_name(name)
    person_id = find_or_insert_person(connection, name.lower(), sender.at)
    found = find_person(connection, name.lower())
    if found is not None and found.disabled is not None:
        people.enable_account(connection, person_id)
        write_audit(connection, "user-enabled", found.name, sender)
    return make_invite(connection, person_id, sender, admin=admin)


def disable_user(connection: Connection, name: str, sender: Sender) -> None:
    """Disable the person called `name` on behalf of `sender`: sessions and tokens end; answers stay."""
    person = find_person(connection, name.lower())
    if person is None:
        raise HiddenError(f"there is no person {name!r}; list the people")
    if person.id == sender.person_id:
        raise StateError("you cannot disable yourself; ask another administrator")
    if person.disabled is None:
        people.disable_account(connection, person.id, sender.at)
        write_audit(connection, "user-disabled", person.name, sender)


def member_called(connection: Connection, project_id: int, name: str) -> people.MemberRow:
    """Return the member of project `project_id` called `name`, read through `connection`; HiddenError if none."""
    for member in list_members(connection, project_id):
        if member.name == name.lower():
            return member
    raise HiddenError(f"there is no member {name!r} in this project; list the members")


def check_role_name(role: str) -> None:
    """Raise ParameterError unless `role` is the name of a role."""
    if role not in ROLES:
        raise ParameterError(f"there is no role {role!r}; the roles are {', '.join(ROLES)}")


def make_invite(
    connection: Connection, person_id: int, sender: Sender, *, project_id: int | None = None, role: str | None = None,
    admin: bool = False, valid: int = VALID,
) -> str:  # fmt: skip
    """Store a one-time link of person `person_id`, made by `sender`, through `connection`, and return its code.

    It gives a `role` in project `project_id`, or makes the person an administrator (`admin`), and ends after `valid`.
    """
    code, at = secrets.token_urlsafe(32), sender.at
    gives = {"person_id": person_id, "project_id": project_id, "role": role, "admin": admin}
    made = {"digest": token_digest(code), "made_by": sender.person_id, "created": at, "until": at + valid}
    connection.execute(insert(INVITE).values(**gives, **made))
    write_audit(connection, "invite", str(person_id), sender, project=project_id, role=role, admin=admin)
    return code


def active_account(connection: Connection, name: str) -> PersonRow | None:
    """Return the person called `name`, read through `connection`, or None; StateError for one who is disabled."""
    check_name(name)
    person = find_person(connection, name.lower())
    if person is not None and person.disabled is not None:
        raise StateError(f"{person.name!r} is disabled; an administrator must enable the account first")
    return person


def check_name(name: str) -> None:
    """Raise ParameterError unless `name` can be that of a person."""
    if not 1 <= len(name.strip()) <= 100 or name != name.strip() or not name.isprintable() or "/" in name:
        raise ParameterError(f"{name[:50]!r} cannot be a name; use 1 to 100 printable characters without /")
