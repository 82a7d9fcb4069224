"""Charts as numbers for SVG, in per cent of their width and height: bars over time, marks, parts of an output."""

import datetime
import math
from collections.abc import Sequence
from itertools import accumulate
from typing import Any, NamedTuple

from evolabel.server.log.times import DAY, HOUR, MINUTE, SECOND, local_time
from evolabel.server.pages import texts
from evolabel.server.pages.render import plain_number
from evolabel.server.pages.texts import decimal_text
from evolabel.server.project.settings import Feature

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
    n = max((end - begin) // (step * MINUTE) + 1, 1)
    width, first = 100.0 / n, begin // MINUTE
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
        times = {f"{local_time(at):%H:%M}": at for at in (begin + span * i // _TICKS for i in reversed(range(_TICKS)))}
        return [Tick(round(100.0 * (at - begin) / span, 2), text) for text, at in reversed(times.items())]
    found, midnight = list[Tick](), _midnight(local_time(begin) + datetime.timedelta(days=1))
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
        at = row["minute"] * MINUTE
        if span >= 2 * DAY:
            key = round(_midnight(local_time(at)).timestamp()) * SECOND
        else:
            length = HOUR if span > 2 * HOUR else 10 * MINUTE
            key = at // length * length
        kept = rows.setdefault(key, {"at": key, **dict.fromkeys(columns, 0)})
        for name in columns:
            kept[name] += row[name]
    return list(rows.values())[::-1]


def _midnight(moment: datetime.datetime) -> datetime.datetime:
    return moment.replace(hour=0, minute=0, second=0, microsecond=0)


_MOST_FEATURES = 12  # with bars of their own; the others share one
_STEPS = 5  # between ticks, at most


class FallRow(NamedTuple):
    """A bar: what it stands for, its place and width in per cent, where it begins and ends, and its number as text.

    `kind` is base, up, down, zero or total; `part` is feature, others, a kind of rules, feedback, base or output.
    """

    part: str
    name: str
    value: str
    kind: str
    x: float
    width: float
    start: float
    end: float
    gives: str


class Waterfall(NamedTuple):
    """The rows of the chart, ticks as place and text, and the place of the threshold, in per cent."""

    rows: tuple[FallRow, ...]
    ticks: tuple[tuple[float, str], ...]
    limit: float | None


def waterfall(now: dict[str, Any], features: Sequence[Feature]) -> Waterfall:
    """Return the chart of the explanation `now` (`explain_label`) of a sample with these `features`."""
    parts = _parts(now, {feature.name: feature for feature in features})
    levels: list[float] = list(accumulate([now["base"], *(gives for *_, gives in parts)]))
    marks: list[float] = [0.0, *levels, *([] if now["threshold"] is None else [now["threshold"]])]
    step = _tick_step(max(marks) - min(marks))
    low, high = step * math.floor(min(marks) / step + 1e-9), step * math.ceil(max(marks) / step - 1e-9)

    def place(value: float) -> float:
        return round(100.0 * (value - low) / ((high - low) or 1.0), 2)

    def bar(part: str, name: str, value: str, kind: str, *, start: float, end: float, gives: str) -> FallRow:
        left, right = sorted((place(start), place(end)))
        return FallRow(part, name, value, kind, left, round(right - left, 2), place(start), place(end), gives)

    rows = [bar("base", "", "", "base", start=0.0, end=now["base"], gives=plain_number(now["base"], 2))]
    for (part, name, value, gives), start, end in zip(parts, levels[:-1], levels[1:], strict=True):
        kind = "zero" if abs(gives) < 0.005 else "up" if gives > 0.0 else "down"
        sign = "+" if kind == "up" else ""
        shown = f"{sign}{plain_number(gives if kind != 'zero' else 0.0, 2)}"
        rows.append(bar(part, name, value, kind, start=start, end=end, gives=shown))
    rows.append(bar("output", "", "", "total", start=0.0, end=now["output"], gives=plain_number(now["output"], 2)))
    limit = None if now["threshold"] is None else place(now["threshold"])
    ticks = [low + step * i for i in range(round((high - low) / step) + 1)]
    texts = tuple((place(tick), plain_number(tick, 1 if step >= 0.1 else 2)) for tick in ticks)
    return Waterfall(tuple(rows), texts, limit)


def value_text(value: float | str | None, unit: str) -> str:
    """Return a `value` of a sample with its `unit`; an empty text for a missing one."""
    if value is None:
        return ""
    shown = value if isinstance(value, str) else decimal_text(f"{value:.4g}")
    return f"{shown}\u00a0{unit}" if unit else shown


def _parts(now: dict[str, Any], features: dict[str, Feature]) -> list[tuple[str, str, str, float]]:
    """Return kind, name, value and number of each part of `now`: features first, those that give most at the top."""
    own = [part for part in now["parts"] if part["kind"] == "feature"]
    own.sort(key=lambda part: -abs(part["gives"]))
    shown, rest = (own, []) if len(own) <= _MOST_FEATURES else (own[: _MOST_FEATURES - 1], own[_MOST_FEATURES - 1 :])
    rows = []
    for part in shown:
        feature = features[part["name"]]
        value = value_text(part["value"], feature.unit)
        rows.append(("feature", feature.title or feature.name, value, float(part["gives"])))
    if rest:
        rows.append(("others", str(len(rest)), "", float(sum(part["gives"] for part in rest))))
    rows += [(part["kind"], "", "", float(part["gives"])) for part in now["parts"] if part["kind"] != "feature"]
    return [*rows, ("feedback", "", "", float(now["feedback"]))]


def _tick_step(span: float) -> float:
    """Return 1, 2 or 5 times a power of ten, of which `span` has at most five."""
    power = 10.0 ** math.floor(math.log10(max(span, 1e-3) / _STEPS))
    return next(factor * power for factor in (1.0, 2.0, 5.0, 10.0) if factor * power * _STEPS >= span)
