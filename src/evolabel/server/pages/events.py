"""The page of events; what happened in words: a title, a second line and an icon for each act, by its kind."""

import datetime
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import Annotated, Any, NamedTuple

from fastapi import APIRouter, Query, Request, Response
from sqlalchemy import Connection

from evolabel.core.events import OF_POSITIVES
from evolabel.server.http.access import Entered, access_of
from evolabel.server.log.activity import ActivityItem, people_in, read_activity
from evolabel.server.log.times import local_time, now_us
from evolabel.server.pages import texts
from evolabel.server.pages.render import project_page
from evolabel.server.pages.visitors import Entrant
from evolabel.server.project.statistics import DayOfAnswers, answers_by_day

_ICONS = {
    "epoch": "power", "settings": "pen", "paused": "pause", "resumed": "play", "label": "label", "rule": "pen",
    "act": "undo", "project": "plus", "model.drift": "drift", "model.inputs_moved": "drift",
    "model.correction_dropped": "drift", "model.sensor_moved": "drift", "model.recovered": "yes",
    "model.settled": "yes", "model.renewed": "spark", "model.merge": "merge", "model.death": "no", "model": "spark",
    "answers": "chat", "rebuild": "no", "decision": "yes", "file.stopped": "pause", "file": "play",
}  # fmt: skip
_TONES = {
    "epoch": "good", "model.drift": "warn", "model.sensor_moved": "warn", "model.inputs_moved": "warn",
    "model.correction_dropped": "warn", "rebuild": "warn",
}  # fmt: skip
_MOST_SINGLE = 3  # events of one kind and record that are shown one by one


class Described(NamedTuple):
    """Something that happened, in words; `tone` is good, warn or empty, `seq` its record."""

    at: int
    icon: str
    tone: str
    title: str
    more: str
    seq: int


class DayOfActivity(NamedTuple):
    """A day, as a heading, and what happened on it, newest first."""

    heading: str
    found: list[Described]


def describe(item: ActivityItem, n: int = 1) -> Described:
    """Return `item` in words, or `n` of them that one record made."""
    kind, args = item.kind, item.args
    key = kind.replace(".", "_")
    if kind == "epoch.started" and args.get("cause") != "start":
        key = "epoch_recovered"
    if kind == "model.drift" and args.get("note") == OF_POSITIVES:
        key = "model_drift_of_positives"
    if kind == "file.stopped" and args.get("error"):
        key = "file_failed"
    if n > 1:
        key = f"{key}_many"
    known = texts.catalogue()
    values = _Values(args, who=item.person or texts.text("activity.somebody"), kind=kind, n=n, back=item.at)
    title = known.get(f"activity.{key}", known["activity.other"]).format_map(values)
    more = known.get(f"activity.{key}_more", "").format_map(values)
    return Described(item.at, _by_kind(_ICONS, kind, "info"), _by_kind(_TONES, kind, ""), title, more, item.seq)


def describe_all(items: Iterable[ActivityItem]) -> Iterator[Described]:
    """Yield `items` in words, in their order; more than three of one kind that one record made are one line."""
    for _, group in groupby(items, key=lambda item: (item.seq, item.kind)):
        same = list(group)
        many = len(same) > _MOST_SINGLE and f"activity.{same[0].kind.replace('.', '_')}_many" in texts.catalogue()
        yield from [describe(same[0], len(same))] if many else [describe(h) for h in same]


def describe_answers(answered: DayOfAnswers) -> Described:
    """Return what a person has `answered` on a day, in words."""
    counts = answered.counts
    title = texts.counted("activity.answers", counts.answers, who=answered.person)
    parts = []
    if counts.seconds is not None:
        seconds = texts.decimal_text(f"{counts.seconds:.1f}")
        parts.append(texts.text("activity.answers_each", seconds=seconds))
    if counts.refused:
        parts.append(texts.text("activity.answers_refused", n=counts.refused))
    return Described(answered.at, "chat", "", title, ", ".join(parts), answered.seq)


def by_day(found: Sequence[Described], now: int) -> list[DayOfActivity]:
    """Return what was `found` by day of the server's time zone at time `now`, newest first."""
    order = sorted(found, key=lambda item: -item.at)  # of the same time: as they came
    days = groupby(order, key=lambda item: day_of(item.at))
    return [DayOfActivity(_heading(day, day_of(now)), list(items)) for day, items in days]


def _heading(day: datetime.date, today: datetime.date) -> str:
    """Return the heading of a `day`, seen from `today`."""
    date = texts.date_text(day, year=day.year != today.year)
    days = (today - day).days
    if days in (0, 1):
        return texts.text("activity.today" if days == 0 else "activity.yesterday", date=date)
    return texts.text("activity.day", weekday=texts.text(f"weekday.d{day.weekday()}"), date=date)


class _Values(dict[str, Any]):
    """Values of a text: times and numbers as people read them, and a dash for what is missing."""

    def __init__(self, args: dict[str, Any], **others: Any) -> None:
        super().__init__(args, **others)

    def __getitem__(self, name: str) -> str:
        value = self.get(name)
        if value is None:
            return "\u2013"
        if name in ("stopped", "back"):
            return local_time(value).strftime("%H:%M")
        if name == "changed":
            return ", ".join(f"{key.replace('_', ' ')} {_plain(new)}" for key, new in value.items())
        return _plain(value)


def _plain(value: Any) -> str:
    if isinstance(value, bool):
        return texts.text("activity.on" if value else "activity.off")
    return texts.decimal_text(f"{value:.3g}") if isinstance(value, float) else f"{value}"


def _by_kind(table: dict[str, str], kind: str, otherwise: str) -> str:
    """Return the entry of `table` for `kind`, or for its first word."""
    return table.get(kind) or table.get(kind.partition(".")[0], otherwise)


def day_of(at: int) -> datetime.date:
    """Return the day of time `at`, in the time zone of the server."""
    return local_time(at).date()


router = APIRouter(prefix="/p/{slug}", include_in_schema=False)

ACT_KINDS = ("decision", "settings.", "paused", "resumed", "label.", "rule.", "act.", "project.", "annotator.", "file.")
"""Beginnings of the kinds of acts of people."""
SERVER_KINDS = ("epoch.", "library.", "model.rebuilt", "model.replaced", "fitted", "backup", "redacted")
"""Beginnings of the kinds of what the service did."""
_KINDS = {"all": ("",), "acts": ACT_KINDS, "answers": (), "rules": ("model.",), "server": SERVER_KINDS}
_MOST = 100


@router.get("/events")
async def get_events_page(
    worker: Entered,
    visitor: Entrant,
    request: Request,
    *,
    kind: str = "all",
    person: str = "",
    before: Annotated[int, Query(ge=1)] = 2**62,
) -> Response:
    """Show what happened before record `before`, of a `kind` and by a `person`, newest first."""
    kind = kind if kind in _KINDS else "all"

    def find(connection: Connection) -> dict[str, Any]:
        found = _found(connection, worker.project.id, kind, person, min(before, 2**62))
        return {**found, "people": people_in(connection, worker.project.id)}

    shown = await access_of(request).read(find)
    return await project_page(
        request, "events.html", visitor=visitor, worker=worker, kind=kind, kinds=list(_KINDS), person=person, **shown
    )


def _found(connection: Connection, project_id: int, kind: str, person: str, before: int) -> dict[str, Any]:
    """Return the days to show, and the record before which earlier ones are, or None."""
    kinds, who = _KINDS[kind], person or None
    happened = read_activity(connection, project_id, _MOST, before=before, kinds=kinds, person=who) if kinds else []
    earlier = happened[-1].seq if len(happened) == _MOST else None
    if earlier is not None:  # records are whole: the last may be cut
        happened = [h for h in happened if h.seq > earlier] or happened
        earlier = happened[-1].seq
    found = list(describe_all(happened))
    if kind in ("all", "answers"):
        answered = answers_by_day(connection, project_id, (earlier or 1) - 1, before, day=day_of, person=who)
        found += [describe_answers(item) for item in answered]
    return {"days": by_day(found, now_us()), "earlier": earlier}
