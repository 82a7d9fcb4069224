"""Counts over the tables of a project, for its overview."""

from itertools import pairwise
from typing import NamedTuple

from sqlalchemy import Connection, func, select

from evolabel.server.store.canonical import parsed
from evolabel.server.store.schema import LOG, PERSON, QUESTION, RESPONSE, SAMPLE, SNAPSHOT

_MOST_JUDGED = 2000  # questions
_GAPS = 50
_ACTS = ("epoch.started", "project.created", "settings.changed", "paused", "resumed")


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
    """An answered label: when the answer was given, and whether the model had said the same."""

    at: int
    label: str
    right: bool


class Act(NamedTuple):
    """A record of something that a person or the service did."""

    at: int
    kind: str
    person: str | None
    changed: dict[str, object]
    replayed: int | None


def count_since(connection: Connection, project_id: int, since: int) -> Counts:
    """Return the counts of project `project_id` since the time `since`, read through `connection`."""
    of_samples = (SAMPLE.c.project_id == project_id, SAMPLE.c.at >= since)
    asked = (
        select(QUESTION.c.cause, func.count(), func.min(SAMPLE.c.at))
        .join(SAMPLE, (SAMPLE.c.project_id == QUESTION.c.project_id) & (SAMPLE.c.number == QUESTION.c.number))
        .where(*of_samples)
        .group_by(QUESTION.c.cause)
    )
    causes = {cause or "waiting": (n, first) for cause, n, first in connection.execute(asked)}
    held = select(SAMPLE.c.held, func.count()).where(*of_samples, SAMPLE.c.held.is_not(None)).group_by(SAMPLE.c.held)
    times = select(SAMPLE.c.at).where(SAMPLE.c.project_id == project_id).order_by(SAMPLE.c.number.desc())
    last = list(connection.scalars(times.limit(_GAPS + 1)))
    gaps = sorted(later - earlier for later, earlier in pairwise(last))
    snapshot = select(func.max(SNAPSHOT.c.seq)).where(SNAPSHOT.c.project_id == project_id)
    return Counts(
        samples=connection.scalar(select(func.count()).select_from(SAMPLE).where(*of_samples)) or 0,
        causes={cause: n for cause, (n, _) in causes.items()},
        held={row[0]: row[1] for row in connection.execute(held)},
        oldest_waiting=causes["waiting"][1] if "waiting" in causes else None,
        last_sample=last[0] if last else None,
        usual_gap=gaps[len(gaps) // 2] if gaps else None,
        snapshot_seq=connection.scalar(snapshot) or 0,
    )


def judged_since(connection: Connection, project_id: int, since: int) -> list[Judgement]:
    """Return the answered labels of closed questions of project `project_id` since the time `since`, oldest first.

    They are read through `connection`: those of the newest 2000 answers that count.
    """
    answer = LOG.alias("answer")
    query = (
        select(answer.c.at, RESPONSE.c.answers, LOG.c.outcome)
        .join(answer, (answer.c.project_id == RESPONSE.c.project_id) & (answer.c.seq == RESPONSE.c.seq))
        .join(QUESTION, (QUESTION.c.project_id == RESPONSE.c.project_id) & (QUESTION.c.number == RESPONSE.c.number))
        .join(LOG, (LOG.c.project_id == QUESTION.c.project_id) & (LOG.c.seq == QUESTION.c.seq))
        .where(RESPONSE.c.project_id == project_id, RESPONSE.c.status == "submitted", QUESTION.c.cause == "answered")
        .where(answer.c.at >= since)
        .order_by(RESPONSE.c.seq.desc())
        .limit(_MOST_JUDGED)
    )
    found = []
    for at, answers, outcome in connection.execute(query):
        predicted = parsed(outcome)["labels"]
        given = parsed(answers).items()
        found += [Judgement(at, name, bool(y) == (name in predicted)) for name, y in given if y is not None]
    return found[::-1]


def last_acts(connection: Connection, project_id: int, most: int) -> list[Act]:
    """Return the last acts in project `project_id`, at most `most`, newest first, read through `connection`."""
    query = (
        select(LOG.c.at, LOG.c.kind, PERSON.c.display, LOG.c.payload, LOG.c.outcome)
        .outerjoin(PERSON, PERSON.c.id == LOG.c.actor_id)
        .where(LOG.c.project_id == project_id, LOG.c.kind.in_(_ACTS))
        .order_by(LOG.c.seq.desc())
        .limit(most)
    )
    acts = []
    for at, kind, person, payload, outcome in connection.execute(query):
        changed = parsed(payload).get("changed", {}) if payload else {}
        acts.append(Act(at, kind, person, changed, parsed(outcome).get("replayed")))
    return acts
