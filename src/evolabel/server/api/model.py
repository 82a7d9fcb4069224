"""Routes that train or replace the model as a whole."""

import asyncio
from typing import Any

from fastapi import APIRouter, Request, Response

from evolabel.server.api.access import access_of, carry_out, keyed_origin_of, now_us, origin_of, sender_of
from evolabel.server.api.schemas import Body, HistoryIn, RebuildIn
from evolabel.server.contexts import training
from evolabel.server.contexts.desk import Origin
from evolabel.server.contexts.model_records import blob_hash
from evolabel.server.contexts.rebuild import RebuildPlan, rebuild_cost
from evolabel.server.problems import ProblemError
from evolabel.server.store.audit import write_audit
from evolabel.server.store.blobs import store_blob

router = APIRouter(prefix="/api/v1/projects/{slug}", tags=["model"])
MOST_MODEL = 64 * 1024 * 1024  # bytes


@router.post("/history")
async def post_history(slug: str, body: HistoryIn, request: Request) -> dict[str, Any]:
    """Keep rows with labels from before the project, for a fit; possible while the model has learned nothing.

    With an Idempotency-Key the same request can be sent again.
    """
    worker, identity = access_of(request).enter(request, slug)
    origin = await keyed_origin_of(request, identity)
    rows = [{"x": row.x, "y": row.y} for row in body.rows]
    return dict(await carry_out(worker, lambda desk: training.add_history(desk, rows, origin), len(rows), origin))


@router.post("/fit")
async def post_fit(slug: str, body: Body, request: Request) -> dict[str, Any]:
    """Train the model on the history; samples are taken meanwhile, and those sent before keep their questions."""
    worker, identity = access_of(request).enter(request, slug)
    origin = await origin_of(request, identity)
    plan = await carry_out(worker, training.plan_fit)
    fitted = await asyncio.to_thread(training.fit_planned, plan)
    return dict(await carry_out(worker, lambda desk: training.take_fitted(desk, fitted, origin), 1, origin))


@router.put("/model", openapi_extra={"requestBody": {"content": {"application/octet-stream": {}}, "required": True}})
async def put_model(slug: str, request: Request) -> dict[str, Any]:
    """Replace the classifier by that of a model file; counts, budget and open questions stay.

    The file must have the features and the labels of the project, and at most 64 MiB.
    """
    access = access_of(request)
    worker, identity = access.enter(request, slug)
    data = await _read_file(request)
    copied = await asyncio.wrap_future(worker.view.read(lambda copy: copy.trial().learner))
    await asyncio.to_thread(training.check_model, copied, data)
    origin = Origin(identity.person_id, body_hash=bytes.fromhex(blob_hash(data)))
    sender = sender_of(request, identity)

    def store() -> None:
        with access.service.pen.transaction() as connection:
            store_blob(connection, worker.project.id, data, now_us())
            write_audit(
                connection, sender.at, "model-replaced", slug, actor_id=sender.person_id, address=sender.address,
                request_id=sender.request_id, hash=blob_hash(data),
            )  # fmt: skip

    await asyncio.to_thread(store)
    return dict(await carry_out(worker, lambda desk: training.replace_model(desk, data, origin), 1, origin))


@router.post("/rebuild", status_code=202)
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
    access.service.begin_rebuild(worker, plan, Origin(identity.person_id))
    return cost


async def _read_file(request: Request) -> bytes:
    """Return the body of `request`; ProblemError if it is too large."""
    parts, size = list[bytes](), 0
    async for part in request.stream():
        parts.append(part)
        size += len(part)
        if size > MOST_MODEL:
            raise ProblemError(413, "too-large", f"a model file may have {MOST_MODEL} bytes; send a smaller model")
    return b"".join(parts)
