"""A sample as the pages show it: each value beside its usual range and the last values of the same source."""

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from sqlalchemy import Connection

from evolabel.server.pages.render import plain_number
from evolabel.server.pages.texts import decimal_text
from evolabel.server.project.sample_rows import cells_before
from evolabel.server.project.settings import Feature

RECENT = 500
"""Samples that the usual range is taken from."""
CURVE = 60
"""Values in the curve of a feature."""
_FEWEST = 20  # samples before a range is shown
_FEW_CHOICES = 4
_LOW, _HIGH = 20.0, 80.0  # where the usual range lies on its track, in per cent


class Sparkline(NamedTuple):
    """The last values of a feature, as points of an SVG line in a square of 100, and the usual band in per cent."""

    points: str
    first: str
    last: str
    last_y: float
    band_y: float
    band_height: float


class Share(NamedTuple):
    """A choice of a text feature: place and width of its bar in per cent, and whether it is the value."""

    name: str
    x: float
    width: float
    on: bool


class FeatureRow(NamedTuple):
    """One value of a sample; `state` is low, high, missing or empty for a usual one."""

    name: str
    unit: str
    state: str
    value: str
    low: str = ""
    high: str = ""
    dot: float | None = None
    curve: Sparkline | None = None
    shares: tuple[Share, ...] = ()
    share: int | None = None

    @property
    def usual(self) -> bool:
        """Whether there is nothing to note about the value: its `state` is empty."""
        return not self.state


def feature_rows(
    features: Sequence[Feature], x: dict[str, Any], recent: list[list[Any]], own: list[list[Any]]
) -> list[FeatureRow]:
    """Return a row for each of `features` of the sample `x`: unusual ones first, then missing ones, then the rest.

    `recent` are the values of the last samples, `own` those of the same source.
    """
    rows = []
    for place, feature in enumerate(features):
        column, curve = ([sample[place] for sample in samples] for samples in (recent, own))
        make = _text_row if feature.kind == "text" else _number_row
        rows.append(make(feature, x.get(feature.name), column, curve))
    order = {"low": 0, "high": 0, "missing": 1, "": 2}
    return sorted(rows, key=lambda row: order[row.state])


def read_feature_rows(
    connection: Connection, project_id: int, features: Sequence[Feature], shown: dict[str, Any]
) -> tuple[list[FeatureRow], list[list[Any]]]:
    """Return the rows of the sample `shown` with these `features`, and the values of the last samples before it.

    They are read through `connection` from project `project_id`.
    """
    number, source = shown["number"], shown.get("source")
    recent = cells_before(connection, project_id, number, RECENT)
    own = cells_before(connection, project_id, number, CURVE, source) if source else recent[-CURVE:]
    return feature_rows(features, shown["x"], recent, own), recent


def _number_row(feature: Feature, value: float | None, column: list[Any], curve: list[Any]) -> FeatureRow:
    name = feature.title or feature.name
    known = np.array([cell for cell in column if cell is not None], float)
    if known.size < _FEWEST:
        shown = "\u2013" if value is None else decimal_text(f"{value:.4g}")
        return FeatureRow(name, feature.unit, "missing" if value is None else "", shown)
    low, high = (float(bound) for bound in np.quantile(known, [0.05, 0.95]))
    decimals = _decimals(high - low)
    low_text, high_text = plain_number(low, decimals), plain_number(high, decimals)
    if value is None:
        return FeatureRow(name, feature.unit, "missing", "\u2013", low_text, high_text)
    state = "low" if value < low else "high" if value > high else ""
    dot = min(max(_LOW + (_HIGH - _LOW) * (value - low) / ((high - low) or 1.0), 2.5), 97.5)
    line = _curve([cell for cell in curve if cell is not None], low, high, decimals)
    shown = plain_number(value, decimals)
    return FeatureRow(name, feature.unit, state, shown, low_text, high_text, round(dot, 1), line)


def _text_row(feature: Feature, value: str | None, column: list[Any], curve: list[Any]) -> FeatureRow:
    name = feature.title or feature.name
    if value is None:
        return FeatureRow(name, feature.unit, "missing", "\u2013")
    known = [cell for cell in column if cell is not None]
    share = round(100.0 * known.count(value) / len(known)) if len(known) >= _FEWEST else None
    shares: tuple[Share, ...] = ()
    if len(feature.choices) <= _FEW_CHOICES:
        width = 100.0 / len(feature.choices)
        shares = tuple(
            Share(choice, round(i * width + 0.5, 1), round(width - 1.0, 1), choice == value)
            for i, choice in enumerate(feature.choices)
        )
    return FeatureRow(name, feature.unit, "", value, shares=shares, share=share)


def _curve(values: list[float], low: float, high: float, decimals: int) -> Sparkline | None:
    """Return the curve of `values` with the band from `low` to `high`, or None for fewer than two."""
    if len(values) < 2:
        return None
    bottom, top = min(low, *values), max(high, *values)
    span = (top - bottom) or 1.0

    def y(value: float) -> float:
        return round(88.0 - 76.0 * ((value - bottom) / span), 1)

    points = " ".join(f"{100.0 * i / (len(values) - 1):.1f},{y(value)}" for i, value in enumerate(values))
    first, last = (plain_number(value, decimals) for value in (values[0], values[-1]))
    return Sparkline(points, first, last, y(values[-1]), y(high), round(y(low) - y(high), 1))


def _decimals(span: float) -> int:
    """Return the decimals at which values 1 % of `span` apart differ."""
    return 2 if span <= 0.0 else min(max(2 - math.floor(math.log10(span)), 0), 6)
