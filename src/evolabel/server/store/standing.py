"""Responses that stand: the last one of each person to each question, unless it was taken back.

All counts of what people have answered are counts of these. `answers` are questions to which a person has said yes or
no for at least one label, whether it was taught or is a correction; `labels` are the labels with a yes or a no;
`refused` are the questions that the person could not decide.
"""

from collections import defaultdict
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from sqlalchemy import Connection, Select, func, select

from evolabel.server.store.canonical import parsed
from evolabel.server.store.schema import LOG, PERSON, RESPONSE

_LATER = RESPONSE.alias("later")
_LONGEST_DAY = 25 * 3_600_000_000  # the day on which clocks are set back

LAST = RESPONSE.c.revision == (
    select(func.max(_LATER.c.revision))
    .where(_LATER.c.project_id == RESPONSE.c.project_id, _LATER.c.number == RESPONSE.c.number)
    .where(_LATER.c.person_id == RESPONSE.c.person_id)
    .scalar_subquery()
)
"""Condition on a response: it is the last one of its person to its question."""
STANDS = LAST & (RESPONSE.c.status != "withdrawn")
"""Condition on a response: it is the last one, and was not taken back."""


class AnswerCounts(NamedTuple):
    """What a person has answered: questions, labels, questions that could not be decided, mean seconds of each."""

    answers: int = 0
    labels: int = 0
    refused: int = 0
    seconds: float | None = None


class DayOfAnswers(NamedTuple):
    """What a person has answered on a day: the last record of it, its time, the name for people, and the counts."""

    seq: int
    at: int
    person: str
    counts: AnswerCounts


def answers_since(connection: Connection, project_id: int, since: int) -> dict[int, AnswerCounts]:
    """Return what each person has answered in project `project_id` from time `since` on, by number of the person.

    `connection` reads.
    """
    groups = defaultdict[int, list[Any]](list)
    for row in connection.execute(_given(project_id).where(LOG.c.at >= since)):
        groups[row.person_id].append(row)
    return {person: _counted(rows) for person, rows in groups.items()}


def answers_by_day(
    connection: Connection, project_id: int, after: int, before: int = 2**62, *, day: Callable[[int], object],
    person: str | None = None,
) -> list[DayOfAnswers]:  # fmt: skip
    """Return what each person has answered in project `project_id`, per `day` of a time, read through `connection`.

    Days are whole. Those are returned whose last record is behind `after` and before `before`, and only those of
    `person` if one is given.
    """
    first, last = (connection.scalar(_time_of(project_id, seq)) for seq in (after, before))
    query = _given(project_id).where(LOG.c.at >= (first or 0) - _LONGEST_DAY)
    if last is not None:
        query = query.where(LOG.c.at <= last + _LONGEST_DAY)
    if person is not None:
        query = query.where(PERSON.c.name == person)
    groups = defaultdict[tuple[object, str], list[Any]](list)
    for row in connection.execute(query.order_by(RESPONSE.c.seq)):
        groups[day(row.at), row.display].append(row)
    found = [DayOfAnswers(rows[-1].seq, rows[-1].at, name, _counted(rows)) for (_, name), rows in groups.items()]
    return [item for item in found if after < item.seq < before]


def _given(project_id: int) -> Select[Any]:
    """Return the query of what stands in project `project_id`, with its time and the name of the person."""
    columns = RESPONSE.c[("person_id", "seq", "answers", "took_ms")]
    return (
        select(*columns, LOG.c.at, PERSON.c.display)
        .join(LOG, (LOG.c.project_id == RESPONSE.c.project_id) & (LOG.c.seq == RESPONSE.c.seq))
        .join(PERSON, PERSON.c.id == RESPONSE.c.person_id)
        .where(RESPONSE.c.project_id == project_id, STANDS)
    )


def _time_of(project_id: int, seq: int) -> Select[Any]:
    return select(LOG.c.at).where(LOG.c.project_id == project_id, LOG.c.seq == seq)


def _counted(rows: Sequence[Any]) -> AnswerCounts:
    """Return the counts of `rows` that stand."""
    labels = [sum(y is not None for y in parsed(row.answers).values()) for row in rows]
    took = [row.took_ms for row in rows if row.took_ms is not None]
    answers = sum(n > 0 for n in labels)
    return AnswerCounts(answers, sum(labels), len(rows) - answers, sum(took) / len(took) / 1000 if took else None)
