"""Columns of timestamps as three features: the hour of the day, the weekday, and the days since a first timestamp."""

from collections.abc import Callable, Sequence
from datetime import datetime, timedelta

import numpy as np

from evolabel.errors import DataError
from evolabel.typing import FloatArray

_PARTS = ("hour", "weekday", "days")
_POINTS = (
    "%d.%m.%Y %H:%M:%S",
    "%d.%m.%Y %H:%M",
    "%d.%m.%Y",
)  # besides ISO 8601; with slashes day and month are unclear
_EXPECTED = "expected a timestamp as 2026-03-01 08:30 or 01.03.2026 08:30, or nothing where it is missing"


def time_feature_names(column: str) -> list[str]:
    """Return the names of the features of the time `column`, such as time_hour, time_weekday and time_days."""
    return [f"{column}_{part}" for part in _PARTS]


def parse_times(name: str, texts: Sequence[str | None], describe_row: Callable[[int], str]) -> list[datetime | None]:
    """Return the timestamps in `texts`; None where one is missing.

    DataError with the column `name` and `describe_row` of the row if a text is no timestamp, or if only some of the
    texts have a time zone.
    """
    times = list[datetime | None]()
    zoned: bool | None = None
    for row, text in enumerate(texts):
        time = None
        if text and text.lower() != "none":
            time = _parse(text)
            if time is None:
                raise DataError(f"{describe_row(row)}: {name!r} is {text!r}; {_EXPECTED}")
            zoned = _has_zone(time) if zoned is None else zoned
            if _has_zone(time) != zoned:
                kinds = ("a time zone", "none") if _has_zone(time) else ("no time zone", "one")
                raise DataError(
                    f"{describe_row(row)}: {name!r} is {text!r}, with {kinds[0]}, those before have {kinds[1]}; "
                    "write all timestamps of a column alike"
                )
        times.append(time)
    return times


def first_time(name: str, times: Sequence[datetime | None]) -> str:
    """Return the first of `times` that is not missing as text; DataError with the column `name` if all are missing."""
    first = next((time for time in times if time is not None), None)
    if first is None:
        raise DataError(f"time column {name!r} has no timestamp; leave it out")
    return first.isoformat(sep=" ")


def time_features(
    name: str, texts: Sequence[str | None], origin: str, describe_row: Callable[[int], str]
) -> FloatArray:
    """Return hour of the day, weekday (Monday is 0) and days since `origin` for each of `texts`, (n, 3).

    The hour and the weekday are those written, whatever the time zone. Missing timestamps are NaN; errors are those of
    `parse_times` of the column `name`, also where only one of the timestamps and `origin` has a time zone.
    """
    start, *times = parse_times(name, [origin, *texts], lambda row: describe_row(row - 1))
    assert start is not None
    features = [(np.nan,) * 3 if time is None else _features(time, start) for time in times]
    return np.array(features, dtype=np.float64).reshape(len(times), len(_PARTS))


def _features(time: datetime, start: datetime) -> tuple[float, float, float]:
    hour = time.hour + time.minute / 60 + (time.second + time.microsecond / 1e6) / 3600
    return hour, float(time.weekday()), (time - start).total_seconds() / 86400


def timestamp_at(origin: str, days: float) -> str:
    """Return the timestamp that is `days` after `origin` as text, in its time zone, exact to a millisecond."""
    start = _parse(origin)
    assert start is not None
    return (start + timedelta(milliseconds=round(days * 86_400_000))).isoformat(sep=" ")


def is_timestamp(text: str) -> bool:
    """Return whether `text` can be read as a timestamp."""
    return _parse(text) is not None


def _parse(text: str) -> datetime | None:
    """Return the timestamp in `text`, None if there is none."""
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        pass
    for form in _POINTS:
        try:
            return datetime.strptime(text, form)
        except ValueError:
            continue
    return None


def _has_zone(time: datetime) -> bool:
    return time.utcoffset() is not None
