"""Sessions of people in browsers: 256 random bits in a cookie, stored as a digest; rows of sign-ins."""

import hmac
import secrets
from typing import Any, NamedTuple

from fastapi import Request, Response
from sqlalchemy import Connection, delete, insert, select, update

from evolabel.server.log.canonical import canonical, parsed
from evolabel.server.log.schema import INVITE, MEMBER, PERSON, PROJECT, SESSION
from evolabel.server.log.times import HOUR, SECOND
from evolabel.server.people.people import PersonRow
from evolabel.server.people.policies import ForbiddenError
from evolabel.server.people.tokens import token_digest


class SessionRow(NamedTuple):
    """The session of a signed-in person: digest of its token, last use, and end."""

    digest: bytes
    csrf: bytes
    seen: int
    until: int
    person: PersonRow


class InviteRow(NamedTuple):
    """An invitation that was not used yet: the person, and what the link gives."""

    digest: bytes
    person: PersonRow
    project_id: int | None
    project_title: str | None
    role: str | None
    admin: bool
    until: int


def roles_of(connection: Connection, person_id: int) -> dict[int, str]:
    """Return the role of person `person_id` in each of their projects, by its number, read through `connection`."""
    rows = connection.execute(select(MEMBER.c.project_id, MEMBER.c.role).where(MEMBER.c.person_id == person_id))
    return {row.project_id: row.role for row in rows}


def has_admin(connection: Connection) -> bool:
    """Return whether an administrator in the database of `connection` has a password."""
    query = select(PERSON.c.id).where(PERSON.c.admin, PERSON.c.password.is_not(None), PERSON.c.disabled.is_(None))
    return connection.execute(query).first() is not None


def preferences_of(connection: Connection, person_id: int) -> dict[str, Any]:
    """Return the preferences of person `person_id` that were stored, read through `connection`."""
    stored = connection.scalar(select(PERSON.c.preferences).where(PERSON.c.id == person_id))
    return parsed(stored) if stored else {}


def set_preferences(connection: Connection, person_id: int, preferences: dict[str, Any]) -> None:
    """Store the `preferences` of person `person_id` through `connection`."""
    connection.execute(update(PERSON).where(PERSON.c.id == person_id).values(preferences=canonical(preferences)))


def find_session(connection: Connection, digest: bytes) -> SessionRow | None:
    """Return the session with this `digest`, read through `connection`, or None."""
    query = (
        select(*SESSION.c[("digest", "csrf", "seen", "until")], *PERSON.c)
        .select_from(SESSION)
        .join(PERSON, PERSON.c.id == SESSION.c.person_id)
        .where(SESSION.c.digest == digest, PERSON.c.disabled.is_(None))
    )
    row = connection.execute(query).first()
    if row is None:
        return None
    return SessionRow(bytes(row.digest), bytes(row.csrf), row.seen, row.until, PersonRow.of(row))


def sessions_of(connection: Connection, person_id: int) -> list[tuple[bytes, int, int]]:
    """Return digest, begin and last use of the sessions of person `person_id`, last used first, by `connection`."""
    query = select(SESSION).where(SESSION.c.person_id == person_id).order_by(SESSION.c.seen.desc())
    return [(bytes(row.digest), row.created, row.seen) for row in connection.execute(query)]


def touch_session(connection: Connection, digest: bytes, at: int) -> None:
    """Store through `connection` that the session with this `digest` was used at time `at`."""
    connection.execute(update(SESSION).where(SESSION.c.digest == digest).values(seen=at))


def delete_sessions(connection: Connection, person_id: int, digest: bytes | None = None) -> int:
    """End the session of person `person_id` with this `digest`, or all, through `connection`; return how many."""
    query = delete(SESSION).where(SESSION.c.person_id == person_id)
    return connection.execute(query if digest is None else query.where(SESSION.c.digest == digest)).rowcount


def find_invite(connection: Connection, digest: bytes, now: int) -> InviteRow | None:
    """Return the invitation with this `digest`, read through `connection`, if it can be used at time `now`."""
    query = (
        select(*INVITE.c[("project_id", "role", "until")], INVITE.c.admin.label("makes_admin"), PROJECT.c.title)
        .add_columns(*PERSON.c)
        .select_from(INVITE)
        .join(PERSON, PERSON.c.id == INVITE.c.person_id)
        .outerjoin(PROJECT, PROJECT.c.id == INVITE.c.project_id)
        .where(INVITE.c.digest == digest, INVITE.c.used.is_(None), INVITE.c.until > now, PERSON.c.disabled.is_(None))
    )
    row = connection.execute(query).first()
    if row is None:
        return None
    return InviteRow(digest, PersonRow.of(row), row.project_id, row.title, row.role, row.makes_admin, row.until)


def use_invite(connection: Connection, invite: InviteRow, password: str, at: int) -> bool:
    """Use `invite` at time `at` through `connection`: store the hashed `password`; return False if it was used before.

    Sessions that the person has elsewhere end, and so do all other open links of the person: each of them could set
    another password, and those who made them need not have the power that the person has now.
    """
    unused = update(INVITE).where(INVITE.c.used.is_(None), INVITE.c.until > at).values(used=at)
    if connection.execute(unused.where(INVITE.c.digest == invite.digest)).rowcount != 1:
        return False
    connection.execute(unused.where(INVITE.c.person_id == invite.person.id))
    values: dict[str, object] = {"password": password} | ({"admin": True} if invite.admin else {})
    connection.execute(update(PERSON).where(PERSON.c.id == invite.person.id).values(**values))
    delete_sessions(connection, invite.person.id)
    return True


SESSION_TIME = 12 * HOUR
IDLE = HOUR
SEEN_EVERY = 60 * SECOND  # the time of the last use is stored this often at most

_SAME_SITE = ("same-origin", "none")


class NewSession(NamedTuple):
    """The secret of a session that was just made, and the row of it."""

    secret: str
    csrf: bytes


def make_session(connection: Connection, person_id: int, at: int) -> NewSession:
    """Store a new session of person `person_id` at time `at` through `connection`, and drop those that have ended."""
    secret, csrf = secrets.token_urlsafe(32), secrets.token_bytes(32)
    times = {"created": at, "seen": at, "until": at + SESSION_TIME}
    connection.execute(delete(SESSION).where(SESSION.c.until <= at))
    connection.execute(insert(SESSION).values(digest=token_digest(secret), person_id=person_id, csrf=csrf, **times))
    return NewSession(secret, csrf)


def is_alive(row: SessionRow, now: int) -> bool:
    """Return whether the session `row` can be used at time `now`."""
    return now < row.until and now < row.seen + IDLE


def cookie_name(request: Request) -> str:
    """Return the name of the cookie: browsers send one with the prefix __Host- only over TLS, to this host."""
    return "__Host-evolabel" if request.url.scheme == "https" else "evolabel"


def set_cookie(request: Request, response: Response, secret: str) -> None:
    """Add to the `response` to `request` the cookie with the `secret` of a session."""
    secure = request.url.scheme == "https"
    response.set_cookie(
        cookie_name(request),
        secret,
        max_age=SESSION_TIME // SECOND,
        path="/",
        secure=secure,
        httponly=True,
        samesite="lax",
    )


def delete_cookie(request: Request, response: Response) -> None:
    """Remove the cookie of the session by the `response` to `request`."""
    response.delete_cookie(
        cookie_name(request), path="/", secure=request.url.scheme == "https", httponly=True, samesite="lax"
    )


def check_same_site(request: Request) -> None:
    """Raise ForbiddenError if another site has sent `request`, by the headers of the browser."""
    site, origin = request.headers.get("sec-fetch-site"), request.headers.get("origin")
    own = f"{request.url.scheme}://{request.headers.get('host', '')}"
    if (site is not None and site not in _SAME_SITE) or (site is None and origin is not None and origin != own):
        raise ForbiddenError("the request came from another site; open the page and send it again")


def check_form_token(given: str, session: SessionRow) -> None:
    """Raise ForbiddenError unless `given` is the token that forms of the `session` hold."""
    if not hmac.compare_digest(given.encode(), session.csrf.hex().encode()):
        raise ForbiddenError("the page is older than the session; load it and send the form again")
