"""Charts as numbers for SVG, in per cent of its width and height: bars over time, ticks of the time axis, marks."""

import datetime
from collections.abc import Sequence
from typing import NamedTuple

from evolabel.server.log.times import DAY, HOUR, SECOND
from evolabel.server.pages import texts

_MINUTE = 60 * SECOND
_TICKS = 4  # of a span shorter than two days


class Tick(NamedTuple):
    """A time on the axis: its place, and its text."""

    x: float
    text: str


class Bar(NamedTuple):
    """A bar: its left end, top, width and height."""

    x: float
    y: float
    width: float
    height: float


class Bars(NamedTuple):
    """Bars of one count: its name, its sum, the largest of the bars."""

    name: str
    total: int
    most: int
    bars: list[Bar]


class BarChart(NamedTuple):
    """Counts over time: `step` is minute or hour, `rows` are those of its table, by their time."""

    step: str
    bars: list[Bars]
    rows: list[dict[str, int]]
    ticks: list[Tick]


def step_of(begin: int, end: int) -> int:
    """Return the minutes of a bar of a chart from the time `begin` to `end`: 1 for up to two hours, else 60."""
    return 1 if end - begin <= 2 * HOUR else 60


def bar_chart(sums: Sequence[dict[str, int]], columns: Sequence[str], begin: int, end: int) -> BarChart:
    """Return the chart of `columns` of `sums`, which have a `minute` each, from the time `begin` to `end`."""
    step = step_of(begin, end)
    n = max((end - begin) // (step * _MINUTE) + 1, 1)
    width, first = 100.0 / n, begin // _MINUTE
    found = []
    for name in columns:
        most = max((row[name] for row in sums), default=0)
        bars = [
            Bar(
                round((row["minute"] - first) // step * width, 3), round(100.0 - 100.0 * row[name] / most, 2),
                round(0.8 * width, 3), round(100.0 * row[name] / most, 2),
            )
            for row in sums
            if row[name]
        ]  # fmt: skip
        found.append(Bars(name, sum(row[name] for row in sums), most, bars))
    return BarChart("minute" if step == 1 else "hour", found, _table(sums, columns, begin, end), ticks(begin, end))


def ticks(begin: int, end: int) -> list[Tick]:
    """Return the ticks of an axis from the time `begin` to `end`: midnights, or times of the day for a short span."""
    span = max(end - begin, 1)
    if span < 2 * DAY:
        times = {f"{_moment(at):%H:%M}": at for at in (begin + span * i // _TICKS for i in reversed(range(_TICKS)))}
        return [Tick(round(100.0 * (at - begin) / span, 2), text) for text, at in reversed(times.items())]
    found, midnight = list[Tick](), _midnight(_moment(begin) + datetime.timedelta(days=1))
    while (at := round(midnight.timestamp()) * SECOND) < end:
        found.append(Tick(round(100.0 * (at - begin) / span, 2), texts.text(f"weekday.s{midnight.weekday()}")))
        midnight = _midnight(midnight + datetime.timedelta(days=1, hours=2))
    return found


def place(at: int, begin: int, end: int) -> float:
    """Return the place of time `at` on an axis from `begin` to `end`."""
    return round(100.0 * min(max((at - begin) / max(end - begin, 1), 0.0), 1.0), 2)


def _table(sums: Sequence[dict[str, int]], columns: Sequence[str], begin: int, end: int) -> list[dict[str, int]]:
    """Return `columns` of `sums` per day, per hour or per ten minutes, by the length of the time, newest first."""
    span, rows = end - begin, dict[int, dict[str, int]]()
    for row in sums:
        at = row["minute"] * _MINUTE
        if span >= 2 * DAY:
            key = round(_midnight(_moment(at)).timestamp()) * SECOND
        else:
            length = HOUR if span > 2 * HOUR else 10 * _MINUTE
            key = at // length * length
        kept = rows.setdefault(key, {"at": key, **dict.fromkeys(columns, 0)})
        for name in columns:
            kept[name] += row[name]
    return list(rows.values())[::-1]


def _midnight(moment: datetime.datetime) -> datetime.datetime:
    return moment.replace(hour=0, minute=0, second=0, microsecond=0)


def _moment(at: int) -> datetime.datetime:
    return datetime.datetime.fromtimestamp(at // SECOND, datetime.UTC).astimezone()
