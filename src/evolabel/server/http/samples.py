"""Routes of samples: sent and predicted by producers, read page by page, explained by the model now."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request, Response
from fastapi.routing import APIRoute
from pydantic_core import from_json

from evolabel.errors import DataError
from evolabel.server.http.access import (
    Access,
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
from evolabel.server.http.schemas import After, CorrectionIn, LabelsIn, Limit, PredictionsIn, SamplesIn
from evolabel.server.log.times import readable_times
from evolabel.server.people.policies import Identity, sees_all
from evolabel.server.project import operations, reading
from evolabel.server.project.agreement import decisions_on
from evolabel.server.project.batch import RecordBatch
from evolabel.server.project.operations import ConflictError, UnknownError
from evolabel.server.project.reading import explain_label
from evolabel.server.project.sample_rows import SampleFilter, earlier_responses, list_samples, responses_to
from evolabel.server.project.state import Facts
from evolabel.server.project.worker import Worker


class QuickRequest(Request):
    """A request whose `json` is parsed by the parser of pydantic.

    What that one refuses is parsed by Python's: it takes more, such as NaN, and its errors have their documents.
    """

    async def json(self) -> Any:
        """Return the value of the body."""
        try:
            return from_json(await self.body(), allow_inf_nan=False)
        except ValueError:
            return await super().json()


class QuickRoute(APIRoute):
    """A route that takes `QuickRequest`."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """Return the function that answers a request."""
        answer = super().get_route_handler()

        async def answer_quickly(request: Request) -> Response:
            return await answer(QuickRequest(request.scope, request.receive))

        return answer_quickly


router = APIRouter(prefix="/api/v1/projects/{slug}", tags=["samples"], route_class=QuickRoute)


@router.post("/samples")
async def post_samples(
    worker: Entered, origin: KeyedSent, body: SamplesIn, request: Request, response: Response
) -> dict[str, Any]:
    """Count samples, and return the prediction of each and the question about it, if there is one.

    Every sample is on disk before the response is sent. With an Idempotency-Key, or an id for each sample, the same
    request can be sent again: it is counted once.
    """
    check_row_count(request, len(body.samples))
    samples = [{"x": s.x, **{name: fact for name, fact in vars(s).items() if fact is not None}} for s in body.samples]
    result = await carry_out(
        worker, lambda batch: operations.send_samples(batch, samples, origin), origin, len(samples)
    )
    if result.pop("replayed"):
        response.headers["Idempotent-Replayed"] = "true"
    if origin.key is None and any("id" not in sample for sample in samples):
        result["warnings"] = ["samples without an id are counted each time they are sent; give ids or a key"]
    return dict(result)


@router.post("/predictions")
async def post_predictions(worker: Entered, body: PredictionsIn, request: Request) -> dict[str, Any]:
    """Return the prediction for each sample; nothing is counted or stored."""
    check_row_count(request, len(body.samples))
    samples = [{"x": sample.x} for sample in body.samples]
    return dict(await carry_out(worker, lambda batch: operations.predict_samples(batch, samples), rows=len(samples)))


@router.put("/samples/{sample}/labels")
async def put_labels(worker: Entered, origin: Sent, sample: str, body: LabelsIn, response: Response) -> dict[str, Any]:
    """Learn labels of a sample that became known later; `sample` is its number, or `id:` and its id."""
    result = await carry_out(
        worker, lambda batch: operations.late_labels(batch, number_of(batch, sample), dict(body.y), origin), origin
    )
    if result.pop("replayed", False):
        response.headers["Idempotent-Replayed"] = "true"
    return {"learned": result["learned"]}


@router.put("/samples/{sample}/correction")
async def put_correction(worker: Entered, origin: Sent, sample: str, body: CorrectionIn) -> dict[str, Any]:
    """Keep other labels of a sample for the next rebuild of the model; null takes back earlier ones of the sender.

    They train nothing now. `sample` is its number, or `id:` and its id.
    """
    done = await carry_out(
        worker, lambda batch: operations.correct_sample(batch, number_of(batch, sample), body.answers, origin), origin
    )
    return dict(done)


def number_of(batch: RecordBatch, sample: str) -> int:
    """Return the number of a `sample` in the `batch`, named by its number, or by `id:` and its id."""
    if sample.startswith("id:"):
        record = batch.by_ids([sample[3:]]).get(sample[3:])
        if record is None:
            raise UnknownError(f"there is no sample with the id {sample[3:]!r}; send it first")
        return int(record.entry.outcome["number"])
    if not sample.isascii() or not sample.isdigit() or len(sample) > 18:
        raise UnknownError(f"{sample[:50]!r} is no sample; write its number, or id: and its id")
    return int(sample)


reading_router = APIRouter(prefix="/api/v1/projects/{slug}/samples", tags=["samples"])
_MOST_NUMBERS = 1000


@reading_router.get("")
async def get_samples(
    worker: Entered,
    identity: Entrant,
    access: AppAccess,
    *,
    after: After = 0,
    limit: Limit = 100,
    asked: bool | None = None,
    numbers: Annotated[str, Query(max_length=20_000, description="numbers with commas between")] = "",
) -> Facts:
    """Return the samples with numbers above `after`, or those with `numbers`; what is hidden yet is left out of each.

    `next` is the number to give as `after` for the next page; null at the end.
    """
    chosen = SampleFilter(after, _numbers(numbers), asked)
    # before what is hidden is read: a question that comes later is not in it
    found = await access.read(lambda c: list_samples(c, worker.project.id, chosen, limit))
    shown = await read(
        worker,
        lambda batch: [
            reading.shown_sample(batch, record, identity.person_id, sees_all=sees_all(identity)) for record in found
        ],
    )
    end = found[-1].entry.outcome["number"] if len(found) == limit else None
    return {"samples": [readable_times(sample) for sample in shown], "next": end}


@reading_router.get("/{sample}")
async def get_sample(worker: Entered, identity: Entrant, sample: str, access: AppAccess) -> Facts:
    """Return a sample, its prediction and the answers of people; what is hidden yet is left out, and `hidden` is true.

    `sample` is its number, or `id:` and its id.
    """
    shown = await sample_for(worker, identity, sample)
    if identity.admin or identity.role != "producer":
        shown["responses"] = await shown_responses(access, worker, identity, shown)
        if not shown["hidden"]:
            decisions = await access.read(lambda c: decisions_on(c, worker.project.id, shown["number"]))
            shown["decisions"] = [decision._asdict() for decision in decisions]
    return readable_times(shown)


@reading_router.get("/{sample}/explanation")
async def get_explanation(worker: Entered, identity: Entrant, sample: str, label: str | None = None) -> Facts:
    """Return what was predicted then, and the output of a `label` by the model now in parts that add up.

    Without a `label` it is the first one asked about, or the most likely one.
    """
    shown = await sample_for(worker, identity, sample)
    if shown["hidden"]:
        raise ProblemError(403, "answer-first", f"answer question {shown['number']} first; then it is shown")
    then = {"prediction": shown["prediction"], "at": shown["at"]}
    now = await explain_now(worker, shown, default_label(shown) if label is None else label)
    return {"number": shown["number"], "then": readable_times(then), "now": now}


async def sample_for(worker: Worker, identity: Identity, sample: str) -> Facts:
    """Return the `sample`, by number or id, of the project of `worker`, without what is hidden from `identity`."""

    def operation(batch: RecordBatch) -> Facts:
        number = number_of(batch, sample)
        return reading.show_sample(batch, number, identity.person_id, sees_all=sees_all(identity))

    found: Facts = await read(worker, operation)
    return found


async def shown_responses(access: Access, worker: Worker, identity: Identity, shown: Facts) -> list[Facts]:
    """Return the answers to the sample `shown`, read by `access`; only the own response where it is hidden.

    A correction has the `earlier` ones of its person.
    """
    key = worker.project.id, shown["number"]
    given, earlier = await access.read(lambda c: (responses_to(c, *key), earlier_responses(c, *key)))
    return [
        {
            **response.facts(),
            "own": response.person_id == identity.person_id,
            "earlier": [
                {"answers": one.answers, "at": one.at}
                for one in earlier.get(response.person_id, ())
                if response.status == "correction"
            ],
        }
        for response in given
        if not shown["hidden"] or response.person_id == identity.person_id
    ]


async def explain_now(worker: Worker, shown: Facts, label: str) -> Facts:
    """Return the explanation of `label` for the sample `shown` by a copy of the model of `worker`."""
    cells = list(shown["x"].values())
    if not cells:
        raise ConflictError("no-payload", f"the values of sample {shown['number']} are in the archive")
    return await asyncio.wrap_future(worker.view.read(lambda copy: explain_label(copy.state, cells, label)))


def default_label(shown: Facts) -> str:
    """Return the first label that is asked about in the sample `shown`, else the most likely one."""
    question, prediction = shown["question"], shown["prediction"]
    return str(question["labels"][0] if question else max(prediction, key=prediction.__getitem__))


def _numbers(listed: str) -> list[int] | None:
    """Return the numbers in `listed`, None if there are none; DataError for anything else."""
    if not listed:
        return None
    parts = listed.split(",")
    if len(parts) > _MOST_NUMBERS or not all(part.isascii() and part.isdigit() and len(part) < 17 for part in parts):
        raise DataError(f"numbers must be at most {_MOST_NUMBERS} numbers of samples with commas between")
    return [int(part) for part in parts]
