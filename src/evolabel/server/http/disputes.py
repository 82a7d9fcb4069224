"""Routes of experts: questions on which people differ, how far people agree, and decisions."""

from typing import Annotated, Any

from fastapi import APIRouter, Query, Response
from sqlalchemy import Connection

from evolabel.server.http.access import AppAccess, Entered, Sent, carry_out
from evolabel.server.http.schemas import MOST_NUMBER, DecisionIn, Limit, Number
from evolabel.server.log.times import readable_times
from evolabel.server.project import operations
from evolabel.server.project.agreement import Alpha, Dispute, alphas, disputes, shared_questions
from evolabel.server.project.state import Facts

router = APIRouter(prefix="/api/v1/projects/{slug}", tags=["disputes"])
Before = Annotated[int, Query(ge=1, le=MOST_NUMBER, description="questions with smaller numbers are returned")]


@router.get("/disputes")
async def get_disputes(
    worker: Entered, access: AppAccess, *, decided: bool = False, before: Before = MOST_NUMBER, limit: Limit = 100
) -> Facts:
    """Return the questions on which people differ and no expert has decided, or those `decided`, newest first.

    Each has what every person said and what experts have decided. `agreement` is Krippendorff's alpha over the labels
    of all questions that at least two people answered, and how many these are: of all labels, and by label. `next` is
    the number to give as `before` for the next page; null at the end.
    """
    project = worker.project.id

    def find(connection: Connection) -> tuple[list[Dispute], dict[str | None, Alpha]]:
        shared = list(shared_questions(connection, project))
        return disputes(connection, project, shared, limit, decided=decided, before=before), alphas(shared)

    found, agreement = await access.read(find)
    of_all = agreement.pop(None)
    by_label = {name: alpha._asdict() for name, alpha in agreement.items()}
    return {
        "disputes": [readable_times(dispute.facts()) for dispute in found],
        "next": found[-1].number if len(found) == limit else None,
        "agreement": {**of_all._asdict(), "labels": by_label},
    }


@router.put("/questions/{number}/decision")
async def put_decision(
    worker: Entered, origin: Sent, number: Number, body: DecisionIn, response: Response
) -> dict[str, Any]:
    """Decide labels of a question that people have answered; the model learns those on which anybody said otherwise.

    An open question is closed by it. A later decision on the same label replaces the one before; the same one again
    changes nothing.
    """
    result = await carry_out(
        worker, lambda batch: operations.decide(batch, number, dict(body.answers), origin, body.note), origin
    )
    if result.pop("replayed"):
        response.headers["Idempotent-Replayed"] = "true"
    return dict(result)
