"""Forms of administrators on the page of settings: another model from a file, and a rebuild from the log."""

import asyncio

from fastapi import APIRouter, Request, Response
from fastapi.responses import RedirectResponse
from starlette.datastructures import UploadFile

from evolabel.server.http.access import access_of
from evolabel.server.http.model import begin_rebuild, replace_by_file
from evolabel.server.http.problems import ProblemError
from evolabel.server.pages.visitors import checked_form, visitors_of
from evolabel.server.project.rebuild import RebuildPlan, rebuild_cost

router = APIRouter(prefix="/p/{slug}", include_in_schema=False)
_REST_OF_FORM = 64 * 1024  # bytes


@router.post("/model")
async def post_model_form(slug: str, request: Request) -> Response:
    """Replace the classifier by that of the file in the form."""
    worker, visitor = await visitors_of(request).enter(request, slug)
    most, length = access_of(request).service.limits.model, request.headers.get("content-length", "")
    if not length.isascii() or not length.isdigit() or int(length[:20]) > most + _REST_OF_FORM:
        raise ProblemError(413, "too-large", f"a model file may have {most} bytes; send a smaller model")
    form = await checked_form(request, visitor, keep_body=False)
    file = form.get("file")
    if not isinstance(file, UploadFile):
        raise ProblemError(422, "invalid", "the form has no file; choose a model file")
    await replace_by_file(request, worker, visitor.identity(worker.project.id), await file.read())
    return RedirectResponse(f"/p/{slug}/settings", 303)


@router.post("/rebuild")
async def post_rebuild_form(slug: str, request: Request) -> Response:
    """Make the model anew from the whole log; the page of events says when it is done."""
    worker, visitor = await visitors_of(request).enter(request, slug)
    form = await checked_form(request, visitor)
    cause = str(form.get("cause", "")).strip()[:2000]
    if not cause:
        raise ProblemError(422, "invalid", "the cause is missing; write why the model is made anew")
    people, labels = (_parts(str(form.get(name, ""))[:20_000]) for name in ("people", "labels"))
    plan = RebuildPlan(cause, people, labels)
    await asyncio.to_thread(rebuild_cost, worker, plan)  # refuses names that are not known
    begin_rebuild(request, worker, visitor.identity(worker.project.id), plan)
    return RedirectResponse(f"/p/{slug}/events?kind=server", 303)


def _parts(text: str) -> tuple[str, ...]:
    """Return the names in `text`, which are apart by commas."""
    return tuple(part.strip() for part in text.split(",") if part.strip())
