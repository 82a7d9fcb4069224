"""Pages of a person: sign in and out, one-time links, preferences and sessions, own answers.

Opening a one-time link shows a form, sending the form uses it.
"""

import asyncio
from typing import Annotated

from fastapi import APIRouter, Query, Request, Response
from fastapi.responses import RedirectResponse
from sqlalchemy import Connection

from evolabel.server.http.access import Entered, access_of, address_of, sender_of
from evolabel.server.http.problems import ProblemError
from evolabel.server.http.questions import answer_facts, final_numbers
from evolabel.server.http.schemas import MOST_NUMBER
from evolabel.server.log.times import now_us
from evolabel.server.log.writer import NotWriterError
from evolabel.server.pages.render import project_page, render_page
from evolabel.server.pages.texts import LANGUAGES
from evolabel.server.pages.visitors import Entrant, checked_form, use_language, visitors_of
from evolabel.server.people.audit import Sender, write_audit, write_audit_or_log
from evolabel.server.people.passwords import password_fault
from evolabel.server.people.people import find_person, set_member
from evolabel.server.people.policies import SlowDownError
from evolabel.server.people.sessions import (
    InviteRow,
    delete_cookie,
    delete_sessions,
    find_invite,
    make_session,
    sessions_of,
    set_cookie,
    set_preferences,
    use_invite,
)
from evolabel.server.people.tokens import token_digest
from evolabel.server.project.follower import STANDBY
from evolabel.server.project.sample_rows import responses_by

router = APIRouter(include_in_schema=False)
_LONGEST_NAME = 100


@router.get("/sign-in")
async def get_sign_in(request: Request, to: str = "/") -> Response:
    """Show the form, or go on if there is a session."""
    if await visitors_of(request).find(request) is not None:
        return RedirectResponse(own_path(to), 303)
    return render_page(request, "sign_in.html", to=own_path(to), name="", wrong=None)


@router.post("/sign-in")
async def post_sign_in(request: Request) -> Response:
    """Begin a session, or show the form again; NotWriterError on the standby, which can store neither."""
    visitors = visitors_of(request)
    if not visitors.service.is_writer:
        raise NotWriterError(STANDBY)
    use_language(request)
    form = await checked_form(request, None)
    name = str(form.get("name", "")).strip().lower()[:_LONGEST_NAME]
    to, address = own_path(str(form.get("to", "/"))), address_of(request)
    wait = visitors.limits.wait(name, address)
    if wait > 0.0:
        raise SlowDownError(f"too many failures; wait {wait / 60 + 1:.0f} min and try again", wait)
    person = await access_of(request).read(lambda c: find_person(c, name))
    if person is not None and person.disabled is not None:
        person = None
    password = str(form.get("password", ""))
    if not await visitors.passwords.check(password, None if person is None else person.password) or person is None:
        visitors.limits.fail(name, address)
        sender = sender_of(request, None)
        await asyncio.to_thread(write_audit_or_log, visitors.service.writer, "sign-in-failed", name, sender)
        return render_page(request, "sign_in.html", status=401, to=to, name=name, wrong="sign_in.wrong")
    return await begin_session(request, person.id, to)


@router.post("/sign-out")
async def post_sign_out(request: Request) -> Response:
    """End the session."""
    visitor = await visitors_of(request).visitor(request)
    await checked_form(request, visitor)
    await access_of(request).write(lambda c: delete_sessions(c, visitor.person.id, visitor.session.digest))
    response = RedirectResponse("/sign-in", 303)
    delete_cookie(request, response)
    return response


async def begin_session(request: Request, person_id: int, to: str) -> Response:
    """Return the response to `request` that goes to the page `to` with a new session of person `person_id`."""
    sender = sender_of(request, person_id)

    def write(connection: Connection) -> str:
        write_audit(connection, "sign-in", str(person_id), sender)
        return make_session(connection, person_id, sender.at).secret

    response = RedirectResponse(to, 303)
    set_cookie(request, response, await access_of(request).write(write))
    return response


def own_path(to: str) -> str:
    """Return the path `to` if it is one of this server, else that of the projects.

    Browsers take a second slash or a backslash for the beginning of a host, after they have removed control characters.
    """
    is_own = to.startswith("/") and not to.startswith("//") and "\\" not in to and to.isprintable()
    return to if is_own else "/"


_GONE = "the link was used or has ended; ask for a new one"


@router.get("/invite/{code}")
async def get_invitation(code: str, request: Request) -> Response:
    """Show what the link gives, and the form for a password."""
    use_language(request)
    invite = await _found(request, code)
    return render_page(request, "invitation.html", invite=invite, now=now_us(), wrong=None)


@router.post("/invite/{code}")
async def post_invitation(code: str, request: Request) -> Response:
    """Store the password, give what the link gives, and begin a session."""
    visitors = visitors_of(request)
    use_language(request)
    form = await checked_form(request, None)
    invite = await _found(request, code)
    password = str(form.get("password", ""))
    fault = password_fault(password, invite.person.name)
    if fault is not None:
        wrong = f"password.{fault}"
        return render_page(request, "invitation.html", status=422, invite=invite, now=now_us(), wrong=wrong)
    stored = await visitors.passwords.hash(password)
    sender = sender_of(request, invite.person.id)
    if not await access_of(request).write(lambda c: _use(c, invite, stored, sender)):
        raise ProblemError(404, "not-found", _GONE)
    for worker in list(visitors.service.workers.values()):
        if worker.project.id == invite.project_id:
            return await begin_session(request, invite.person.id, f"/p/{worker.project.slug}/answer")
    return await begin_session(request, invite.person.id, "/")


async def _found(request: Request, code: str) -> InviteRow:
    invite = await access_of(request).read(lambda c: find_invite(c, token_digest(code), now_us()))
    if invite is None:
        raise ProblemError(404, "not-found", _GONE)
    return invite


def _use(connection: Connection, invite: InviteRow, password: str, sender: Sender) -> bool:
    """Use `invite` with the hashed `password` that `sender` brought; return False if it was used in between."""
    if not use_invite(connection, invite, password, sender.at):
        return False
    if invite.project_id is not None and invite.role is not None:
        set_member(connection, invite.project_id, invite.person.id, invite.role)
    write_audit(connection, "invitation-used", str(invite.person.id), sender, project=invite.project_id)
    return True


THEMES = ("system", "light", "dark")


@router.get("/me")
async def get_me(request: Request) -> Response:
    """Show preferences and sessions."""
    visitor = await visitors_of(request).visitor(request)
    sessions = await access_of(request).read(lambda c: sessions_of(c, visitor.person.id))
    return render_page(
        request, "me.html", visitor=visitor, sessions=sessions, now=now_us(), themes=THEMES, languages=LANGUAGES
    )


@router.post("/me")
async def post_me(request: Request) -> Response:
    """Store preferences."""
    visitor = await visitors_of(request).visitor(request)
    form = await checked_form(request, visitor)
    theme = str(form.get("theme", ""))
    chosen = {"theme": theme if theme in THEMES else THEMES[0], "keys": "keys" in form}
    if (asked_for := str(form.get("language", ""))) in LANGUAGES:
        chosen["language"] = asked_for
    preferences = {**visitor.person.preferences, **chosen}
    await access_of(request).write(lambda c: set_preferences(c, visitor.person.id, preferences))
    return RedirectResponse("/me", 303)


@router.post("/me/sessions")
async def post_sessions(request: Request) -> Response:
    """End one session of the person."""
    visitor = await visitors_of(request).visitor(request)
    digest = _digest(str((await checked_form(request, visitor)).get("session", "")))
    await access_of(request).write(lambda c: delete_sessions(c, visitor.person.id, digest))
    return RedirectResponse("/me", 303)


def _digest(text: str) -> bytes:
    """Return the bytes that hexadecimal `text` stands for; none for anything else."""
    try:
        return bytes.fromhex(text)
    except ValueError:
        return b""


answers_router = APIRouter(prefix="/p/{slug}", include_in_schema=False)
_PER_PAGE = 25


@answers_router.get("/answers")
async def get_own_answers(
    worker: Entered,
    visitor: Entrant,
    request: Request,
    before: Annotated[int, Query(ge=1, le=MOST_NUMBER)] = MOST_NUMBER,
) -> Response:
    """Show the own answers, newest first, those with records `before` one."""
    person, project = visitor.person.id, worker.project.id
    given = await access_of(request).read(lambda c: responses_by(c, project, person, _PER_PAGE, before=before))
    final = await final_numbers(worker, given, person, visitor.identity(project))
    answers = [answer_facts(response, final) for response in given]
    return await project_page(
        request, "own_answers.html", visitor=visitor, worker=worker, answers=answers, now=now_us(),
        older=given[-1].seq if len(given) == _PER_PAGE else None, is_first=before == MOST_NUMBER,
    )  # fmt: skip
