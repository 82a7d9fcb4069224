"""The page of disputes, and the forms by which experts decide and people correct their final answers."""

from typing import Annotated, Any

from fastapi import APIRouter, Query, Request, Response
from fastapi.responses import RedirectResponse
from sqlalchemy import Connection

from evolabel.server.http.access import Entered, Sent, access_of, carry_out, read
from evolabel.server.http.schemas import MOST_NUMBER, Number
from evolabel.server.log.times import now_us
from evolabel.server.pages.answer import ANSWER_VALUES
from evolabel.server.pages.render import project_page
from evolabel.server.pages.visitors import Entrant, Visitor, checked_form
from evolabel.server.project import operations
from evolabel.server.project.agreement import alphas, disputes, shared_questions
from evolabel.server.project.worker import Worker

router = APIRouter(prefix="/p/{slug}", include_in_schema=False)
NOTICES = ("decided", "same", "corrected", "nothing")
"""What a form on these pages has led to."""
_PER_PAGE = 20


@router.get("/disputes")
async def get_disputes_page(
    worker: Entered,
    visitor: Entrant,
    request: Request,
    *,
    decided: bool = False,
    before: Annotated[int, Query(ge=1, le=MOST_NUMBER)] = MOST_NUMBER,
    notice: str = "",
    number: int = 0,
) -> Response:
    """Show the questions on which people differ, or those `decided`, newest first, and how far people agree."""
    project = worker.project.id
    labels = await read(worker, lambda batch: list(batch.state.labels))

    def find(connection: Connection) -> dict[str, Any]:
        shared = list(shared_questions(connection, project))
        found = disputes(connection, project, shared, _PER_PAGE, decided=decided, before=before)
        return {"disputes": found, "alphas": alphas(shared)}

    facts = await access_of(request).read(find)
    older = facts["disputes"][-1].number if len(facts["disputes"]) == _PER_PAGE else None
    return await project_page(
        request, "disputes.html", visitor=visitor, worker=worker, decided=decided, older=older, now=now_us(),
        titles={label.name: label.title or label.name for label in labels},
        places={label.name: place for place, label in enumerate(labels)},
        notice=notice if notice in NOTICES else "", number=number, **facts,
    )  # fmt: skip


@router.post("/questions/{number}/decision")
async def post_decision(worker: Entered, visitor: Entrant, origin: Sent, number: Number, request: Request) -> Response:
    """Decide the labels that are chosen in the form of an expert."""
    given, to = await _chosen(worker, visitor, request)
    answers = {name: y for name, y in given.items() if y is not None}
    if not answers:
        return _go(worker, to, number, "nothing")
    result = await carry_out(worker, lambda batch: operations.decide(batch, number, answers, origin), origin)
    return _go(worker, to, number, "same" if result["replayed"] else "decided")


@router.post("/questions/{number}/correction")
async def post_correction(
    worker: Entered, visitor: Entrant, origin: Sent, number: Number, request: Request
) -> Response:
    """Correct the visitor's own final answer."""
    given, _ = await _chosen(worker, visitor, request)
    if not given:
        return _go(worker, "sample", number, "nothing")
    result = await carry_out(worker, lambda batch: operations.give_answer(batch, number, given, origin), origin)
    return _go(worker, "sample", number, "same" if result["replayed"] else "corrected")


async def _chosen(worker: Worker, visitor: Visitor, request: Request) -> tuple[dict[str, int | None], str]:
    """Return what the form in `request` says of each label of `worker`, and the page from which it was sent."""
    form = await checked_form(request, visitor)
    names = await read(worker, lambda batch: batch.state.label_names)
    chosen = {name: str(form.get(f"y{place}", "")) for place, name in enumerate(names)}
    given = {name: ANSWER_VALUES[code] for name, code in chosen.items() if code in ANSWER_VALUES}
    return given, str(form.get("to", ""))


def _go(worker: Worker, to: str, number: int, notice: str) -> Response:
    """Lead to the page `to`, that of sample `number` or of disputes, where the `notice` has the focus."""
    base = f"/p/{worker.project.slug}"
    path = f"{base}/samples/{number}?notice={notice}" if to == "sample" else f"{base}/disputes?notice={notice}"
    return RedirectResponse(f"{path}&number={number}#notice" if to != "sample" else f"{path}#notice", 303)
