"""Search of changes that turn labels, feature by feature over the range seen, by predictions alone.

It finds what the slopes of the active rules do not show: changes that other rules answer for, far from the sample.
Every feature is moved in steps towards both ends of its range; the first step that turns a label is then narrowed.
Counterfactuals of all kinds are chosen from rows that differ from the sample in one feature.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from evolabel.model.protocols import Model
from evolabel.stages.rules.stream_terms import scaled_moments
from evolabel.typing import BoolArray, FloatArray, IntArray
from evolabel.words.text_columns import flag_features, text_columns

DIGITS = 4  # printed of a value; more where the change is smaller
_TINY = float(np.finfo(np.float64).tiny)  # what is smaller is printed with the digits of the change: it lies beside 0
_LAST_PLACE = -323  # power of ten below which there are no numbers
_MAX_SEARCHED = 64  # features, those whose slope times spread is largest
_STEPS = 16  # towards each end of the range
_PARTS = np.linspace(0.0, 1.0, 9)  # of a step, and of a part of it
_NARROWED = 2  # times
_MORE = 2  # features that are narrowed beyond those needed, because sizes change by it

Texts = dict[int, list[int]]
"""For each 0/1 feature of a categorical column the features of the whole column, by their numbers; none for a flag."""

TurnedFunction = Callable[[FloatArray], BoolArray]
"""Which labels of raw rows (n, n_features) are turned, (n, n_labels)."""


class FeatureChange(NamedTuple):
    """A feature by its number, its new raw value, and the change in standard deviations of the scaled stream."""

    feature: int
    after: float
    size: float


class _Step(NamedTuple):
    """A step of `feature` by which `label` turns, between two scores."""

    label: int
    feature: int
    start: float
    end: float


def search_changes(
    model: Model,
    x: FloatArray,
    slopes: FloatArray,
    labels: IntArray,
    turned: TurnedFunction,
    *,
    texts: Texts,
    needed: int,
) -> list[list[FeatureChange]]:
    """Return for every label of `model` changes of single features of the raw sample `x` that turn it.

    They are searched for those in `labels`, `needed` features each. Tried are features with the largest `slopes`
    (n_features, n_labels), the change of the outputs per unit of each scaled feature; `texts` has those of categorical
    columns. `turned` returns which labels of raw rows the whole model turns.
    """
    found: list[list[FeatureChange]] = [[] for _ in range(slopes.shape[1])]
    features = _searched_features(model, x, np.abs(slopes[:, labels]).max(axis=1, initial=0.0)) if len(labels) else []
    worded = [(j, after) for j in features if j in texts and (after := turned_value(x, j, texts)) is not None]
    if worded:
        are_turned = turned(np.array([changed_row(x, *change, texts) for change in worded]))
        for row, (j, after) in zip(are_turned, worded, strict=True):
            change = sized_change(model, x, j, after, texts)
            for c in labels[row[labels]].tolist():
                found[c].append(change)
    steps = _first_steps(model, x, [j for j in features if j not in texts], labels, turned)
    for step in _narrowed(model, x, _nearest(model, x, steps, needed + _MORE), turned):
        after = rounded_away(float(_moved(model, x, [(step.feature, step.end)])[0, step.feature]), x[step.feature])
        found[step.label].append(sized_change(model, x, step.feature, after, texts))
    return found


def _searched_features(model: Model, x: FloatArray, strength: FloatArray) -> list[int]:
    """Return the numbers of the features of `x` that are there and varied, the strongest first."""
    assert model.scaler is not None
    usable = np.flatnonzero((model.scaler.used > 0) & ~np.isnan(x))
    order = np.argsort(-strength[usable] * scaled_moments(model)[1][usable], kind="stable")
    return [int(j) for j in usable[order[:_MAX_SEARCHED]]]


def _first_steps(
    model: Model, x: FloatArray, features: list[int], labels: IntArray, turned: TurnedFunction
) -> list[_Step]:
    """Return for each of the `labels`, each of the `features` and both directions the first step that turns it."""
    assert model.scaler is not None
    z = model.scale(x[None])[0]
    ends = model.scaler.transform(np.array([-model.ranges[0, 0], model.ranges[1, 0]]))
    ways = [
        (j, np.linspace(z[j], end, _STEPS + 1))
        for j in features
        for end, is_on_side in ((ends[0, j], ends[0, j] < z[j]), (ends[1, j], ends[1, j] > z[j]))
        if is_on_side
    ]
    if not ways:
        return []
    are_turned = turned(_moved(model, x, [(j, score) for j, scores in ways for score in scores[1:]]))
    are_turned = are_turned.reshape(len(ways), _STEPS, -1)
    first = are_turned.argmax(axis=1)
    return [
        _Step(int(c), ways[way][0], float(ways[way][1][first[way, c]]), float(ways[way][1][first[way, c] + 1]))
        for c in labels
        for way in np.flatnonzero(are_turned[:, :, c].any(axis=1))
    ]


def _nearest(model: Model, x: FloatArray, steps: list[_Step], needed: int) -> list[_Step]:
    """Return of each label the `needed` features whose `steps` are nearest to `x`, in standard deviations."""
    z, width = model.scale(x[None])[0], scaled_moments(model)[1]
    ordered = sorted(steps, key=lambda step: abs(step.end - z[step.feature]) / width[step.feature])
    chosen: dict[int, dict[int, _Step]] = {}
    for step in ordered:
        of_label = chosen.setdefault(step.label, {})
        if len(of_label) < needed:
            of_label.setdefault(step.feature, step)
    return [step for of_label in chosen.values() for step in of_label.values()]


def _narrowed(model: Model, x: FloatArray, steps: list[_Step], turned: TurnedFunction) -> list[_Step]:
    """Return the `steps` with the smallest of their parts that turns the label, of which the same is done again."""
    for _ in range(_NARROWED if steps else 0):
        scores = [step.start + (step.end - step.start) * _PARTS for step in steps]
        moves = [(step.feature, score) for step, parts in zip(steps, scores, strict=True) for score in parts[1:]]
        are_turned = turned(_moved(model, x, moves)).reshape(len(steps), len(_PARTS) - 1, -1)
        first = [int(those[:, step.label].argmax()) for step, those in zip(steps, are_turned, strict=True)]
        steps = [
            step._replace(start=float(parts[i]), end=float(parts[i + 1]))
            for step, parts, i in zip(steps, scores, first, strict=True)
        ]
    return steps


def _moved(model: Model, x: FloatArray, moves: list[tuple[int, float]]) -> FloatArray:
    """Return copies of the raw sample `x`, each with one feature at the value of another score, as in `moves`."""
    assert model.scaler is not None
    scores = np.zeros((len(moves), len(x)))
    places = np.arange(len(moves)), [j for j, _ in moves]
    scores[places] = [score for _, score in moves]
    rows = np.repeat(x[None], len(moves), axis=0)
    rows[places] = model.sensors.as_read(model.scaler.inverse(scores))[places]
    return rows


def column_texts(model: Model, features: list[str]) -> Texts:
    """Return the 0/1 features of all categorical columns and flags of `model`, whose features have these names."""
    assert model.scaler is not None
    columns, flags = text_columns(features, model.scaler.binary), flag_features(features)
    return {j: [] if name in flags else column for name, column in columns.items() for j in column}


def turned_value(x: FloatArray, j: int, texts: Texts) -> float | None:
    """Return what feature `j` of `texts` can become in the sample `x`: 1, or 0 if it is a flag; None for neither."""
    if x[j] == 0.0:
        return 1.0
    return 0.0 if x[j] == 1.0 and not texts[j] else None


def changed_row(x: FloatArray, j: int, value: float, texts: Texts) -> FloatArray:
    """Return a copy of `x` with feature `j` at `value`; other `texts` of its column become 0."""
    other = x.copy()
    other[texts.get(j, [])] = 0.0
    other[j] = value
    return other


def sized_change(model: Model, x: FloatArray, j: int, value: float, texts: Texts) -> FeatureChange:
    """Return the change of feature `j` of the raw sample `x` to `value`, with its size."""
    pair = model.scale(np.array([x, changed_row(x, j, value, texts)]))
    moved = np.nan_to_num(pair[1] - pair[0]) / scaled_moments(model)[1]
    return FeatureChange(j, value, float(np.linalg.norm(moved)))


def rounded_away(value: float, start: float) -> float:
    """Return `value` with four digits, not nearer to `start` than it is; with more where the two are closer.

    Examples
    --------
    >>> rounded_away(5.30251, 6.344), rounded_away(1400.12, 1390.0), rounded_away(0.0, 1.0)
    (5.302, 1401.0, 0.0)
    >>> rounded_away(1700000210.123, 1700000123.25), rounded_away(5e-324, -1.2)
    (1700000211.0, 0.001)
    """
    if value == 0.0 or value == start or not np.isfinite(value):
        return value
    change = abs(value - start)
    first = int(np.floor(np.log10(abs(value) if abs(value) >= _TINY else max(abs(value), change))))
    last = max(min(first - DIGITS + 1, int(np.floor(np.log10(change))) - 1), _LAST_PLACE)
    unit = 10.0**last
    steps = value / unit or np.copysign(0.5, value)  # of a value beside 0 the quotient may be too small for a number
    steps = np.ceil(steps) if value > start else np.floor(steps)
    return float(f"{steps * unit:.{min(first - last + 1, 17)}g}")
