"""The list of projects."""

from typing import Any

from fastapi import APIRouter, Request, Response

from evolabel.server.http.access import read
from evolabel.server.pages.render import render_page
from evolabel.server.pages.visitors import Visitor, visitors_of
from evolabel.server.project.desk import Desk
from evolabel.server.project.reading import waiting_for
from evolabel.server.project.worker import Worker

router = APIRouter(include_in_schema=False)
_READERS = ("annotator", "expert", "operator")


@router.get("/")
async def get_project_list(request: Request) -> Response:
    """Show the projects of the person."""
    visitors = visitors_of(request)
    visitor = await visitors.visitor(request)
    workers = [w for w in visitors.service.readable().values() if visitor.role_in(w.project.id) in _READERS]
    rows = [await _row(worker, visitor) for worker in workers]
    is_copy = not visitors.service.is_writer
    return render_page(request, "projects.html", visitor=visitor, rows=rows, is_copy=is_copy)


async def _row(worker: Worker, visitor: Visitor) -> dict[str, Any]:
    """Return what the list says of the project of `worker` to `visitor`."""

    def count(desk: Desk) -> dict[str, Any]:
        state = desk.state
        return {"samples": state.seen, "waiting": waiting_for(desk, visitor.person.id), "paused": state.paused}

    counts = await read(worker, count) if worker.is_ready else {"samples": 0, "waiting": 0, "paused": False}
    return {**counts, "project": worker.project, "role": visitor.role_in(worker.project.id), "ready": worker.is_ready}
