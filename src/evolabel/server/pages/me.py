"""Pages of a person: own answers, preferences and sessions."""

from typing import Annotated

from fastapi import APIRouter, Query, Request, Response
from fastapi.responses import RedirectResponse

from evolabel.server.http.access import Entered, access_of
from evolabel.server.http.questions import answer_facts, final_numbers
from evolabel.server.http.schemas import MOST_NUMBER
from evolabel.server.log.times import now_us
from evolabel.server.pages.render import project_page, render_page
from evolabel.server.pages.texts import LANGUAGES
from evolabel.server.pages.visitors import Entrant, checked_form, visitors_of
from evolabel.server.people.sessions import delete_sessions, sessions_of, set_preferences
from evolabel.server.project.sample_rows import responses_by

router = APIRouter(include_in_schema=False)
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
