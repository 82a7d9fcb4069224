"""Who looks at a page: the session behind a cookie, its role in a project, and forms that are the person's own."""

import asyncio
from contextlib import suppress
from typing import Annotated, NamedTuple

from fastapi import Depends, Request
from starlette.datastructures import FormData

from evolabel.server.http.access import access_of
from evolabel.server.log.times import now_us
from evolabel.server.log.writer import NotWriterError, StoreError, reading
from evolabel.server.pages.texts import set_language
from evolabel.server.people.passwords import PasswordQueue, SignInLimits
from evolabel.server.people.people import PersonRow
from evolabel.server.people.policies import Identity, UnauthorisedError
from evolabel.server.people.sessions import (
    SEEN_EVERY,
    SessionRow,
    check_form_token,
    check_same_site,
    cookie_name,
    find_session,
    is_alive,
    roles_of,
    touch_session,
)
from evolabel.server.people.tokens import token_digest
from evolabel.server.project.service import Service


class Visitor(NamedTuple):
    """A person with a session, and the person's role in each project, by its number."""

    session: SessionRow
    roles: dict[int, str]

    @property
    def person(self) -> PersonRow:
        """The person who is signed in."""
        return self.session.person

    @property
    def csrf(self) -> str:
        """The token that each form of the session holds."""
        return self.session.csrf.hex()

    def role_in(self, project_id: int) -> str | None:
        """Return the role in project `project_id`; administrators are operators everywhere."""
        return "operator" if self.person.admin else self.roles.get(project_id)

    def identity(self, project_id: int) -> Identity:
        """Return what the person may do in project `project_id`."""
        return Identity(self.person.id, project_id, self.role_in(project_id), self.person.admin)


class Visitors:
    """Finds the sessions of requests to `service`."""

    def __init__(self, service: Service) -> None:
        self.service = service
        self.passwords = PasswordQueue()
        self.limits = SignInLimits()

    async def find(self, request: Request, *, used: bool = True) -> Visitor | None:
        """Return who has sent `request`, or None without a session that is alive; `used`: its idle time begins anew."""
        secret = request.cookies.get(cookie_name(request), "")
        found = None if not secret else await asyncio.to_thread(self._read, token_digest(secret), used=used)
        use_language(request, found)
        return found

    async def visitor(self, request: Request, *, used: bool = True) -> Visitor:
        """Return who has sent `request`; UnauthorisedError without a session. `used` as in `find`."""
        found = await self.find(request, used=used)
        if found is None:
            raise UnauthorisedError("you are signed out; sign in and try again")
        request.state.visitor = found
        return found

    async def enter(self, request: Request, *, used: bool = True) -> None:
        """Check that the role of the sender of `request` in its project suffices for the page; `used` as in `find`."""
        visitor = await self.visitor(request, used=used)
        project = self.service.find_worker(request.path_params["slug"]).project
        access_of(request).enter(request, visitor.identity(project.id))

    def _read(self, digest: bytes, *, used: bool) -> Visitor | None:
        now = now_us()
        with reading(self.service.reader) as connection:
            session = find_session(connection, digest)
            if session is None or not is_alive(session, now):
                return None
            visitor = Visitor(session, roles_of(connection, session.person.id))
        if used and now - session.seen > SEEN_EVERY:
            with suppress(NotWriterError, StoreError), self.service.writer.transaction() as writing:
                touch_session(writing, digest, now)  # the page can be read without it
        return visitor


def use_language(request: Request, visitor: Visitor | None = None) -> None:
    """Give the texts for `request` in the language that the `visitor` has chosen, else in that of the browser."""
    chosen = None if visitor is None else visitor.person.preferences.get("language")
    set_language(chosen or request.headers.get("accept-language", ""))


def visitors_of(request: Request) -> Visitors:
    """Return the sessions of the application that serves `request`."""
    found: Visitors = request.app.state.visitors
    return found


async def check_page(request: Request) -> None:
    """Check the session and the role of the sender of a `request` for a page of a project, once.

    FastAPI calls it before every route. An open stream of events does not keep the session alive.
    """
    path = request.scope["route"].path
    if path.startswith("/p/{slug}"):
        await visitors_of(request).enter(request, used=path != "/p/{slug}/live")


def _entrant(request: Request) -> Visitor:
    visitor: Visitor = request.state.visitor
    return visitor


Entrant = Annotated[Visitor, Depends(_entrant)]
"""Parameter of a route: who looks at the page."""


async def checked_form(request: Request, visitor: Visitor | None, *, keep_body: bool = True) -> FormData:
    """Return the form in `request`; ForbiddenError if another site has sent it, or not a page of the `visitor`.

    Without a visitor, as at sign-in, there is no token to check. `keep_body`: for the hash of the request.
    """
    check_same_site(request)
    if keep_body:
        await request.body()
    form = await request.form()
    if visitor is not None:
        given = request.headers.get("x-csrf-token") or str(form.get("csrf", ""))
        check_form_token(given, visitor.session)
    return form
