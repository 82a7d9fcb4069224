"""Routes that train or replace the model as a whole."""

import asyncio
from typing import Any

from fastapi import APIRouter, Request, Response

from evolabel.server.http.access import access_of, carry_out, check_row_count, keyed_origin_of, origin_of, sender_of
from evolabel.server.http.problems import ProblemError
from evolabel.server.http.schemas import Body, HistoryIn, RebuildIn
from evolabel.server.people.membership import audit_act
from evolabel.server.people.policies import Identity
from evolabel.server.project import training
from evolabel.server.project.desk import Origin
from evolabel.server.project.model_records import blob_hash
from evolabel.server.project.rebuild import RebuildPlan, rebuild_cost, rebuild_model
from evolabel.server.project.worker import Worker

router = APIRouter(prefix="/api/v1/projects/{slug}", tags=["model"])


@router.post("/history")
async def post_history(slug: str, body: HistoryIn, request: Request) -> dict[str, Any]:
    """Keep rows with labels from before the project, for a fit; possible while the model has learned nothing.

    With an Idempotency-Key the same request can be sent again.
    """
    worker, identity = access_of(request).enter(request, slug)
    origin = await keyed_origin_of(request, identity)
    check_row_count(request, len(body.rows))
    rows = [{"x": row.x, "y": row.y} for row in body.rows]
    return dict(await carry_out(worker, lambda desk: training.add_history(desk, rows, origin), len(rows), origin))


@router.post("/fit", status_code=202)
async def post_fit(slug: str, body: Body, request: Request) -> dict[str, Any]:
    """Train the model on the history; samples are taken meanwhile, and those sent before keep their questions.

    It runs beside the live model, which it replaces at the end by a record `fitted`, an event of the stream.
    """
    access = access_of(request)
    worker, identity = access.enter(request, slug)
    origin, plan = await origin_of(request, identity), await carry_out(worker, training.plan_fit)

    def fit() -> None:
        fitted = training.fit_planned(plan)
        worker.call(lambda desk: training.take_fitted(desk, fitted, origin))

    access.service.begin_change(worker, "fit", fit, sender_of(request, identity))
    return {"rows": len(plan.state.history)}


@router.put("/model", openapi_extra={"requestBody": {"content": {"application/octet-stream": {}}, "required": True}})
async def put_model(slug: str, request: Request) -> dict[str, Any]:
    """Replace the classifier by that of a model file; counts, budget and open questions stay.

    Of the file of a learner, such as an exported model.safetensors, the classifier is taken. The file must have the
    features and the labels of the project, and at most 64 MiB, or `limits.model_mb`.
    """
    access = access_of(request)
    worker, identity = access.enter(request, slug)
    data = await _read_file(request, access.service.limits.model)
    return await replace_by_file(request, worker, identity, data)


@router.post("/rebuild", status_code=202, responses={200: {"description": "What it would take"}})
async def post_rebuild(
    slug: str, body: RebuildIn, request: Request, response: Response, dry_run: bool = False
) -> dict[str, Any]:
    """Make the model anew from the whole log: corrections count, answers of the named people and labels do not.

    It runs beside the live model, which it replaces at the end by a record `model.rebuilt`. With `dry_run` nothing
    happens; the answer is how many records are read, and for how many seconds.
    """
    access = access_of(request)
    worker, identity = access.enter(request, slug)
    plan = RebuildPlan(body.cause, tuple(body.people), tuple(body.labels))
    cost = await asyncio.to_thread(rebuild_cost, worker, plan)
    if dry_run:
        response.status_code = 200
        return cost
    begin_rebuild(request, worker, identity, plan)
    return cost


def begin_rebuild(request: Request, worker: Worker, identity: Identity, plan: RebuildPlan) -> None:
    """Make the model of `worker` anew by `plan`, in a thread, for `identity` who has sent `request`."""
    sender = sender_of(request, identity)
    access_of(request).service.begin_change(
        worker, "rebuild", lambda: rebuild_model(worker, plan, Origin(sender.person_id)), sender, **plan._asdict()
    )


async def replace_by_file(request: Request, worker: Worker, identity: Identity, data: bytes) -> dict[str, Any]:
    """Replace the classifier of `worker` by that in the file `data`, which `identity` has sent by `request`."""
    copied = await asyncio.wrap_future(worker.view.read(lambda copy: copy.trial().learner))
    await asyncio.to_thread(training.check_model, copied, data)
    origin, hashed = Origin(identity.person_id, body_hash=bytes.fromhex(blob_hash(data))), blob_hash(data)
    done = await carry_out(worker, lambda desk: training.replace_model(desk, data, origin), 1, origin)
    sender, slug = sender_of(request, identity), worker.project.slug
    await access_of(request).write(lambda c: audit_act(c, "model-replaced", slug, sender, hash=hashed))
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
