"""Questions that were closed, read from the tables."""

from typing import Any

from sqlalchemy import Connection, exists, select

from evolabel.server.log.canonical import parsed
from evolabel.server.log.schema import QUESTION, RESPONSE, SAMPLE


def closed_questions(
    connection: Connection, project_id: int, cause: str, person_id: int, *, after: int, limit: int
) -> list[dict[str, Any]]:
    """Return the questions of project `project_id` that were closed by `cause`, with numbers above `after`, by number.

    At most `limit` are read through `connection`; each says whether person `person_id` has answered it.
    """
    own = (RESPONSE.c.project_id == QUESTION.c.project_id) & (RESPONSE.c.number == QUESTION.c.number)
    answered = exists().where(own, RESPONSE.c.person_id == person_id, RESPONSE.c.status != "withdrawn")
    query = (
        select(QUESTION.c.number, QUESTION.c.labels, QUESTION.c.needed, SAMPLE.c.at, answered.label("answered"))
        .join(SAMPLE, (SAMPLE.c.project_id == QUESTION.c.project_id) & (SAMPLE.c.number == QUESTION.c.number))
        .where(QUESTION.c.project_id == project_id, QUESTION.c.cause == cause, QUESTION.c.number > after)
        .order_by(QUESTION.c.number)
        .limit(limit)
    )
    return [
        {**row, "labels": parsed(row["labels"]), "answered": bool(row["answered"]), "status": cause}
        for row in connection.execute(query).mappings()
    ]
