"""The last samples of a project with what people said of them, for trials of an act."""

from typing import Any, NamedTuple

from sqlalchemy import Connection, select

from evolabel.server.log.canonical import parsed
from evolabel.server.log.schema import LOG, RESPONSE, SAMPLE


class RecentSample(NamedTuple):
    """A sample: its number, its values in the order of the features, and the labels that people have judged."""

    number: int
    cells: list[Any]
    judged: dict[str, int]


def recent_samples(connection: Connection, project_id: int, most: int) -> list[RecentSample]:
    """Return the last samples of project `project_id`, at most `most`, newest first, read through `connection`.

    Those whose values are missing are left out.
    """
    query = (
        select(SAMPLE.c.number, LOG.c.payload)
        .join(LOG, (LOG.c.project_id == SAMPLE.c.project_id) & (LOG.c.seq == SAMPLE.c.seq))
        .where(SAMPLE.c.project_id == project_id)
        .order_by(SAMPLE.c.number.desc())
        .limit(most)
    )
    payloads = {row.number: parsed(row.payload) for row in connection.execute(query) if row.payload is not None}
    judged: dict[int, dict[str, int]] = {number: _said(payload.get("y")) for number, payload in payloads.items()}
    numbers = list(payloads)
    answers = (
        select(RESPONSE.c.number, RESPONSE.c.answers)
        .where(RESPONSE.c.project_id == project_id, RESPONSE.c.number.in_(numbers), RESPONSE.c.status == "submitted")
        .order_by(RESPONSE.c.seq)
    )
    for row in connection.execute(answers):
        judged[row.number] |= _said(parsed(row.answers))
    late = select(LOG.c.payload).where(
        LOG.c.project_id == project_id, LOG.c.key.in_([f"late:{number}" for number in numbers])
    )
    for text in connection.scalars(late):
        if text is not None:
            payload = parsed(text)
            judged[payload["number"]] |= _said(payload["y"])
    return [RecentSample(number, payload["x"], judged[number]) for number, payload in payloads.items()]


def _said(answers: dict[str, int | None] | None) -> dict[str, int]:
    """Return `answers` without those of people who were unsure."""
    return {name: int(value) for name, value in (answers or {}).items() if value is not None}
