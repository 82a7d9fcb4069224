"""Pages of a person: own answers, preferences and sessions."""

import asyncio
from typing import Annotated

from fastapi import APIRouter, Query, Request, Response
from fastapi.responses import RedirectResponse

from evolabel.server.http.access import read
from evolabel.server.http.questions import answer_facts, final_numbers
from evolabel.server.http.schemas import MOST_NUMBER
from evolabel.server.log.times import now_us
from evolabel.server.pages.render import render_page
from evolabel.server.pages.texts import LANGUAGES
from evolabel.server.pages.visitors import Entered, Entrant, Visitor, checked_form, visitors_of
from evolabel.server.people.sessions import delete_sessions, sessions_of, set_preferences
from evolabel.server.project.reading import waiting_for
from evolabel.server.project.sample_rows import GivenResponse, responses_by

router = APIRouter(include_in_schema=False)
THEMES = ("system", "light", "dark")


@router.get("/me")
async def get_me(request: Request) -> Response:
    """Show preferences and sessions."""
    visitors = visitors_of(request)
    visitor = await visitors.visitor(request)

    def find() -> list[tuple[bytes, int, int]]:
        with visitors.service.reader.connect() as connection:
            return sessions_of(connection, visitor.person.id)

    sessions = await asyncio.to_thread(find)
    return render_page(
        request, "me.html", visitor=visitor, sessions=sessions, now=now_us(), themes=THEMES, languages=LANGUAGES
    )


@router.post("/me")
async def post_me(request: Request) -> Response:
    """Store preferences."""
    visitors = visitors_of(request)
    visitor = await visitors.visitor(request)
    form = await checked_form(request, visitor)
    theme = str(form.get("theme", ""))
    chosen = {"theme": theme if theme in THEMES else THEMES[0], "keys": "keys" in form}
    if (asked_for := str(form.get("language", ""))) in LANGUAGES:
        chosen["language"] = asked_for

    def write() -> None:
        with visitors.service.writer.transaction() as connection:
            set_preferences(connection, visitor.person.id, {**visitor.person.preferences, **chosen})

    await asyncio.to_thread(write)
    return RedirectResponse("/me", 303)


@router.post("/me/sessions")
async def post_sessions(request: Request) -> Response:
    """End one session of the person."""
    visitors = visitors_of(request)
    visitor = await visitors.visitor(request)
    digest = _digest(str((await checked_form(request, visitor)).get("session", "")))

    def write(visitor: Visitor) -> None:
        with visitors.service.writer.transaction() as connection:
            delete_sessions(connection, visitor.person.id, digest)

    await asyncio.to_thread(write, visitor)
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
    visitors = visitors_of(request)
    identity = visitor.identity(worker.project.id)

    def rows() -> list[GivenResponse]:
        with visitors.service.reader.connect() as connection:
            return responses_by(connection, worker.project.id, identity.person_id, _PER_PAGE, before=before)

    given = await asyncio.to_thread(rows)
    final = await final_numbers(worker, given, identity.person_id, identity)
    waiting = await read(worker, lambda batch: waiting_for(batch, identity.person_id))
    answers = [answer_facts(response, final) for response in given]
    return render_page(
        request, "own_answers.html", visitor=visitor, worker=worker, waiting=waiting, answers=answers, now=now_us(),
        older=given[-1].seq if len(given) == _PER_PAGE else None, is_first=before == MOST_NUMBER,
    )  # fmt: skip
