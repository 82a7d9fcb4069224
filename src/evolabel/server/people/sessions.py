"""Sessions of people in browsers: 256 random bits in a cookie, stored as a digest."""

import hmac
import secrets
from typing import NamedTuple

from fastapi import Request, Response
from sqlalchemy import Connection

from evolabel.server.log.times import HOUR, SECOND
from evolabel.server.people.policies import ForbiddenError
from evolabel.server.people.tokens import token_digest
from evolabel.server.people.visits import SessionRow, insert_session

SESSION_TIME = 12 * HOUR
IDLE = HOUR
SEEN_EVERY = 60 * SECOND  # the time of the last use is stored this often at most

_SAME_SITE = ("same-origin", "none")


class NewSession(NamedTuple):
    """The secret of a session that was just made, and the row of it."""

    secret: str
    csrf: bytes


def make_session(connection: Connection, person_id: int, at: int) -> NewSession:
    """Store a new session of person `person_id` at time `at` through `connection`, and return its secret."""
    secret, csrf = secrets.token_urlsafe(32), secrets.token_bytes(32)
    digest = token_digest(secret)
    insert_session(
        connection, person_id, {"digest": digest, "csrf": csrf, "created": at, "seen": at, "until": at + SESSION_TIME}
    )
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
    """Raise ForbiddenError if the browser says that another site has sent `request`."""
    site, origin = request.headers.get("sec-fetch-site"), request.headers.get("origin")
    own = f"{request.url.scheme}://{request.headers.get('host', '')}"
    if (site is not None and site not in _SAME_SITE) or (site is None and origin is not None and origin != own):
        raise ForbiddenError("the request came from another site; open the page and send it again")


def check_form_token(given: str, session: SessionRow) -> None:
    """Raise ForbiddenError unless `given` is the token that forms of the `session` hold."""
    if not hmac.compare_digest(given.encode(), session.csrf.hex().encode()):
        raise ForbiddenError("the page is older than the session; load it and send the form again")
