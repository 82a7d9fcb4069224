"""Responses that stand: the last one of each person to each question, unless it was taken back.

All counts of what people have answered are counts of these. `answers` are questions to which a person has said yes or
no for at least one label, whether it was taught or is a correction; `labels` are the labels with a yes or a no;
`refused` are the questions that the person could not decide.
"""

from collections import defaultdict
from collections.abc import Callable, Collection
from functools import lru_cache
from typing import Any, NamedTuple

from sqlalchemy import Connection, Select, func, select

from evolabel.server.log.canonical import parsed
from evolabel.server.log.schema import LOG, PERSON, RESPONSE

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


class Given(NamedTuple):
    """A response: its record and time, the name of the person for people, labels with a yes or a no, milliseconds."""

    seq: int
    at: int
    person: str
    labels: int
    took_ms: int | None

    @classmethod
    def of(cls, row: Any) -> "Given":
        """Return the response in a `row` that `responses_of` has found."""
        return cls(row.seq, row.at, row.display, _count_labels(row.answers), row.took_ms)


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
    groups = defaultdict[int, list[Given]](list)
    for row in connection.execute(_standing(project_id).where(LOG.c.at >= since)):
        groups[row.person_id].append(Given.of(row))
    return {person: _counted(given) for person, given in groups.items()}


def answers_by_day(
    connection: Connection, project_id: int, after: int, before: int = 2**62, *, day: Callable[[int], object],
    person: str | None = None,
) -> list[DayOfAnswers]:  # fmt: skip
    """Return what each person has answered in project `project_id`, per `day` of a time, read through `connection`.

    Days are whole. Those are returned whose last record is behind `after` and before `before`, and only those of
    `person` if one is given.
    """
    first, last = (connection.scalar(_time_of(project_id, seq)) for seq in (after, before))
    query = _standing(project_id).where(LOG.c.at >= (first or 0) - _LONGEST_DAY)
    if last is not None:
        query = query.where(LOG.c.at <= last + _LONGEST_DAY)
    if person is not None:
        query = query.where(PERSON.c.name == person)
    groups = defaultdict[tuple[object, str], list[Given]](list)
    for row in connection.execute(query.order_by(RESPONSE.c.seq)):
        groups[day(row.at), row.display].append(Given.of(row))
    found = map(day_of_answers, groups.values())
    return [item for item in found if after < item.seq < before]


def day_of_answers(given: Collection[Given]) -> DayOfAnswers:
    """Return what a person has answered on a day: the responses of that day that stand, `given`."""
    last = max(given)
    return DayOfAnswers(last.seq, last.at, last.person, _counted(given))


@lru_cache(1000)
def _count_labels(answers: str) -> int:
    """Return how many labels have a yes or a no in the text of `answers`; many responses have the same."""
    return sum(y is not None for y in parsed(answers).values())


def _standing(project_id: int) -> Select[Any]:
    """Return the query of what stands in project `project_id`, with its time and the name of the person."""
    return responses_of(project_id).where(STANDS)


def responses_of(project_id: int) -> Select[Any]:
    """Return the query of all responses in project `project_id`, with their times and the names of the people."""
    columns = RESPONSE.c[("person_id", "number", "seq", "status", "answers", "took_ms")]
    return (
        select(*columns, LOG.c.at, PERSON.c.display)
        .join(LOG, (LOG.c.project_id == RESPONSE.c.project_id) & (LOG.c.seq == RESPONSE.c.seq))
        .join(PERSON, PERSON.c.id == RESPONSE.c.person_id)
        .where(RESPONSE.c.project_id == project_id)
    )


def _time_of(project_id: int, seq: int) -> Select[Any]:
    return select(LOG.c.at).where(LOG.c.project_id == project_id, LOG.c.seq == seq)


def _counted(given: Collection[Given]) -> AnswerCounts:
    """Return the counts of what was `given` and stands."""
    took = [item.took_ms for item in given if item.took_ms is not None]
    answers = sum(item.labels > 0 for item in given)
    seconds = sum(took) / len(took) / 1000 if took else None
    return AnswerCounts(answers, sum(item.labels for item in given), len(given) - answers, seconds)
