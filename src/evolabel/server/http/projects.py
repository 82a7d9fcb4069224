"""Routes of operators and administrators: projects, settings, labels, the model as a whole, its stored states."""

import asyncio
from typing import Any

from fastapi import APIRouter, Request, Response

from evolabel.server.http.access import (
    Access,
    Actor,
    AppAccess,
    Entered,
    Entrant,
    KeyedSent,
    Sent,
    carry_out,
    check_row_count,
    read,
)
from evolabel.server.http.problems import ProblemError
from evolabel.server.http.schemas import Body, EmptyIn, HistoryIn, LabelIn, ProjectIn, RebuildIn, SettingsIn
from evolabel.server.log.snapshots import list_snapshots
from evolabel.server.log.times import readable_times
from evolabel.server.people.audit import Sender, write_audit
from evolabel.server.people.policies import is_member
from evolabel.server.project import operations, reading, training
from evolabel.server.project.batch import Origin, RecordBatch
from evolabel.server.project.learner_changes import blob_hash
from evolabel.server.project.rebuild import RebuildPlan, rebuild_cost, rebuild_model
from evolabel.server.project.service import NewProject, check_new_names
from evolabel.server.project.settings import Feature, Label, ProjectSettings
from evolabel.server.project.worker import Worker

router = APIRouter(prefix="/api/v1/projects", tags=["projects"])


@router.get("")
async def get_projects(identity: Entrant, access: AppAccess) -> dict[str, Any]:
    """Return the projects that the sender may see."""
    shown = [
        {"slug": slug, "title": worker.project.title, "ready": worker.is_ready}
        for slug, worker in access.service.readable().items()
        if is_member(identity, worker.project.id)
    ]
    return {"projects": shown}


@router.post("", status_code=201)
async def post_project(identity: Entrant, body: ProjectIn, access: AppAccess, request: Request) -> dict[str, Any]:
    """Make a project of these features, labels and settings; return its short name and its title."""
    features = [Feature.read(item.model_dump()) for item in body.features]
    labels = [Label(**item.model_dump()) for item in body.labels]
    settings = ProjectSettings.read(body.settings, request.app.state.project_defaults)
    new = NewProject(body.slug, body.title, features, labels, settings)
    project = await asyncio.to_thread(access.service.create_project, new, identity.person_id)
    return {"slug": project.slug, "title": project.title}


@router.get("/{slug}")
async def get_project(worker: Entered) -> dict[str, Any]:
    """Return features, labels, settings and counts of a project."""
    shown = await read(worker, reading.show_project)
    return {"slug": worker.project.slug, "title": worker.project.title, **shown}


@router.patch("/{slug}")
async def patch_project(worker: Entered, origin: Sent, body: SettingsIn) -> dict[str, Any]:
    """Change settings of a project; those not named stay."""
    changed = body.settings
    return dict(await carry_out(worker, lambda batch: operations.change_settings(batch, changed, origin), origin))


@router.post("/{slug}/labels", status_code=201)
async def post_label(worker: Entered, origin: Sent, body: LabelIn) -> dict[str, Any]:
    """Add a label; it is an optional row of every open question, and asked for like any other from now on."""
    label = Label(**body.model_dump())
    check_new_names("label", [label.name], 1)
    return dict(await carry_out(worker, lambda batch: operations.add_label(batch, label, origin), origin))


@router.delete("/{slug}/labels/{name}")
async def delete_label(worker: Entered, origin: Sent, name: str) -> dict[str, Any]:
    """Retire a label: it is predicted, and never asked for again."""
    return dict(await carry_out(worker, lambda batch: operations.retire_label(batch, name, origin), origin))


@router.post("/{slug}/pause")
async def post_pause(worker: Entered, origin: Sent, body: Body | None = None) -> dict[str, Any]:
    """Ask nothing until the project is resumed; samples are counted and predicted."""
    return dict(await carry_out(worker, lambda batch: operations.set_paused(batch, origin, paused=True), origin))


@router.post("/{slug}/resume")
async def post_resume(worker: Entered, origin: Sent, body: Body | None = None) -> dict[str, Any]:
    """Ask questions again."""
    return dict(await carry_out(worker, lambda batch: operations.set_paused(batch, origin, paused=False), origin))


model_router = APIRouter(prefix="/api/v1/projects/{slug}", tags=["model"])


@model_router.post("/history")
async def post_history(worker: Entered, origin: KeyedSent, body: HistoryIn, request: Request) -> dict[str, Any]:
    """Keep rows with labels from before the project, for a fit; possible while the model has learned nothing.

    With an Idempotency-Key the same request can be sent again.
    """
    check_row_count(request, len(body.rows))
    rows = [{"x": row.x, "y": row.y} for row in body.rows]
    return dict(await carry_out(worker, lambda batch: training.add_history(batch, rows, origin), origin, len(rows)))


@model_router.post("/fit", status_code=202)
async def post_fit(worker: Entered, sender: Actor, origin: Sent, body: Body, access: AppAccess) -> dict[str, Any]:
    """Train the model on the history; samples are taken meanwhile, and those sent before keep their questions.

    It runs beside the live model, which it replaces at the end by a record `fitted`, an event of the stream.
    """
    plan = await carry_out(worker, training.plan_fit)

    def fit() -> None:
        fitted = training.fit_planned(plan)
        worker.call(lambda batch: training.take_fitted(batch, fitted, origin))

    access.service.begin_change(worker, "fit", fit, sender)
    return {"rows": len(plan.state.history)}


_FILE = {"requestBody": {"content": {"application/octet-stream": {}}, "required": True}}


@model_router.put("/model", openapi_extra=_FILE)
async def put_model(worker: Entered, sender: Actor, access: AppAccess, request: Request) -> dict[str, Any]:
    """Replace the classifier by that of a model file; counts, budget and open questions stay.

    Of the file of a learner, such as an exported model.safetensors, the classifier is taken. The file must have the
    features and the labels of the project, and at most 64 MiB, or `limits.model_mb`.
    """
    return await replace_by_file(access, worker, sender, await _read_file(request, access.service.limits.model))


@model_router.post("/rebuild", status_code=202, responses={200: {"description": "What it would take"}})
async def post_rebuild(
    worker: Entered, sender: Actor, body: RebuildIn, access: AppAccess, response: Response, *, dry_run: bool = False
) -> dict[str, Any]:
    """Make the model anew from the whole log: corrections count, answers of the named people and labels do not.

    It runs beside the live model, which it replaces at the end by a record `model.rebuilt`. With `dry_run` nothing
    happens; the answer is how many records are read, and for how many seconds.
    """
    plan = RebuildPlan(body.cause, tuple(body.people), tuple(body.labels))
    cost = await asyncio.to_thread(rebuild_cost, worker, plan)
    if dry_run:
        response.status_code = 200
        return cost
    begin_rebuild(access, worker, sender, plan)
    return cost


def begin_rebuild(access: Access, worker: Worker, sender: Sender, plan: RebuildPlan) -> None:
    """Make the model of `worker` anew by `plan`, in a thread of the service of `access`, for `sender`."""
    access.service.begin_change(
        worker, "rebuild", lambda: rebuild_model(worker, plan, Origin(sender.person_id)), sender, **plan._asdict()
    )


async def replace_by_file(access: Access, worker: Worker, sender: Sender, data: bytes) -> dict[str, Any]:
    """Replace the classifier of `worker` by that in the file `data`, which `sender` has sent; `access` writes."""
    copied = await asyncio.wrap_future(worker.view.read(lambda copy: copy.trial().learner))
    await asyncio.to_thread(training.check_model, copied, data)
    hashed = blob_hash(data)
    origin = Origin(sender.person_id, body_hash=bytes.fromhex(hashed))
    done = await carry_out(worker, lambda batch: training.replace_model(batch, data, origin), origin)
    await access.write(lambda c: write_audit(c, "model-replaced", worker.project.slug, sender, hash=hashed))
    return dict(done)


async def _read_file(request: Request, most: int) -> bytes:
    """Return the body of `request`; ProblemError if it has more than `most` bytes."""
    parts, size = list[bytes](), 0
    async for part in request.stream():
        parts.append(part)
        size += len(part)
        if size > most:
            raise ProblemError(413, "too-large", f"a model file may have {most} bytes; send a smaller model")
    return b"".join(parts)


snapshots_router = APIRouter(prefix="/api/v1/projects/{slug}", tags=["snapshots"])


@snapshots_router.get("/snapshots")
async def get_snapshots(worker: Entered, access: AppAccess) -> dict[str, Any]:
    """Return the stored states, newest first: the record, the time, why it was stored, its checksum and its bytes."""
    return readable_times({"snapshots": await access.read(lambda c: list_snapshots(c, worker.project.id))})


@snapshots_router.post("/snapshots", status_code=202)
async def post_snapshot(worker: Entered, body: EmptyIn) -> dict[str, int]:
    """Store the state after the last record; it is in the list within a second, unless it was stored before."""

    def operation(batch: RecordBatch) -> int:
        batch.snapshot = True
        return batch.seq

    return {"seq": await carry_out(worker, operation)}
