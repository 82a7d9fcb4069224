"""Counterfactuals: the smallest changes of single features that would turn a label on or off.

With the memberships held fixed, the output is linear in every scaled feature: y_c moves by sum_i psi_i w_ijc per unit
of feature j. So the change that brings a label to its border has a closed form within the active rules. Where threshold
rules or written rules are used for a label, changes that cross an edge on the path of the sample, or an end of a
written rule, are tried as well. What lies farther away is found by a search over all features (`change_search`).

The outputs of the whole model, whose memberships change as well, must confirm a change, or a somewhat larger one of the
same feature, with the digits that are printed. Changes that are not confirmed are not returned.

A categorical column changes as a whole: one of its 0/1 features becomes 1 and the others 0. A flag turns.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from evolabel.explain.change_search import (
    DIGITS,
    FeatureChange,
    Texts,
    TurnedFunction,
    changed_row,
    column_texts,
    rounded_away,
    search_changes,
    sized_change,
    turned_value,
)
from evolabel.explain.shortening import Threshold
from evolabel.model.protocols import Model
from evolabel.stages.rules.stream_terms import scaled_moments
from evolabel.stages.threshold_rules.path import PathEdge
from evolabel.typing import BoolArray, FloatArray, IntArray

_MAX_TRIED = 5  # features per label that the whole model is tried on, those of the smallest changes
_LONGER = (1.0, 1.1, 1.25, 1.5, 2.0, 3.0)  # multiples of such a change that are tried
_SURE = 1e-9  # least gap to the border, so that the last bit of an output does not decide
_PLAIN = 1e-4, 1e15  # values between are printed without an exponent
_BEYOND = 1e-6  # how far past the border an output is brought
_MIN_SLOPE = 1e-12  # smaller slopes count as 0

_STEPS_ACROSS = (0.125, 0.25, 0.375, 0.5, 0.625, 0.75, 0.875, 1.0)  # of the way across a soft edge

OutputFunction = Callable[[FloatArray], FloatArray]
"""Outputs (n, n_labels) of raw rows (n, n_features)."""


@dataclass(frozen=True)
class Counterfactual:
    """A change of `feature` from `before` to `after`, in its own units, that turns `label` on (`turns_on`) or off.

    Both are readings as they come, also of a sensor that moved and is corrected.
    A 0/1 feature of a categorical column goes from 0 to 1, and the others of its column become 0; a flag turns. `size`
    is the change in standard deviations of the scaled stream. `after` has the digits that are printed, and the outputs
    of the whole model turn the label there. `across_threshold`: it crosses an edge of the threshold rules.
    """

    label: str
    turns_on: bool
    feature: str
    before: float
    after: float
    size: float
    across_threshold: bool = False


def find_counterfactuals(
    model: Model,
    x: FloatArray,
    slopes: FloatArray,
    outputs: FloatArray,
    *,
    names: tuple[list[str], list[str]],
    threshold: Threshold,
    answer: OutputFunction,
    edges: Sequence[tuple[PathEdge, ...]] = (),
    n_changes: int = 1,
) -> list[tuple[Counterfactual, ...]]:
    """Return for each label the smallest changes found that turn it, at most `n_changes`, the smallest first.

    Each is of another feature, or of another categorical column, of the raw sample `x`, for which `model` has the
    `outputs`; those of at least `threshold` are on, or the largest one is. By the active rules, outputs change by
    `slopes` (n_features, n_labels) per unit of each scaled feature. `answer` returns the outputs of the model for raw
    rows, which confirm a change, and `names` are those of features and labels. `edges` are, for each label, those on
    the path of the sample through its tree and the ends of written rules; empty where neither are used.
    """
    gaps = _gaps(outputs[None], threshold)[0]
    if threshold is None:
        slopes = slopes - slopes[:, _rivals(outputs)]
    texts = column_texts(model, names[0])

    def turned(rows: FloatArray) -> BoolArray:
        found = _gaps(answer(rows), threshold)
        return np.where(gaps < 0.0, found >= _SURE, found <= -_SURE)

    tried = _candidates(model, x, gaps, slopes, texts)
    for changes, of_label in zip(tried, edges, strict=False):
        changes += _across_edges(model, x, of_label, texts)
    labels = np.flatnonzero(np.isfinite(gaps))
    searched = search_changes(model, x, slopes, labels, turned, texts=texts, needed=n_changes)
    tried = [changes + more for changes, more in zip(tried, searched, strict=True)]
    found = _smallest(_confirmed(x, tried, texts, turned), texts, n_changes)
    ways = zip(names[1], (gaps < 0.0).tolist(), found, edges or [()] * len(gaps), strict=True)
    return [
        tuple(
            Counterfactual(
                label, on, names[0][j], float(x[j]), after, size, across_threshold=_crosses(model, *rows, of_label)
            )
            for j, after, size in changes
            for rows in [(x, changed_row(x, j, after, texts))]
        )
        for label, on, changes, of_label in ways
    ]


def _confirmed(
    x: FloatArray, tried: list[list[FeatureChange]], texts: Texts, turned: TurnedFunction
) -> list[list[FeatureChange]]:
    """Return for each label those of the changes `tried` by which the whole model has it `turned`."""
    rows = [changed_row(x, change.feature, change.after, texts) for changes in tried for change in changes]
    confirmed = iter(turned(np.array(rows)) if rows else ())
    return [[change for change in changes if next(confirmed)[c]] for c, changes in enumerate(tried)]


def _smallest(found: list[list[FeatureChange]], texts: Texts, n_changes: int) -> list[list[FeatureChange]]:
    """Return for each label at most `n_changes` of the smallest changes `found`, each of another feature or column."""
    kept = []
    for changes in found:
        of_column: dict[int, FeatureChange] = {}
        for change in sorted(changes, key=lambda change: change.size):
            of_column.setdefault(min(texts.get(change.feature) or [change.feature]), change)
        kept.append(list(of_column.values())[:n_changes])
    return kept


def _crosses(model: Model, x: FloatArray, changed: FloatArray, edges: tuple[PathEdge, ...]) -> bool:
    """Return whether an edge, with its width, lies between the raw sample `x` and the `changed` one."""
    before, after = model.sensors.corrected(np.array([x, changed]))
    low, high = np.fmin(before, after), np.fmax(before, after)
    return any(before[j] != after[j] and low[j] <= edge + width and high[j] > edge - width for j, edge, width in edges)


def _across_edges(model: Model, x: FloatArray, edges: tuple[PathEdge, ...], texts: Texts) -> list[FeatureChange]:
    """Return changes of `x` that cross one of the `edges`.

    Near an edge both sides answer, so values on the way across are tried, too.
    """
    real = model.sensors.corrected(x[None])[0]
    values: set[tuple[int, float]] = set()
    for j, edge, width in edges:
        if j in texts:
            others = [(other, turned_value(x, other, texts)) for other in texts[j] or [j]]
            values |= {(other, value) for other, value in others if value is not None}
        elif np.isfinite(edge) and not np.isnan(real[j]):
            up = real[j] <= edge
            end = edge + width if up else edge - width
            start = max(real[j], edge - width) if up else min(real[j], edge + width)
            beyond = np.nextafter(end, np.inf) if up else end
            values |= {(j, float(start + (beyond - start) * step)) for step in _STEPS_ACROSS}
    changes = []
    for j, value in sorted(values):
        row = real.copy()
        row[j] = value
        after = value if j in texts else rounded_away(float(model.sensors.as_read(row[None])[0, j]), float(x[j]))
        changes.append(sized_change(model, x, j, after, texts))
    return changes


def change_texts(before: float, after: float) -> tuple[str, str]:
    """Return both values of a change as they are printed: `after` exactly, `before` with as many digits.

    Examples
    --------
    >>> change_texts(4.58741, 4.899), change_texts(1700000123.25, 1700000211.0)
    (('4.587', '4.899'), ('1700000123', '1700000211'))
    """
    digits = next((n for n in range(DIGITS, 17) if float(f"{after:.{n}g}") == after), 17)
    return _positional(before, digits), _positional(after, digits)


def _positional(value: float, digits: int) -> str:
    """Return `value` with this number of `digits`, without an exponent unless it is very large or small."""
    rounded = float(f"{value:.{digits}g}")
    plain = rounded == 0.0 or _PLAIN[0] <= abs(rounded) < _PLAIN[1]
    return np.format_float_positional(rounded, trim="-") if plain else f"{value:.{digits}g}"


def _gaps(outputs: FloatArray, threshold: Threshold) -> FloatArray:
    """Return how far the outputs (rows, n_labels) are above their borders: the threshold, or the best other label."""
    if threshold is not None:
        return outputs - threshold
    return np.array([row - row[_rivals(row)] for row in outputs])


def _rivals(outputs: FloatArray) -> IntArray:
    """Return for every label the one with the largest output among the others; a single label is its own rival."""
    order = np.argsort(-outputs, kind="stable")
    return np.asarray(np.where(np.arange(len(outputs)) == order[0], order[:2][-1], order[0]))


def _candidates(
    model: Model, x: FloatArray, gaps: FloatArray, slopes: FloatArray, texts: Texts
) -> list[list[FeatureChange]]:
    """Return per label the smallest changes that bring its gap across zero, and somewhat larger ones."""
    scaler = model.scaler
    assert scaler is not None
    z = model.scale(x[None])[0]
    slope = slopes.T
    movable = (np.abs(slope) > _MIN_SLOPE) & ~np.isnan(z) & (scaler.used > 0)
    move = -gaps + np.where(gaps < 0.0, _BEYOND, -_BEYOND)
    step = move[:, None] / np.where(movable, slope, 1.0)
    target = np.nan_to_num(z) + step
    movable &= (target >= scaler.low) & (target <= scaler.high)
    width = scaled_moments(model)[1]
    size = np.where(movable, np.abs(step) / width, np.inf)
    words = {j: turned_value(x, j, texts) for j in texts}
    for j, after in words.items():
        moved = model.scale(changed_row(x, j, 1.0 if after is None else after, texts)[None])[0] - z
        turned = gaps + np.nan_to_num(moved) @ slopes
        movable[:, j] = ((turned >= 0.0) != (gaps >= 0.0)) & (after is not None)
        size[:, j] = np.where(movable[:, j], np.linalg.norm(np.nan_to_num(moved) / width), np.inf)
    smallest = np.argsort(size, axis=1, kind="stable")[:, :_MAX_TRIED]
    chosen = [(c, int(j)) for c, features in enumerate(smallest) for j in features if movable[c, j]]
    found: list[list[FeatureChange]] = [[] for _ in gaps]
    for c, j in chosen:
        if (word := words.get(j)) is not None:
            found[c].append(FeatureChange(j, word, float(size[c, j])))
    longer = [(c, j, factor) for c, j in chosen if j not in texts for factor in _LONGER]
    longer = [(c, j, by) for c, j, by in longer if scaler.low <= z[j] + by * step[c, j] <= scaler.high]
    scores = np.zeros((len(longer), len(x)))
    for row, (c, j, factor) in zip(scores, longer, strict=True):
        row[j] = z[j] + factor * step[c, j]
    raw = model.sensors.as_read(scaler.inverse(scores))
    for values, (c, j, factor) in zip(raw, longer, strict=True):
        found[c].append(FeatureChange(j, rounded_away(float(values[j]), float(x[j])), factor * float(size[c, j])))
    return found
