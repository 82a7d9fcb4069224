"""Routes of what happened: statistics, activity, the records of the log."""

from datetime import UTC, datetime
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from fastapi.responses import StreamingResponse

from evolabel._utils.table_lines import json_lines
from evolabel.server.http.access import Actor, AppAccess, Entered, Entrant, read
from evolabel.server.http.problems import ProblemError
from evolabel.server.http.schemas import After, Limit
from evolabel.server.http.streams import streams_of
from evolabel.server.log.activity import activity_after
from evolabel.server.log.schema import LIMITS
from evolabel.server.log.times import DAY, HOUR, MINUTE, SECOND, now_us, readable_times
from evolabel.server.people.audit import write_audit
from evolabel.server.project.exports import log_rows
from evolabel.server.project.reading import show_project
from evolabel.server.project.statistics import summed, summed_labels

router = APIRouter(prefix="/api/v1/projects/{slug}", tags=["activity"])

MOST_STEPS = 11_000  # rows of one answer; 7 days of minutes are 10 080
_STREAM = 'id: 91840\nevent: question\ndata: {"number":88121,"labels":["leak"]}\n\n'
Since = Annotated[datetime | None, Query(alias="from", examples=["2026-11-16T00:00:00Z"])]
Until = Annotated[datetime | None, Query(alias="to", examples=["2026-11-17T00:00:00Z"])]
Step = Annotated[int, Query(ge=1, le=60 * 24 * 366, description="minutes of a row")]


def _example(**facts: Any) -> dict[int | str, dict[str, Any]]:
    return {200: {"content": {"application/json": {"example": facts}}}}


@router.get(
    "/stats",
    responses=_example(
        step=60,
        rows=[{"at": "2026-11-16T14:00:00Z", "samples": 540, "asked": 3, "answered": 2, "held": {"per_hour": 1}}],
        budget={"per": "labels", "promised": 0.005, "asked": 0.0028},
    ),
)
async def get_stats(
    worker: Entered, access: AppAccess, since: Since = None, until: Until = None, step: Step = 60
) -> dict[str, Any]:
    """Return samples, questions by what became of them, and questions held back, summed over `step` minutes.

    Without `from` and `to` they are those of the last day. Steps in which nothing happened are left out.
    """
    first, last = _span(since, until)
    if (last - first) // (MINUTE * step) > MOST_STEPS:
        days = (last - first) / DAY
        detail = f"{days:.1f} days are more than {MOST_STEPS} steps of {step} minutes"
        raise ProblemError(422, "invalid", f"{detail}; ask for a shorter time or longer steps")
    rows = await access.read(lambda c: summed(c, worker.project.id, first, last, step))
    project = await read(worker, show_project)
    settings = project["settings"]
    budget = {"per": settings["per"], "promised": settings["budget"], "asked": project["share_asked"]}
    return {"step": step, "rows": list(map(_shown_sums, rows)), "budget": budget}


@router.get(
    "/stats/labels",
    responses=_example(rows=[{"at": "2026-11-16T14:00:00Z", "label": "leak", "asked": 3, "judged": 2, "right": 2}]),
)
async def get_label_stats(
    worker: Entered, access: AppAccess, since: Since = None, until: Until = None
) -> dict[str, Any]:
    """Return per hour and label how often it was asked, and how many answers were learned, and predicted right.

    The labels that are asked about are the hard cases. Without `from` and `to` the last seven days are returned.
    """
    first, last = _span(since, until, 7 * DAY)
    if last - first > 366 * DAY:
        raise ProblemError(422, "invalid", "the time is longer than 366 days; ask for a shorter one")
    rows = await access.read(lambda c: summed_labels(c, worker.project.id, first, last))
    for row in rows:
        row["at"], row["right"] = row.pop("hour") * HOUR, row.pop("correct")
    return readable_times({"rows": rows})


@router.get(
    "/activity",
    responses=_example(
        activity=[{"seq": 912, "kind": "settings.changed", "at": "2026-11-16T14:00:00Z", "person": "Omar", "args": {}}],
        next=912,
    ),
)
async def get_activity(
    worker: Entered,
    access: AppAccess,
    after: After = 0,
    limit: Limit = 100,
    kind: Annotated[str, Query(max_length=100)] = "",
) -> dict[str, Any]:
    """Return what happened behind record `after`, oldest first: acts, stops, and what the model changed.

    `kind` is the beginning of the kinds asked for, such as `model.` or `settings`. Send `next` as `after` for the next
    page; it is null on the last one.
    """
    rows, more = await access.read(lambda c: activity_after(c, worker.project.id, after, limit, kind))
    shown = [{name: value for name, value in row._asdict().items() if name != "part"} for row in rows]
    return readable_times({"activity": shown, "next": rows[-1].seq if more else None})


@router.get(
    "/events",
    response_class=StreamingResponse,
    responses={200: {"content": {"text/event-stream": {"example": _STREAM}}}},
)
async def get_events(worker: Entered, identity: Entrant, access: AppAccess, request: Request) -> StreamingResponse:
    """Return a stream of server-sent events: question, closed, final, waiting, sample, act, state.

    The `id` of an event is the number of its record. A stream with the header `Last-Event-ID` begins behind that
    record; where more than 1000 were missed, it begins with the event `reset`. A comment comes every 15 seconds.
    """

    async def check() -> None:
        access.enter_again(request)

    return await streams_of(request).response(request, worker, identity.person_id, check)


@router.get(
    "/log",
    response_class=StreamingResponse,
    responses={200: {"content": {"application/x-ndjson": {"example": '{"seq":1,"kind":"project.created","v":1}\n'}}}},
)
async def get_log(
    worker: Entered,
    sender: Actor,
    access: AppAccess,
    after: After = 0,
    limit: Annotated[int, Query(ge=1, le=100_000)] = 1000,
) -> StreamingResponse:
    """Return the records behind record `after` with their chain values, one JSON object a line.

    Hashes and chain values are in hexadecimal digits; the chain value of a record is the SHA-256 over that of the one
    before and the record.
    """
    subject = f"{worker.project.slug} {after} {limit}"
    await access.write(lambda c: write_audit(c, "log read", subject, sender))
    rows = log_rows(access.service.reader, worker.project.id, after, limit)
    return StreamingResponse(json_lines(rows), media_type="application/x-ndjson")


def _span(since: datetime | None, until: datetime | None, usual: int = DAY) -> tuple[int, int]:
    """Return the times `since` and `until` in microseconds, by default the `usual` span before now."""
    last = now_us() if until is None else _us(until)
    first = last - usual if since is None else _us(since)
    if first > last:
        raise ProblemError(422, "invalid", "`from` is later than `to`; swap them")
    return first, last


def _us(moment: datetime) -> int:
    """Return `moment` in microseconds since 1970; without a zone it is in UTC."""
    aware = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return round(aware.timestamp()) * SECOND


def _shown_sums(row: dict[str, int]) -> dict[str, Any]:
    """Return a `row` of sums with its time, and what was held back by limit."""
    held = {limit: n for limit in LIMITS if (n := row.pop(f"held_{limit}"))}
    return readable_times({"at": row.pop("minute") * MINUTE}) | row | {"held": held}
