"""Counts over the tables of a project: samples, and responses that count.

All counts of what people have answered are counts of the last response of each person to each question, unless it was
taken back. `answers` are questions to which a person has said yes or no for at least one label, whether it was learned
or is a correction; `labels` are the labels with a yes or a no; `refused` are the questions that could not be decided.
"""

from collections import defaultdict
from collections.abc import Callable, Collection, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import Any, NamedTuple

from sqlalchemy import Connection, Select, func, select

from evolabel.server.log.canonical import parsed
from evolabel.server.log.derive import hour_of, minute_of
from evolabel.server.log.records import time_of
from evolabel.server.log.schema import (
    LIMITS,
    LOG,
    PER_HOUR_LABEL,
    PER_MINUTE,
    PERSON,
    RESPONSE,
    SAMPLE,
    SNAPSHOT,
    of_record,
)
from evolabel.server.log.times import HOUR

_LATER = RESPONSE.alias("later")
_LONGEST_DAY = 25 * HOUR  # the day on which clocks are set back

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
    for row in connection.execute(responses_of(project_id).where(STANDS, LOG.c.at >= since)):
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
    first, last = (time_of(connection, project_id, seq) for seq in (after, before))
    query = responses_of(project_id).where(STANDS, LOG.c.at >= first - _LONGEST_DAY)
    if last:
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


def responses_of(project_id: int) -> Select[Any]:
    """Return the query of all responses in project `project_id`, with their times and the names of the people."""
    columns = RESPONSE.c[("person_id", "number", "seq", "status", "answers", "took_ms")]
    return (
        select(*columns, LOG.c.at, PERSON.c.display)
        .join(LOG, of_record(RESPONSE))
        .join(PERSON, PERSON.c.id == RESPONSE.c.person_id)
        .where(RESPONSE.c.project_id == project_id)
    )


def _counted(given: Collection[Given]) -> AnswerCounts:
    """Return the counts of what was `given` and stands."""
    took = [item.took_ms for item in given if item.took_ms is not None]
    answers = sum(item.labels > 0 for item in given)
    seconds = sum(took) / len(took) / 1000 if took else None
    return AnswerCounts(answers, sum(item.labels for item in given), len(given) - answers, seconds)


_GAPS = 50
_SUMS = [column for column in PER_MINUTE.columns if not column.primary_key]


class Counts(NamedTuple):
    """Samples in a time, and those held back by limit; the last sample, the usual gap, and the last snapshot."""

    samples: int
    held: dict[str, int]
    last_sample: int | None
    usual_gap: int | None
    snapshot_seq: int


class Judgement(NamedTuple):
    """An answered label: when its question was closed, and whether the model had predicted the same."""

    at: int
    label: str
    right: bool


def count_since(connection: Connection, project_id: int, sums: Sequence[dict[str, int]]) -> Counts:
    """Return the counts of project `project_id` in the time of `sums`, which `summed` returned, and its last samples.

    These are read through `connection`.
    """
    held = {limit: sum(row[f"held_{limit}"] for row in sums) for limit in LIMITS}
    of_project = SAMPLE.c.project_id == project_id
    times = select(SAMPLE.c.at).where(of_project).order_by(SAMPLE.c.number.desc()).limit(_GAPS + 1)
    last = list(connection.scalars(times))
    gaps = sorted(later - earlier for later, earlier in pairwise(last))
    snapshot = select(func.max(SNAPSHOT.c.seq)).where(SNAPSHOT.c.project_id == project_id)
    return Counts(
        samples=sum(row["samples"] for row in sums),
        held={limit: n for limit, n in held.items() if n},
        last_sample=last[0] if last else None,
        usual_gap=gaps[len(gaps) // 2] if gaps else None,
        snapshot_seq=connection.scalar(snapshot) or 0,
    )


def summed(connection: Connection, project_id: int, since: int, until: int, step: int) -> list[dict[str, int]]:
    """Return what happened in project `project_id` from the time `since` to `until`, read through `connection`.

    The rows are sums over `step` minutes each, oldest first; `minute` is the first, a multiple of `step`. Those in
    which nothing happened are left out.
    """
    first = minute_of(since) // step * step
    place = (PER_MINUTE.c.minute - first) // step
    query = (
        select(place.label("place"), *(func.sum(column).label(column.name) for column in _SUMS))
        .where(PER_MINUTE.c.project_id == project_id)
        .where(PER_MINUTE.c.minute >= minute_of(since), PER_MINUTE.c.minute <= minute_of(until))
        .group_by("place")
        .order_by("place")
    )
    found = []
    for row in connection.execute(query):
        sums = {name: int(value) for name, value in row._asdict().items()}
        found.append({"minute": first + sums.pop("place") * step, **sums})
    return found


def summed_labels(connection: Connection, project_id: int, since: int, until: int) -> list[dict[str, Any]]:
    """Return per hour and label of project `project_id` how often it was asked, judged and right, oldest first.

    They are read through `connection`, from the time `since` to `until`.
    """
    table = PER_HOUR_LABEL
    query = (
        select(table.c.hour, table.c.label, table.c.asked, table.c.judged, table.c.correct)
        .where(table.c.project_id == project_id, table.c.hour >= hour_of(since), table.c.hour <= hour_of(until))
        .order_by(table.c.hour, table.c.label)
    )
    return [dict(row._asdict()) for row in connection.execute(query)]


def learned_since(connection: Connection, project_id: int, since: int) -> dict[str, tuple[int, int]]:
    """Return by label how many answers were learned in project `project_id`, and how many the model had right.

    They are read through `connection`, from the hour of the time `since` on.
    """
    table, sums = PER_HOUR_LABEL, [func.sum(column) for column in (PER_HOUR_LABEL.c.judged, PER_HOUR_LABEL.c.correct)]
    query = select(table.c.label, *sums).where(table.c.project_id == project_id, table.c.hour >= hour_of(since))
    return {label: (int(n), int(right)) for label, n, right in connection.execute(query.group_by(table.c.label)) if n}
