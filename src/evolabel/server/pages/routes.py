"""All pages: their routes, static files, and the page of an error."""

from importlib import resources
from urllib.parse import quote

from fastapi import APIRouter, FastAPI, Request, Response
from fastapi.responses import RedirectResponse, StreamingResponse
from starlette.staticfiles import StaticFiles
from starlette.types import Scope

from evolabel.server.http.access import Entered
from evolabel.server.http.streams import streams_of
from evolabel.server.pages import (
    answer,
    disputes,
    events,
    file_page,
    new_project,
    overview,
    people,
    rules,
    sample_page,
    settings,
    sign_in,
    take_away,
)
from evolabel.server.pages.render import render_page
from evolabel.server.pages.visitors import Entrant, Visitors, use_language, visitors_of
from evolabel.server.project.service import Service

router = APIRouter(prefix="/p/{slug}", include_in_schema=False)


@router.get("/live")
async def get_live(worker: Entered, visitor: Entrant, request: Request) -> StreamingResponse:
    """Return the stream of events of the project; an open stream does not keep the session alive."""
    visitors = visitors_of(request)

    async def check() -> None:
        await visitors.enter(request, used=False)

    return await streams_of(request).response(request, worker, visitor.person.id, check)


PAGE_ROUTERS = (
    overview.projects_router,
    sign_in.router,
    overview.router,
    events.router,
    router,
    answer.router,
    rules.router,
    disputes.router,
    sample_page.router,
    sign_in.answers_router,
    people.router,
    settings.router,
    settings.model_router,
    new_project.router,
    file_page.router,
    take_away.router,
)
"""Routes of pages."""


def install_pages(app: FastAPI, service: Service) -> None:
    """Add to `app` what the pages of `service` need beside their routes."""
    app.state.visitors = Visitors(service)
    app.state.problem_page = problem_page
    app.state.recent_days = {}  # by project, for its overview
    folder = resources.files("evolabel.server.pages").joinpath("static")
    app.mount("/static", _StaticFiles(directory=str(folder)), name="static")


def problem_page(
    request: Request, status: int, type: str, detail: str, headers: dict[str, str] | None = None
) -> Response:
    """Return the page for a problem of `request`: `status`, `type`, `detail`; without a session that to sign in.

    It has the menu of the project, if the person may enter it. `headers` are added.
    """
    if status == 401 and request.method == "GET":
        return RedirectResponse(f"/sign-in?to={quote(request.url.path)}", 303)
    visitor, worker = (getattr(request.state, name, None) for name in ("visitor", "worker"))
    use_language(request, visitor)
    response = render_page(
        request, "problem.html", visitor=visitor, worker=worker, status=status, type=type, detail=detail,
        shown_status=status,
    )  # fmt: skip
    response.headers.update(headers or {})
    return response


class _StaticFiles(StaticFiles):
    """Files whose addresses change with their content."""

    async def get_response(self, path: str, scope: Scope) -> Response:
        response = await super().get_response(path, scope)
        response.headers["cache-control"] = "public, max-age=86400"
        return response
