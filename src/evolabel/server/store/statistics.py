"""Counts over the tables of a project, for its overview and its statistics."""

from collections import Counter
from itertools import pairwise
from typing import Any, NamedTuple

from sqlalchemy import Connection, func, select

from evolabel.server.store.canonical import parsed
from evolabel.server.store.counts import hour_of, minute_of
from evolabel.server.store.schema import LIMITS, LOG, PER_HOUR_LABEL, PER_MINUTE, QUESTION, SAMPLE, SNAPSHOT

_MOST_JUDGED = 2000  # questions
_MOST_REASONS = 500  # questions
_GAPS = 50
_SUMS = [column for column in PER_MINUTE.columns if not column.primary_key]


class Counts(NamedTuple):
    """What happened since a time: samples, questions by what became of them, samples held back by limit."""

    samples: int
    causes: dict[str, int]
    held: dict[str, int]
    oldest_waiting: int | None
    last_sample: int | None
    usual_gap: int | None
    snapshot_seq: int


class Judgement(NamedTuple):
    """An answered label: when its question was closed, and whether the model had said the same."""

    at: int
    label: str
    right: bool


def count_since(connection: Connection, project_id: int, since: int) -> Counts:
    """Return the counts of project `project_id` since the time `since`, read through `connection`."""
    sums = Counter[str]()
    for row in summed(connection, project_id, since, 2**62, 2**40):
        sums.update({name: value for name, value in row.items() if name != "minute"})
    of_sample = SAMPLE.c.project_id == project_id
    first = select(func.min(SAMPLE.c.number)).where(of_sample, SAMPLE.c.at >= since).scalar_subquery()
    asked = (
        select(QUESTION.c.cause, func.count(), func.min(QUESTION.c.number))
        .where(QUESTION.c.project_id == project_id, QUESTION.c.number >= first)
        .group_by(QUESTION.c.cause)
    )
    causes = {cause or "waiting": (n, number) for cause, n, number in connection.execute(asked)}
    oldest = select(SAMPLE.c.at).where(of_sample, SAMPLE.c.number == causes.get("waiting", (0, 0))[1])
    times = select(SAMPLE.c.at).where(of_sample).order_by(SAMPLE.c.number.desc()).limit(_GAPS + 1)
    last = list(connection.scalars(times))
    gaps = sorted(later - earlier for later, earlier in pairwise(last))
    snapshot = select(func.max(SNAPSHOT.c.seq)).where(SNAPSHOT.c.project_id == project_id)
    return Counts(
        samples=sums["samples"],
        causes={cause: n for cause, (n, _) in causes.items()},
        held={limit: sums[f"held_{limit}"] for limit in LIMITS if sums[f"held_{limit}"]},
        oldest_waiting=connection.scalar(oldest),
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


def taught_since(connection: Connection, project_id: int, since: int) -> dict[str, tuple[int, int]]:
    """Return by label how many answers were taught in project `project_id`, and how many the model had right.

    They are read through `connection`, from the hour of the time `since` on.
    """
    table, sums = PER_HOUR_LABEL, [func.sum(column) for column in (PER_HOUR_LABEL.c.judged, PER_HOUR_LABEL.c.correct)]
    query = select(table.c.label, *sums).where(table.c.project_id == project_id, table.c.hour >= hour_of(since))
    return {label: (int(n), int(right)) for label, n, right in connection.execute(query.group_by(table.c.label)) if n}


def asked_reasons(connection: Connection, project_id: int) -> list[tuple[str, float]]:
    """Return why labels were asked in the last 500 questions of project `project_id`: reasons and shares, most first.

    They are read through `connection`. A label has the first of its reasons.
    """
    query = select(QUESTION.c.reasons).where(QUESTION.c.project_id == project_id)
    found = Counter[str]()
    for reasons in connection.scalars(query.order_by(QUESTION.c.number.desc()).limit(_MOST_REASONS)):
        found.update(why[0] for why in parsed(reasons).values() if why)
    return [(reason, n / found.total()) for reason, n in found.most_common()]


def judged_since(connection: Connection, project_id: int, since: int) -> list[Judgement]:
    """Return the answered labels of questions of project `project_id` closed since the time `since`, oldest first.

    They are read through `connection`: those of the newest 2000 questions.
    """
    query = (
        select(LOG.c.at, LOG.c.outcome)
        .where(LOG.c.project_id == project_id, LOG.c.kind == "close", LOG.c.at >= since)
        .order_by(LOG.c.seq.desc())
        .limit(_MOST_JUDGED)
    )
    found = list[Judgement]()
    for at, outcome in connection.execute(query):
        facts = parsed(outcome)
        for label, n in facts["judged"].items():
            right = facts["right"].get(label, 0)
            found += [Judgement(at, label, i < right) for i in range(n)]
    return found[::-1]
