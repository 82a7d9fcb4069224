"""The page of the file that a project was made of: how far it was sent; it is stopped and continued."""

import asyncio

from fastapi import APIRouter, Request, Response
from fastapi.responses import RedirectResponse

from evolabel.server.http.access import Entered, Sent, access_of
from evolabel.server.http.problems import ProblemError
from evolabel.server.pages.render import project_page
from evolabel.server.pages.visitors import Entrant, checked_form
from evolabel.server.project.file_stream import file_status

router = APIRouter(prefix="/p/{slug}", include_in_schema=False)


@router.get("/file")
async def get_file_page(worker: Entered, visitor: Entrant, request: Request) -> Response:
    """Show how far the file was sent, and how to send further rows."""
    found = await access_of(request).read(lambda c: file_status(c, worker.project.id))
    return await project_page(
        request, "file.html", visitor=visitor, worker=worker, file=found, links=[],
        address=str(request.base_url).rstrip("/"),
    )  # fmt: skip


@router.post("/file")
async def post_file_form(worker: Entered, visitor: Entrant, origin: Sent, request: Request) -> Response:
    """Stop the file or go on with it."""
    act = str((await checked_form(request, visitor)).get("act", ""))
    files = access_of(request).service.files
    if act not in ("stop", "continue"):
        raise ProblemError(422, "invalid", "the form has no known act; load the page and send it again")
    await asyncio.to_thread(files.pause if act == "stop" else files.go_on, worker, origin)
    return RedirectResponse(f"/p/{worker.project.slug}/file", 303)
