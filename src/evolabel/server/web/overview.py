"""The overview of a project: is all well, what became of the questions, how good the model is, what happened."""

import asyncio
from typing import Any

from fastapi import APIRouter, Request, Response
from fastapi.responses import RedirectResponse
from sqlalchemy import Connection

from evolabel.server.api.access import carry_out, now_us, origin_of, read
from evolabel.server.api.rules import from_copy
from evolabel.server.contexts import health, verbs
from evolabel.server.contexts.cells import count_unseen
from evolabel.server.contexts.desk import Desk
from evolabel.server.contexts.health import Check
from evolabel.server.contexts.reading import show_project, waiting_for
from evolabel.server.contexts.rule_list import rule_list
from evolabel.server.contexts.settings import DAY, HOUR, Feature, Label
from evolabel.server.contexts.worker import Worker
from evolabel.server.service import Service
from evolabel.server.store.activity import Happening, read_activity
from evolabel.server.store.backups import last_backup
from evolabel.server.store.disk import free_bytes
from evolabel.server.store.responses import cells_before
from evolabel.server.store.standing import answers_by_day
from evolabel.server.store.statistics import Counts, asked_reasons, count_since, judged_since, summed, taught_since
from evolabel.server.web.charts import BarChart, bar_chart, step_of, ticks
from evolabel.server.web.happenings import by_day, day_of, describe, describe_all, describe_answers
from evolabel.server.web.label_rows import Drift, LabelRows, label_rows
from evolabel.server.web.render import render_page
from evolabel.server.web.visitors import checked_form, visitors_of

router = APIRouter(prefix="/p/{slug}", include_in_schema=False)
SHOWN = 7 * DAY
"""Time that the overview looks back."""
_MOST_ACTS = 10
_MOST_READ = 100  # rules that came at once are one of the acts shown
_MOST_DRIFTS = 50
_ENOUGH = 400  # answers of a label, before a fall of 0.10 is more than chance: two standard errors of the difference
_LOOKED_AT = 500  # samples, for texts that are none of the choices
_PARTS = ("answered", "refused", "expired", "given_up", "waiting")


@router.get("")
async def get_overview(slug: str, request: Request) -> Response:
    """Show how the project is."""
    visitors = visitors_of(request)
    worker, visitor = await visitors.enter(request, slug)

    def count(desk: Desk) -> dict[str, Any]:
        return {
            **show_project(desk),
            "role": visitor.role_in(worker.project.id),
            "label_list": list(desk.state.labels),
            "feature_list": list(desk.state.features),
            "waiting": waiting_for(desk, visitor.person.id),
        }

    found = await read(worker, count)
    found["rules"] = await from_copy(worker, lambda copy: len(rule_list(copy.state)))
    facts = await asyncio.to_thread(_facts, visitors.service, worker, found["label_list"])
    facts["unseen"] = await asyncio.to_thread(_unseen, worker, found["feature_list"], found["samples"])
    address = str(request.base_url).rstrip("/")
    return render_page(request, "overview.html", visitor=visitor, worker=worker, address=address, **found, **facts)


@router.post("/pause")
async def post_pause_form(slug: str, request: Request) -> Response:
    """Ask nothing until the project is resumed."""
    return await _set_paused(slug, request, paused=True)


@router.post("/resume")
async def post_resume_form(slug: str, request: Request) -> Response:
    """Ask questions again."""
    return await _set_paused(slug, request, paused=False)


async def _set_paused(slug: str, request: Request, *, paused: bool) -> Response:
    worker, visitor = await visitors_of(request).enter(request, slug)
    await checked_form(request, visitor)
    origin = await origin_of(request, visitor.identity(worker.project.id))
    await carry_out(worker, lambda desk: verbs.set_paused(desk, origin, paused=paused), 1, origin)
    return RedirectResponse(f"/p/{slug}", 303)


def _facts(service: Service, worker: Worker, labels: list[Label]) -> dict[str, Any]:
    """Return what the tables say of the project of `worker`."""
    now, project = now_us(), worker.project.id
    since = now - SHOWN
    with service.reader.connect() as connection:
        counts = count_since(connection, project, since)
        judged = judged_since(connection, project, since)
        found = read_activity(connection, project, _MOST_DRIFTS, kinds=["model.drift"])
        stops = read_activity(connection, project, 1, kinds=["epoch."])
        days = _days(connection, project, now)
        chart = _chart(connection, project, since, now)
        reasons = asked_reasons(connection, project)
        taught = taught_since(connection, project, since)
    begin = judged[0].at if judged else since
    drifts = [Drift(h.at, str(h.args.get("label"))) for h in found if h.at >= begin]
    quality = label_rows(labels, judged, begin, now, drifts)
    checks = _checks(service, worker, counts, quality, now)
    return {
        "now": now,
        "counts": counts,
        "bar": question_bar(counts.causes),
        "quality": quality,
        "begin": begin,
        "ticks": ticks(begin, now),
        "drifts": [describe(h) for h in found if h.at >= begin],
        "stop": _last_stop(stops, now),
        "days": days,
        "chart": chart,
        "reasons": reasons,
        "taught": taught,
        "checks": checks,
        "wrong": [check for check in checks if not check.holds],
    }


def _unseen(worker: Worker, features: list[Feature], seen: int) -> dict[str, Any] | None:
    """Return how many texts of the last samples of the `seen` are none of the choices, and the one found most often.

    None if there is no such text.
    """
    if not any(feature.choices for feature in features):
        return None
    with worker.reading() as connection:
        found = count_unseen(features, cells_before(connection, worker.project.id, seen, _LOOKED_AT))
    if not found:
        return None
    (name, text), _ = found.most_common(1)[0]
    return {"n": found.total(), "of": min(seen, _LOOKED_AT), "feature": name, "text": text}


def _days(connection: Connection, project: int, now: int) -> list[Any]:
    """Return the last things that happened, by day."""
    happened = describe_all(read_activity(connection, project, _MOST_READ))[:_MOST_ACTS]
    answered = answers_by_day(connection, project, happened[-1].seq if happened else 0, day=day_of)
    return by_day([*happened, *map(describe_answers, answered)], now)


def _chart(connection: Connection, project: int, since: int, now: int) -> BarChart | None:
    """Return samples and questions over time, since the first of them; None if there are none."""
    rows = summed(connection, project, since, now, 60)
    if not rows:
        return None
    begin = rows[0]["minute"] * 60_000_000
    if (step := step_of(begin, now)) < 60:
        rows = summed(connection, project, begin, now, step)
        begin = min(begin, now - HOUR // 2)
    return bar_chart(rows, ["samples", "asked"], begin, now)


def _last_stop(stops: list[Happening], now: int) -> str | None:
    """Return the last stop in words, if it was within a day."""
    return describe(stops[0]).title if stops and now - stops[0].at < DAY else None


def _checks(service: Service, worker: Worker, counts: Counts, quality: LabelRows, now: int) -> list[Check]:
    is_file = service.url.get_backend_name() == "sqlite"
    falls = [(row.name, row.change or 0.0) for row in quality.rows if row.judged >= _ENOUGH and not row.drifts]
    found = [
        health.check_writes(ready=worker.is_ready),
        health.check_arrival(counts.last_sample, counts.usual_gap, now),
        health.check_disk(free_bytes(service.url), service.limits.min_free),
        health.check_backup(last_backup(service.url), worker.project.created, now) if is_file else None,
        health.check_snapshot(worker.head.seq, counts.snapshot_seq),
        health.check_expired(counts.causes),
        health.check_waiting(counts.oldest_waiting, now),
        health.check_quality(falls),
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
