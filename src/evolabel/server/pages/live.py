"""The stream of events for pages, which is read with the session of a person."""

from fastapi import APIRouter, Request
from fastapi.responses import StreamingResponse

from evolabel.server.http.streams import streams_of
from evolabel.server.pages.visitors import visitors_of

router = APIRouter(prefix="/p/{slug}", include_in_schema=False)


@router.get("/live")
async def get_live(slug: str, request: Request) -> StreamingResponse:
    """Return the stream of events of the project; an open stream does not keep the session alive."""
    visitors = visitors_of(request)
    worker, visitor = await visitors.enter(request, slug, used=False)

    async def check() -> None:
        await visitors.enter(request, slug, used=False)

    return await streams_of(request).response(request, worker, visitor.person.id, check)
