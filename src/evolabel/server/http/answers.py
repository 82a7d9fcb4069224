"""Route of a person's own answers; an operator sees those of others."""

import asyncio
from typing import Annotated

from fastapi import APIRouter, Query, Request

from evolabel.server.http.access import access_of, read
from evolabel.server.http.schemas import MOST_NUMBER
from evolabel.server.log.times import readable_times
from evolabel.server.people.people import names_of
from evolabel.server.people.policies import Identity, check_role
from evolabel.server.project import reading
from evolabel.server.project.sample_rows import GivenResponse, responses_by
from evolabel.server.project.state import Facts
from evolabel.server.project.verbs import UnknownError
from evolabel.server.project.worker import Worker

router = APIRouter(prefix="/api/v1/projects/{slug}/answers", tags=["answers"])


@router.get("")
async def get_answers(
    slug: str,
    request: Request,
    person: Annotated[str | None, Query(max_length=200)] = None,
    after: Annotated[int, Query(ge=0, le=MOST_NUMBER)] = 0,
    limit: Annotated[int, Query(ge=1, le=1000)] = 100,
) -> Facts:
    """Return the answers of the sender, or of a `person` by name for operators, oldest first, after record `after`.

    Once an answer is final, `model` has what the model had predicted for its labels. `next` is the record to give as
    `after` for the next page; null at the end.
    """
    access = access_of(request)
    worker, identity = access.enter(request, slug)

    def rows() -> tuple[int, list[GivenResponse]]:
        with access.service.reader.connect() as connection:
            whose = identity.person_id
            if person is not None:
                known = {name: number for number, name in names_of(connection).items()}
                whose = known.get(person, 0)
            if whose != identity.person_id:
                check_role(identity, worker.project.id, ("operator",))
                if not whose:
                    raise UnknownError(f"there is no person {person!r}; check the name")
            return whose, responses_by(connection, worker.project.id, whose, limit, after=after)

    whose, found = await asyncio.to_thread(rows)
    final = await final_numbers(worker, found, whose, identity)
    shown = [readable_times(answer_facts(response, final)) for response in found]
    return {"answers": shown, "next": found[-1].seq if len(found) == limit else None}


async def final_numbers(worker: Worker, given: list[GivenResponse], whose: int, identity: Identity) -> set[int]:
    """Return the numbers of the responses `given` by person `whose` that are final and that `identity` may see."""
    found: set[int] = await read(
        worker,
        lambda desk: {
            response.number
            for response in given
            if not reading.is_held(desk, response.number, whose)
            and reading.may_see(desk, response.number, identity.person_id)
        },
    )
    return found


def answer_facts(response: GivenResponse, final: set[int]) -> Facts:
    """Return a `response` with what the model had predicted, if its number is among the `final` ones."""
    facts = {**response.facts(), "final": response.number in final}
    if facts["final"]:
        facts["model"] = {name: int(name in response.predicted) for name in response.answers}
    return facts
