"""The page of files to take away: answers, samples, rules, and the model with the lines that load it."""

from fastapi import APIRouter, Request, Response

from evolabel.server.http.access import Actor, Entered, access_of
from evolabel.server.http.exports import export_response
from evolabel.server.pages.render import project_page
from evolabel.server.pages.visitors import Entrant

router = APIRouter(prefix="/p/{slug}/export", include_in_schema=False)
_TABLES = {"answers": ("csv", "ndjson", "parquet"), "samples": ("csv", "ndjson", "parquet")}


@router.get("")
async def get_export_page(worker: Entered, visitor: Entrant, request: Request) -> Response:
    """Show the files."""
    address = str(request.base_url).rstrip("/")
    return await project_page(request, "export.html", visitor=visitor, worker=worker, tables=_TABLES, address=address)


@router.get("/{name}")
async def get_export_file(worker: Entered, sender: Actor, name: str, request: Request) -> Response:
    """Return the file `name`."""
    return await export_response(access_of(request), worker, sender, name)
