"""Routes of annotators: questions, leases, answers."""

import asyncio
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query, Response

from evolabel.server.http.access import Access, AppAccess, Entered, Entrant, Sent, carry_out, read
from evolabel.server.http.schemas import After, AnswerIn, DraftIn, Limit, NextIn, Number, RefusalIn
from evolabel.server.log.times import now_us, readable_times
from evolabel.server.people.people import names_of
from evolabel.server.people.policies import Identity, check_role
from evolabel.server.project import operations, reading
from evolabel.server.project.operations import UnknownError
from evolabel.server.project.questions import store_draft
from evolabel.server.project.sample_rows import GivenResponse, closed_questions, responses_by
from evolabel.server.project.state import Facts
from evolabel.server.project.worker import Worker

router = APIRouter(prefix="/api/v1/projects/{slug}/questions", tags=["questions"])
Status = Literal["open", "taken", "partly", "answered", "refused", "expired", "given_up"]
_RETRY = {"Retry-After": "5"}


@router.get("")
async def get_questions(
    worker: Entered,
    identity: Entrant,
    access: AppAccess,
    *,
    status: Status | None = None,
    after: After = 0,
    limit: Limit = 100,
) -> dict[str, Any]:
    """Return the open questions, freshest first, at most `limit` of them; or those of a `status`, by number.

    A question is `open`, also while its answers can be taken back, or `taken` while a person looks at it; `partly`
    answered ones need another person; the others are closed. With a `status`, only numbers above `after` are returned;
    `next` is the number to give as `after` for the next page, null at the end.
    """
    if status is None or status in reading.WAITING:
        return readable_times(
            await read(
                worker,
                lambda batch: reading.list_questions(
                    batch, worker.leases, identity.person_id, limit, status=status, after=after
                ),
            )
        )
    project, person = worker.project.id, identity.person_id
    rows = await access.read(lambda c: closed_questions(c, project, status, person, after=after, limit=limit))
    return readable_times({"questions": rows, "next": rows[-1]["number"] if len(rows) == limit else None})


@router.post("/next", response_model=None, responses={204: {"description": "None waits"}})
async def post_next(worker: Entered, identity: Entrant, body: NextIn) -> dict[str, Any] | Response:
    """Return the freshest question that no other person looks at, with its sample and a lease; 204 if none waits."""
    skipped, person = set(body.skip), identity.person_id
    found = await read(worker, lambda batch: reading.next_question(batch, worker.leases, person, skipped))
    return Response(status_code=204, headers=_RETRY) if found is None else readable_times(found)


@router.put("/{number}/lease")
async def put_lease(worker: Entered, identity: Entrant, number: Number) -> dict[str, Any]:
    """Keep a question from being offered to others for another while."""
    person = identity.person_id
    return readable_times(await read(worker, lambda batch: reading.renew_lease(batch, worker.leases, number, person)))


@router.delete("/{number}/lease", status_code=204)
async def delete_lease(worker: Entered, identity: Entrant, number: Number) -> None:
    """Offer a question to others again."""
    await read(worker, lambda batch: worker.leases.give_back(number, identity.person_id))


@router.put("/{number}/answer")
async def write_answer(
    worker: Entered, origin: Sent, number: Number, body: AnswerIn, response: Response
) -> dict[str, Any]:
    """Answer a question: true, false, or null for unsure, by label.

    The same body again has the same result. After the question was closed, the answer is kept as a correction.
    """
    extra = {"took_ms": body.took_ms, "note": body.note}
    result = await carry_out(
        worker, lambda batch: operations.give_answer(batch, number, dict(body.answers), origin, **extra), origin
    )
    return _receipt(result, response)


@router.put("/{number}/refusal")
async def put_refusal(
    worker: Entered, origin: Sent, number: Number, body: RefusalIn, response: Response
) -> dict[str, Any]:
    """Say that no person can answer this question from these data."""
    result = await carry_out(worker, lambda batch: operations.refuse(batch, number, body.reason, origin), origin)
    return _receipt(result, response)


@router.put("/{number}/draft", status_code=204)
async def put_draft(worker: Entered, identity: Entrant, number: Number, body: DraftIn, access: AppAccess) -> None:
    """Keep what the sender has chosen so far for an open question; it counts as no answer."""
    await keep_draft(access, worker, number, identity.person_id, dict(body.answers))


@router.delete("/{number}/answer", status_code=204)
async def delete_answer(worker: Entered, origin: Sent, number: Number) -> None:
    """Take an answer back, until it is final."""
    await carry_out(worker, lambda batch: operations.withdraw(batch, number, origin), origin)


@router.get("/{number}/effect", response_model=None, responses={204: {"description": "Not known"}})
async def get_effect(worker: Entered, identity: Entrant, number: Number) -> dict[str, Any] | Response:
    """Return how many of the last predictions the answer changed; 204 while that is not known.

    While the own answer can be taken back, `final` is false, and there are no numbers by label.
    """
    is_known = await read(worker, lambda batch: reading.may_see_effect(batch, number, identity.person_id))
    found = (await asyncio.to_thread(worker.effects.find, [number])).get(number) if is_known else None
    return Response(status_code=204) if found is None else found


async def keep_draft(access: Access, worker: Worker, number: int, person: int, answers: Facts) -> None:
    """Keep with `access` the `answers` that a `person` has chosen so far for question `number` of `worker`."""
    given = await read(worker, lambda batch: reading.checked_draft(batch, number, answers))
    project, at = worker.project.id, now_us()
    await access.write(lambda c: store_draft(c, project, number, person, answers=given, at=at))


def _receipt(result: dict[str, Any], response: Response) -> Facts:
    if result.pop("replayed"):
        response.headers["Idempotent-Replayed"] = "true"
    return readable_times(result)


answers_router = APIRouter(prefix="/api/v1/projects/{slug}/answers", tags=["answers"])


@answers_router.get("")
async def get_answers(
    worker: Entered,
    identity: Entrant,
    access: AppAccess,
    *,
    person: Annotated[str | None, Query(max_length=200)] = None,
    after: After = 0,
    limit: Limit = 100,
) -> Facts:
    """Return the answers of the sender, or of a `person` by name for operators, oldest first, after record `after`.

    Once an answer is final, `model` has what the model had predicted for its labels. `next` is the record to give as
    `after` for the next page; null at the end.
    """
    project, whose = worker.project.id, identity.person_id
    if person is not None:
        names = await access.read(names_of)
        whose = next((number for number, name in names.items() if name == person), 0)
    if whose != identity.person_id:
        check_role(identity, project, ("operator",))
        if not whose:
            raise UnknownError(f"there is no person {person!r}; check the name")
    found = await access.read(lambda c: responses_by(c, project, whose, limit, after=after))
    final = await final_numbers(worker, found, whose, identity)
    shown = [readable_times(answer_facts(response, final)) for response in found]
    return {"answers": shown, "next": found[-1].seq if len(found) == limit else None}


async def final_numbers(worker: Worker, given: list[GivenResponse], whose: int, identity: Identity) -> set[int]:
    """Return the numbers of the responses `given` by person `whose` that are final and that `identity` may see."""
    found: set[int] = await read(
        worker,
        lambda batch: {
            response.number
            for response in given
            if not reading.can_take_back(batch, response.number, whose)
            and reading.may_see(batch, response.number, identity.person_id)
        },
    )
    return found


def answer_facts(response: GivenResponse, final: set[int]) -> Facts:
    """Return a `response` with what the model had predicted, if its number is among the `final` ones."""
    facts = {**response.facts(), "final": response.number in final}
    if facts["final"]:
        facts["model"] = {name: int(name in response.predicted) for name in response.answers}
    return facts
