"""Routes of producers: samples, predictions, labels that come later."""

from typing import Any

from fastapi import APIRouter, Request, Response

from evolabel.server.http.access import access_of, carry_out, check_row_count, keyed_origin_of, origin_of
from evolabel.server.http.json_bodies import QuickRoute
from evolabel.server.http.schemas import LabelsIn, PredictionsIn, SamplesIn
from evolabel.server.project import verbs
from evolabel.server.project.desk import Desk
from evolabel.server.project.verbs import UnknownError

router = APIRouter(prefix="/api/v1/projects/{slug}", tags=["samples"], route_class=QuickRoute)


@router.post("/samples")
async def post_samples(slug: str, body: SamplesIn, request: Request, response: Response) -> dict[str, Any]:
    """Count samples, and return the prediction of each and the question about it, if there is one.

    Every sample is on disk before the response is sent. With an Idempotency-Key, or an id for each sample, the same
    request can be sent again: it is counted once.
    """
    worker, identity = access_of(request).enter(request, slug)
    check_row_count(request, len(body.samples))
    origin = await keyed_origin_of(request, identity)
    samples = [{"x": s.x, **{name: fact for name, fact in vars(s).items() if fact is not None}} for s in body.samples]
    result = await carry_out(worker, lambda desk: verbs.send_samples(desk, samples, origin), len(samples), origin)
    if result.pop("replayed"):
        response.headers["Idempotent-Replayed"] = "true"
    if origin.key is None and any("id" not in sample for sample in samples):
        result["warnings"] = ["samples without an id are counted each time they are sent; give ids or a key"]
    return dict(result)


@router.post("/predictions")
async def post_predictions(slug: str, body: PredictionsIn, request: Request) -> dict[str, Any]:
    """Return the prediction for each sample; nothing is counted or stored."""
    worker, _ = access_of(request).enter(request, slug)
    check_row_count(request, len(body.samples))
    samples = [{"x": sample.x} for sample in body.samples]
    return dict(await carry_out(worker, lambda desk: verbs.predict_samples(desk, samples), len(samples)))


@router.put("/samples/{sample}/labels")
async def put_labels(slug: str, sample: str, body: LabelsIn, request: Request, response: Response) -> dict[str, Any]:
    """Learn labels of a sample that became known later; `sample` is its number, or `id:` and its id."""
    worker, identity = access_of(request).enter(request, slug)
    origin = await origin_of(request, identity)
    result = await carry_out(
        worker, lambda desk: verbs.late_labels(desk, number_of(desk, sample), dict(body.y), origin), 1, origin
    )
    if result.pop("replayed", False):
        response.headers["Idempotent-Replayed"] = "true"
    return {"learned": result["learned"]}


def number_of(desk: Desk, sample: str) -> int:
    """Return the number of a `sample` on the `desk`, named by its number, or by `id:` and its id."""
    if sample.startswith("id:"):
        record = desk.by_ids([sample[3:]]).get(sample[3:])
        if record is None:
            raise UnknownError(f"there is no sample with the id {sample[3:]!r}; send it first")
        return int(record.entry.outcome["number"])
    if not sample.isascii() or not sample.isdigit() or len(sample) > 18:
        raise UnknownError(f"{sample[:50]!r} is no sample; write its number, or id: and its id")
    return int(sample)
