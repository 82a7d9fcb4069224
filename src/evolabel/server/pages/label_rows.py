"""How often the model was right on answered labels: one row per label, on one scale, worst first."""

import math
from bisect import bisect_left
from collections.abc import Sequence
from typing import NamedTuple

from evolabel.server.pages.charts import place
from evolabel.server.project.settings import Label
from evolabel.server.project.statistics import Judgement

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
