"""Routes of operators and administrators: projects, settings, labels."""

import asyncio
from typing import Any

from fastapi import APIRouter, Request

from evolabel.server.http.access import access_of, carry_out, origin_of, read
from evolabel.server.http.schemas import Body, LabelIn, ProjectIn, SettingsIn
from evolabel.server.project import reading, verbs
from evolabel.server.project.service import NewProject, check_new_names
from evolabel.server.project.settings import Feature, Label, ProjectSettings

router = APIRouter(prefix="/api/v1/projects", tags=["projects"])


@router.get("")
async def get_projects(request: Request) -> dict[str, Any]:
    """Return the projects that the sender may see."""
    access = access_of(request)
    identity = access.identity(request)
    shown = [
        {"slug": slug, "title": worker.project.title, "ready": worker.is_ready}
        for slug, worker in access.service.readable().items()
        if identity.admin or identity.project_id == worker.project.id
    ]
    return {"projects": shown}


@router.post("", status_code=201)
async def post_project(body: ProjectIn, request: Request) -> dict[str, Any]:
    """Make a project."""
    access = access_of(request)
    identity = access.admin(request)
    features = [Feature.read(item.model_dump()) for item in body.features]
    labels = [Label(**item.model_dump()) for item in body.labels]
    settings = ProjectSettings.read(body.settings, request.app.state.project_defaults)
    new = NewProject(body.slug, body.title, features, labels, settings)
    project = await asyncio.to_thread(access.service.create_project, new, identity.person_id)
    return {"slug": project.slug, "title": project.title}


@router.get("/{slug}")
async def get_project(slug: str, request: Request) -> dict[str, Any]:
    """Return features, labels, settings and counts of a project."""
    worker, _ = access_of(request).enter(request, slug)
    shown = await read(worker, reading.show_project)
    return {"slug": slug, "title": worker.project.title, **shown}


@router.patch("/{slug}")
async def patch_project(slug: str, body: SettingsIn, request: Request) -> dict[str, Any]:
    """Change settings of a project; those not named stay."""
    worker, identity = access_of(request).enter(request, slug)
    origin = await origin_of(request, identity)
    return dict(await carry_out(worker, lambda desk: verbs.change_settings(desk, body.settings, origin), 1, origin))


@router.post("/{slug}/labels", status_code=201)
async def post_label(slug: str, body: LabelIn, request: Request) -> dict[str, Any]:
    """Add a label; it is an optional row of every open question, and asked for like any other from now on."""
    worker, identity = access_of(request).enter(request, slug)
    origin = await origin_of(request, identity)
    label = Label(**body.model_dump())
    check_new_names("label", [label.name], 1)
    return dict(await carry_out(worker, lambda desk: verbs.add_label(desk, label, origin), 1, origin))


@router.delete("/{slug}/labels/{name}")
async def delete_label(slug: str, name: str, request: Request) -> dict[str, Any]:
    """Retire a label: it is predicted, and never asked for again."""
    worker, identity = access_of(request).enter(request, slug)
    origin = await origin_of(request, identity)
    return dict(await carry_out(worker, lambda desk: verbs.retire_label(desk, name, origin), 1, origin))


@router.post("/{slug}/pause")
async def post_pause(slug: str, request: Request, body: Body | None = None) -> dict[str, Any]:
    """Ask nothing until the project is resumed; samples are counted and predicted."""
    return await _set_paused(slug, request, paused=True)


@router.post("/{slug}/resume")
async def post_resume(slug: str, request: Request, body: Body | None = None) -> dict[str, Any]:
    """Ask questions again."""
    return await _set_paused(slug, request, paused=False)


async def _set_paused(slug: str, request: Request, *, paused: bool) -> dict[str, Any]:
    worker, identity = access_of(request).enter(request, slug)
    origin = await origin_of(request, identity)
    return dict(await carry_out(worker, lambda desk: verbs.set_paused(desk, origin, paused=paused), 1, origin))
