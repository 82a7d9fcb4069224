"""The page of a person's own answers, with what the model had said once they are final."""

import asyncio
from typing import Annotated

from fastapi import APIRouter, Query, Request, Response

from evolabel.server.http.access import now_us, read
from evolabel.server.http.answers import answer_facts, final_numbers
from evolabel.server.http.schemas import MOST_NUMBER
from evolabel.server.pages.render import render_page
from evolabel.server.pages.visitors import visitors_of
from evolabel.server.project.reading import waiting_for
from evolabel.server.project.sample_rows import GivenResponse, responses_by

router = APIRouter(prefix="/p/{slug}", include_in_schema=False)
_PER_PAGE = 25


@router.get("/answers")
async def get_own_answers(
    slug: str, request: Request, before: Annotated[int, Query(ge=1, le=MOST_NUMBER)] = MOST_NUMBER
) -> Response:
    """Show the own answers, newest first, those with records `before` one."""
    visitors = visitors_of(request)
    worker, visitor = await visitors.enter(request, slug)
    identity = visitor.identity(worker.project.id)

    def rows() -> list[GivenResponse]:
        with visitors.service.reader.connect() as connection:
            return responses_by(connection, worker.project.id, identity.person_id, _PER_PAGE, before=before)

    given = await asyncio.to_thread(rows)
    final = await final_numbers(worker, given, identity.person_id, identity)
    waiting = await read(worker, lambda desk: waiting_for(desk, identity.person_id))
    answers = [answer_facts(response, final) for response in given]
    return render_page(
        request, "own_answers.html", visitor=visitor, worker=worker, waiting=waiting, answers=answers, now=now_us(),
        older=given[-1].seq if len(given) == _PER_PAGE else None, is_first=before == MOST_NUMBER,
    )  # fmt: skip
