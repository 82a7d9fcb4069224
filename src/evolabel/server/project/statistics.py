"""Counts over the tables of a project, for its overview and its statistics."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, NamedTuple

from sqlalchemy import Connection, func, select

from evolabel.server.log.counts import hour_of, minute_of
from evolabel.server.log.schema import LIMITS, PER_HOUR_LABEL, PER_MINUTE, SAMPLE, SNAPSHOT

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
    """An answered label: when its question was closed, and whether the model had said the same."""

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


def taught_since(connection: Connection, project_id: int, since: int) -> dict[str, tuple[int, int]]:
    """Return by label how many answers were taught in project `project_id`, and how many the model had right.

    They are read through `connection`, from the hour of the time `since` on.
    """
    table, sums = PER_HOUR_LABEL, [func.sum(column) for column in (PER_HOUR_LABEL.c.judged, PER_HOUR_LABEL.c.correct)]
    query = select(table.c.label, *sums).where(table.c.project_id == project_id, table.c.hour >= hour_of(since))
    return {label: (int(n), int(right)) for label, n, right in connection.execute(query.group_by(table.c.label)) if n}
