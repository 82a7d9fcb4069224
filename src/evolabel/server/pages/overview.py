"""The list of projects, and the overview of one: is all well, what became of the questions, how good the model is."""

import asyncio
import math
from bisect import bisect_left
from collections import Counter
from collections.abc import Sequence
from itertools import islice
from typing import Any, NamedTuple

from fastapi import APIRouter, Request, Response
from fastapi.responses import RedirectResponse
from sqlalchemy import Connection

from evolabel.server.http.access import Entered, Sent, access_of, carry_out, read
from evolabel.server.log.activity import ActivityItem, read_activity
from evolabel.server.log.disk import free_bytes, last_backup
from evolabel.server.log.times import DAY, HOUR, MINUTE, now_us
from evolabel.server.log.writer import reading
from evolabel.server.pages.charts import BarChart, bar_chart, place, step_of, ticks
from evolabel.server.pages.events import by_day, day_of, describe, describe_all, describe_answers
from evolabel.server.pages.render import project_page, render_page
from evolabel.server.pages.visitors import Entrant, Visitor, checked_form, visitors_of
from evolabel.server.project import health, operations
from evolabel.server.project.batch import Origin, RecordBatch
from evolabel.server.project.file_stream import file_status
from evolabel.server.project.health import MOST_SAMPLES, Check, RecentDays, Unseen
from evolabel.server.project.questions import needs_another
from evolabel.server.project.reading import show_project, waiting_for
from evolabel.server.project.rule_list import count_rules
from evolabel.server.project.service import Service
from evolabel.server.project.settings import Label
from evolabel.server.project.statistics import Counts, DayOfAnswers, Judgement, count_since, learned_since, summed
from evolabel.server.project.worker import Worker

PARTS = 28
"""Points of a line: one for each part of the time shown."""
_LAST = 100  # answers that "now" is taken from
_SMOOTHED = 20  # answers that a point of the line is taken from
_FEWEST = 20  # answers in each half, before a change is shown


class Drift(NamedTuple):
    """A drift: when it was found, and the label."""

    at: int
    label: str


class LabelRow(NamedTuple):
    """A label: share right now, its change, answers judged, points of its line and the place of the last.

    `label` is the name it has in the data, `name` that for people; `drifts` are the places of its drifts.
    """

    label: str
    name: str
    right: float
    change: float | None
    judged: int
    points: str
    last: tuple[float, float] | None
    drifts: list[float]


class LabelRows(NamedTuple):
    """All rows, and the lowest value of their common scale, which ends at 1."""

    rows: list[LabelRow]
    low: float


def label_rows(
    labels: Sequence[Label], judged: Sequence[Judgement], begin: int, end: int, drifts: Sequence[Drift] = ()
) -> LabelRows:
    """Return the rows of `labels` by what was `judged` from the time `begin` to `end`, with the `drifts` found."""
    of_label = {label.name: list[Judgement]() for label in labels}
    for judgement in judged:
        of_label.get(judgement.label, []).append(judgement)
    shares = {name: _shares(own, begin, end) for name, own in of_label.items()}
    low = min((share for line in shares.values() for _, share in line), default=0.5)
    low = min(int(low * 10) / 10, 0.9)
    rows = []
    for label in labels:
        own = [judgement.right for judgement in of_label[label.name]]
        if not own:
            continue
        points = [(round(x, 1), round(90.0 - 80.0 * (y - low) / (1.0 - low), 1)) for x, y in shares[label.name]]
        half = len(own) // 2
        change = _mean(own[half:]) - _mean(own[:half]) if half >= _FEWEST else None
        line = " ".join(f"{x},{y}" for x, y in points)
        name = label.title or label.name
        found = [place(drift.at, begin, end) for drift in drifts if drift.label == label.name and drift.at >= begin]
        right, last = _mean(own[-_LAST:]), points[-1] if points else None
        rows.append(LabelRow(label.name, name, right, change, len(own), line, last, found))
    return LabelRows(sorted(rows, key=lambda row: row.right), low)


def _shares(judged: Sequence[Judgement], begin: int, end: int) -> list[tuple[float, float]]:
    """Return for each part of the time that has answers its place in per cent, and the share right of the last 20."""
    span, right, before, shares = max(end - begin, 1), [judgement.right for judgement in judged], 0, []
    for part in range(PARTS):
        until = begin - -(part + 1) * span // PARTS if part + 1 < PARTS else math.inf
        last = bisect_left(judged, until, before, key=lambda judgement: judgement.at)
        if last > before:
            shares.append((100.0 * (part + 0.5) / PARTS, _mean(right[max(0, last - _SMOOTHED) : last])))
        before = last
    return shares


def _mean(right: Sequence[bool]) -> float:
    return sum(right) / len(right)


projects_router = APIRouter(include_in_schema=False)
_READERS = ("annotator", "expert", "operator")


@projects_router.get("/")
async def get_project_list(request: Request) -> Response:
    """Show the projects of the person."""
    service, visitor = access_of(request).service, await visitors_of(request).visitor(request)
    workers = [w for w in service.readable().values() if visitor.role_in(w.project.id) in _READERS]
    rows = [await _row(worker, visitor) for worker in workers]
    is_copy = not service.is_writer
    return render_page(request, "projects.html", visitor=visitor, rows=rows, is_copy=is_copy)


async def _row(worker: Worker, visitor: Visitor) -> dict[str, Any]:
    """Return what the list shows of the project of `worker` to `visitor`."""

    def count(batch: RecordBatch) -> dict[str, Any]:
        state = batch.state
        return {"samples": state.seen, "waiting": waiting_for(batch, visitor.person.id), "paused": state.paused}

    counts = await read(worker, count) if worker.is_ready else {"samples": 0, "waiting": 0, "paused": False}
    return {**counts, "project": worker.project, "role": visitor.role_in(worker.project.id), "ready": worker.is_ready}


router = APIRouter(prefix="/p/{slug}", include_in_schema=False)
SHOWN = 7 * DAY
"""Time that the overview looks back."""
_MOST_ACTS = 10
_MOST_READ = 100  # rules that came at once are one of the acts shown
_MOST_MARKS = 50  # drifts, starts and stops
_ENOUGH = 400  # answers of a label, before a fall of 0.10 is more than chance: two standard errors of the difference
_PARTS = ("answered", "refused", "expired", "given_up", "waiting")


@router.get("")
async def get_overview(worker: Entered, visitor: Entrant, request: Request) -> Response:
    """Show counts, charts and the state of the project."""

    def count(batch: RecordBatch) -> dict[str, Any]:
        waiting = batch.state.open.values()
        return {
            **show_project(batch),
            "role": visitor.role_in(worker.project.id),
            "label_list": list(batch.state.labels),
            "feature_list": list(batch.state.features),
            "rules": count_rules(batch.state),
            "met": batch.state.learner.ledger.met,
            "silent": batch.state.learner.classifier.inner.silent_labels,
            "oldest_waiting": min((question.at for question in waiting), default=None),
            "for_another": sum(map(needs_another, waiting)),
        }

    found = await read(worker, count)
    recent_days = request.app.state.recent_days.setdefault(worker.project.id, RecentDays(worker.project.id, day_of))
    facts = await asyncio.to_thread(_facts, access_of(request).service, worker, found, recent_days)
    address = str(request.base_url).rstrip("/")
    return await project_page(
        request, "overview.html", visitor=visitor, worker=worker, address=address, **found, **facts
    )


@router.post("/pause")
async def post_pause_form(worker: Entered, visitor: Entrant, origin: Sent, request: Request) -> Response:
    """Ask nothing until the project is resumed."""
    return await _set_paused(worker, visitor, origin, request, paused=True)


@router.post("/resume")
async def post_resume_form(worker: Entered, visitor: Entrant, origin: Sent, request: Request) -> Response:
    """Ask questions again."""
    return await _set_paused(worker, visitor, origin, request, paused=False)


async def _set_paused(worker: Worker, visitor: Visitor, origin: Origin, request: Request, *, paused: bool) -> Response:
    await checked_form(request, visitor)
    await carry_out(worker, lambda batch: operations.set_paused(batch, origin, paused=paused), origin)
    return RedirectResponse(f"/p/{worker.project.slug}", 303)


def _facts(service: Service, worker: Worker, found: dict[str, Any], recent_days: RecentDays) -> dict[str, Any]:
    """Return what the tables have of the project of `worker`, of which so much was `found`, by its `recent_days`."""
    now, project = now_us(), worker.project.id
    since = (now - SHOWN) // HOUR * HOUR
    with reading(service.reader) as connection:
        recent = recent_days.read(connection, since, now, features=found["feature_list"], seen=found["samples"])
        counts = count_since(connection, project, recent.hours)
        marks = read_activity(connection, project, _MOST_MARKS, kinds=["model.drift", "epoch."])
        days = _days(connection, project, recent.answered, now)
        chart = _chart(connection, project, recent.hours, now)
        learned, has_file = learned_since(connection, project, since), worker.project.slug in service.files.slugs
        file = file_status(connection, project) if has_file else None
    begin = recent.judged[0].at if recent.judged else since
    drifts = [mark for mark in marks if mark.kind == "model.drift" and mark.at >= begin]
    shown = [Drift(drift.at, str(drift.args.get("label"))) for drift in drifts]
    quality = label_rows(found["label_list"], recent.judged, begin, now, shown)
    falls = [(row.name, row.change or 0.0) for row in quality.rows if row.judged >= _ENOUGH and not row.drifts]
    causes = recent.causes | {"waiting": found["open"]}
    checks = [
        *_checks(service, worker, counts, now),
        health.check_expired(causes),
        health.check_waiting(found["oldest_waiting"], now),
        health.check_quality(falls),
    ]
    return {
        "now": now,
        "counts": counts,
        "questions": sum(causes.values()),
        "bar": question_bar(causes),
        "quality": quality,
        "begin": begin,
        "ticks": ticks(begin, now),
        "drifts": [describe(drift) for drift in drifts],
        "stop": _last_stop([mark for mark in marks if mark.kind != "model.drift"], now),
        "days": days,
        "chart": chart,
        "reasons": recent.reasons,
        "taught": learned,
        "file": None if file is None or file.state == "ended" else file,
        "unseen": _most_unseen(recent.unseen, found["samples"]),
        "checks": checks,
        "wrong": [check for check in checks if not check.holds],
    }


def _most_unseen(unseen: Counter[Unseen], samples: int) -> dict[str, Any] | None:
    """Return how many texts of the last of the `samples` are none of the choices, and the most frequent of `unseen`.

    None if there is no such text.
    """
    if not unseen:
        return None
    (name, text), _ = unseen.most_common(1)[0]
    return {"n": unseen.total(), "of": min(samples, MOST_SAMPLES), "feature": name, "text": text}


def _days(connection: Connection, project: int, answered: list[DayOfAnswers], now: int) -> list[Any]:
    """Return the last things that happened, and what was `answered` since the first of them, by day."""
    happened = list(islice(describe_all(read_activity(connection, project, _MOST_READ)), _MOST_ACTS))
    first = happened[-1].seq if happened else 0
    shown = [describe_answers(answers) for answers in answered if answers.seq > first]
    return by_day([*happened, *shown], now)


def _chart(connection: Connection, project: int, hours: list[dict[str, int]], now: int) -> BarChart | None:
    """Return samples and questions over time by their sums of `hours`, since the first; None if there are none."""
    if not hours:
        return None
    begin = hours[0]["minute"] * MINUTE
    if (step := step_of(begin, now)) < 60:
        hours = summed(connection, project, begin, now, step)
        begin = min(begin, now - HOUR // 2)
    return bar_chart(hours, ["samples", "asked"], begin, now)


def _last_stop(stops: list[ActivityItem], now: int) -> str | None:
    """Return the last stop in words, if it was within a day."""
    return describe(stops[0]).title if stops and now - stops[0].at < DAY else None


def _checks(service: Service, worker: Worker, counts: Counts, now: int) -> list[Check]:
    """Return the checks of the server and of what it receives and stores."""
    is_file = service.url.get_backend_name() == "sqlite"
    found = [
        health.check_writes(ready=worker.is_ready),
        health.check_arrival(counts.last_sample, counts.usual_gap, now),
        health.check_disk(free_bytes(service.url), service.limits.min_free),
        health.check_backup(last_backup(service.url), worker.project.created, now) if is_file else None,
        health.check_snapshot(worker.head.seq, counts.snapshot_seq),
    ]
    return [check for check in found if check is not None]


def question_bar(causes: dict[str, int]) -> list[dict[str, Any]]:
    """Return the parts of the bar of questions by `causes`: name, number, place and width in per cent."""
    total, x, parts = sum(causes.values()), 0.0, []
    for name in _PARTS:
        n = causes.get(name, 0)
        if n or name in ("answered", "waiting"):
            width = 100.0 * n / total if total else 0.0
            parts.append({"name": name, "n": n, "x": round(x, 2), "width": round(width, 2)})
            x += width
    return parts
