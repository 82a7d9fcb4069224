"""Preferences of a person, and the person's sessions."""

import asyncio

from fastapi import APIRouter, Request, Response
from fastapi.responses import RedirectResponse

from evolabel.server.http.access import now_us
from evolabel.server.pages.render import render_page
from evolabel.server.pages.texts import LANGUAGES
from evolabel.server.pages.visitors import Visitor, checked_form, visitors_of
from evolabel.server.people.visits import delete_sessions, sessions_of, set_preferences

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
        with visitors.service.pen.transaction() as connection:
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
        with visitors.service.pen.transaction() as connection:
            delete_sessions(connection, visitor.person.id, digest)

    await asyncio.to_thread(write, visitor)
    return RedirectResponse("/me", 303)


def _digest(text: str) -> bytes:
    """Return the bytes that hexadecimal `text` stands for; none for anything else."""
    try:
        return bytes.fromhex(text)
    except ValueError:
        return b""
