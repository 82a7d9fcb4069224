"""Routes that show samples: a page of them, one with what people said, one explained by the model now."""

import asyncio
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from sqlalchemy import Engine

from evolabel.errors import DataError
from evolabel.server.http.access import access_of, read
from evolabel.server.http.problems import ProblemError
from evolabel.server.http.samples import number_of
from evolabel.server.http.schemas import MOST_NUMBER
from evolabel.server.log.times import readable_times
from evolabel.server.people.policies import Identity, sees_all
from evolabel.server.project import reading
from evolabel.server.project.desk import Desk
from evolabel.server.project.explaining import explain_label
from evolabel.server.project.sample_rows import SampleFilter, list_samples, responses_to
from evolabel.server.project.state import Facts
from evolabel.server.project.verbs import ConflictError
from evolabel.server.project.worker import Worker

router = APIRouter(prefix="/api/v1/projects/{slug}/samples", tags=["samples"])
_MOST_NUMBERS = 1000


@router.get("")
async def get_samples(
    slug: str,
    request: Request,
    *,
    after: Annotated[int, Query(ge=0, le=MOST_NUMBER)] = 0,
    limit: Annotated[int, Query(ge=1, le=1000)] = 100,
    asked: bool | None = None,
    numbers: Annotated[str, Query(max_length=20_000, description="numbers with commas between")] = "",
) -> Facts:
    """Return the samples with numbers above `after`, or those with `numbers`; what is hidden yet is left out of each.

    `next` is the number to give as `after` for the next page; null at the end.
    """
    access = access_of(request)
    worker, identity = access.enter(request, slug)
    chosen = SampleFilter(after, _numbers(numbers), asked)

    def rows() -> list[Any]:
        with access.service.reader.connect() as connection:
            return list_samples(connection, worker.project.id, chosen, limit)

    found = await asyncio.to_thread(rows)  # before what is hidden is read: a question that comes later is not in it
    shown = await read(
        worker,
        lambda desk: [
            reading.shown_sample(desk, record, identity.person_id, sees_all=sees_all(identity)) for record in found
        ],
    )
    end = found[-1].entry.outcome["number"] if len(found) == limit else None
    return {"samples": [readable_times(sample) for sample in shown], "next": end}


@router.get("/{sample}")
async def get_sample(slug: str, sample: str, request: Request) -> Facts:
    """Return a sample with its prediction and what people said; what is hidden yet is left out, and `hidden` is true.

    `sample` is its number, or `id:` and its id.
    """
    access = access_of(request)
    worker, identity = access.enter(request, slug)
    shown = await sample_for(worker, identity, sample)
    if identity.admin or identity.role != "producer":
        shown["responses"] = await said_to(access.service.reader, worker, identity, shown)
    return readable_times(shown)


@router.get("/{sample}/explanation")
async def get_explanation(slug: str, sample: str, request: Request, label: str | None = None) -> Facts:
    """Return what was predicted then, and the output of a `label` by the model now in parts that add up.

    Without a `label` it is the first one asked about, or the most likely one.
    """
    worker, identity = access_of(request).enter(request, slug)
    shown = await sample_for(worker, identity, sample)
    if shown["hidden"]:
        raise ProblemError(403, "answer-first", f"answer question {shown['number']} first; then it is shown")
    then = {"prediction": shown["prediction"], "at": shown["at"]}
    now = await explain_now(worker, shown, default_label(shown) if label is None else label)
    return {"number": shown["number"], "then": readable_times(then), "now": now}


async def sample_for(worker: Worker, identity: Identity, sample: str) -> Facts:
    """Return the `sample`, by number or id, of the project of `worker`, without what is hidden from `identity`."""

    def verb(desk: Desk) -> Facts:
        number = number_of(desk, sample)
        return reading.show_sample(desk, number, identity.person_id, sees_all=sees_all(identity))

    found: Facts = await read(worker, verb)
    return found


async def said_to(reader: Engine, worker: Worker, identity: Identity, shown: Facts) -> list[Facts]:
    """Return what people said to the sample `shown`, read by `reader`; only the own response where it is hidden."""

    def rows() -> list[Any]:
        with reader.connect() as connection:
            return responses_to(connection, worker.project.id, shown["number"])

    given = await asyncio.to_thread(rows)
    return [response.facts() for response in given if not shown["hidden"] or response.person_id == identity.person_id]


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
