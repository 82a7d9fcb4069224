"""The page of events: what people did and what the model changed, by day, kind and person."""

import asyncio
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request, Response
from sqlalchemy import Connection

from evolabel.server.http.access import now_us, read
from evolabel.server.log.activity import people_in, read_activity
from evolabel.server.log.pen import reading
from evolabel.server.pages.happenings import by_day, day_of, describe_all, describe_answers
from evolabel.server.pages.render import render_page
from evolabel.server.pages.visitors import visitors_of
from evolabel.server.project.reading import waiting_for
from evolabel.server.project.standing import answers_by_day

router = APIRouter(prefix="/p/{slug}", include_in_schema=False)

ACT_KINDS = ("settings.", "paused", "resumed", "label.", "rule.", "act.", "project.", "annotator.")
"""Beginnings of the kinds of acts of people."""
SERVER_KINDS = ("epoch.", "library.", "model.rebuilt", "model.replaced", "fitted", "backup", "redacted")
"""Beginnings of the kinds of what the service did."""
_KINDS = {"all": ("",), "acts": ACT_KINDS, "answers": (), "rules": ("model.",), "server": SERVER_KINDS}
_MOST = 100


@router.get("/events")
async def get_events_page(
    slug: str, request: Request, kind: str = "all", person: str = "", before: Annotated[int, Query(ge=1)] = 2**62
) -> Response:
    """Show what happened before record `before`, of a `kind` and by a `person`, newest first."""
    visitors = visitors_of(request)
    worker, visitor = await visitors.enter(request, slug)
    kind = kind if kind in _KINDS else "all"
    waiting = await read(worker, lambda desk: waiting_for(desk, visitor.person.id))

    def find() -> dict[str, Any]:
        with reading(visitors.service.reader) as connection:
            found = _found(connection, worker.project.id, kind, person, min(before, 2**62))
            return {**found, "people": people_in(connection, worker.project.id)}

    shown = await asyncio.to_thread(find)
    return render_page(
        request, "events.html", visitor=visitor, worker=worker, waiting=waiting, kind=kind, kinds=list(_KINDS),
        person=person, **shown,
    )  # fmt: skip


def _found(connection: Connection, project_id: int, kind: str, person: str, before: int) -> dict[str, Any]:
    """Return the days to show, and the record before which earlier ones are, or None."""
    kinds, who = _KINDS[kind], person or None
    happened = read_activity(connection, project_id, _MOST, before=before, kinds=kinds, person=who) if kinds else []
    earlier = happened[-1].seq if len(happened) == _MOST else None
    if earlier is not None:  # records are whole: the last may be cut
        happened = [h for h in happened if h.seq > earlier] or happened
        earlier = happened[-1].seq
    found = list(describe_all(happened))
    if kind in ("all", "answers"):
        answered = answers_by_day(connection, project_id, (earlier or 1) - 1, before, day=day_of, person=who)
        found += [describe_answers(item) for item in answered]
    return {"days": by_day(found, now_us()), "earlier": earlier}
