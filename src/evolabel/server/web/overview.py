"""The overview of a project."""

from fastapi import APIRouter, Request, Response

from evolabel.server.api.access import read
from evolabel.server.contexts.reading import waiting_for
from evolabel.server.web.render import page
from evolabel.server.web.visitors import visitors_of

router = APIRouter(prefix="/p/{slug}", include_in_schema=False)


@router.get("")
async def get_overview(slug: str, request: Request) -> Response:
    """Show how the project is."""
    worker, visitor = await visitors_of(request).enter(request, slug)
    waiting = await read(worker, lambda desk: waiting_for(desk, visitor.person.id))
    return page(request, "overview.html", visitor=visitor, worker=worker, waiting=waiting)
