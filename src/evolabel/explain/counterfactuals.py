"""Counterfactuals: the smallest change of a single feature that would turn a label on or off.

With the memberships held fixed, the output is linear in every scaled feature: y_c moves by sum_i psi_i w_ijc per unit
of feature j. So the change that brings a label to its border has a closed form within the active rules. The outputs of
the whole model, whose memberships change as well, must confirm it, or a somewhat larger change of the same feature,
with the digits that are printed. Changes that are not confirmed are not returned.

A categorical column changes as a whole: one of its 0/1 features becomes 1 and the others 0.

Where threshold rules or written rules have a say in a label, the changes that are tried are those that cross an edge on
the path of the sample, or an end of a written rule.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from evolabel.core.members.mixture import corrected
from evolabel.core.protocols import Model
from evolabel.explain.shortening import Threshold
from evolabel.explain.terms import scaled_moments
from evolabel.explain.text_columns import text_columns
from evolabel.explain.threshold_path import PathEdge
from evolabel.typing import FloatArray, IntArray

_MAX_TRIED = 5  # features per label that the whole model is tried on, those of the smallest changes
_LONGER = (1.0, 1.1, 1.25, 1.5, 2.0, 3.0)  # multiples of such a change that are tried
_SURE = 1e-9  # least gap to the border, so that the last bit of an output does not decide
_PLAIN = 1e-4, 1e15  # values between are printed without an exponent
_DIGITS = 4  # printed of a value; more where the change is smaller
_BEYOND = 1e-6  # how far past the border an output is brought
_MIN_SLOPE = 1e-12  # smaller slopes count as 0

_STEPS_ACROSS = (0.125, 0.25, 0.375, 0.5, 0.625, 0.75, 0.875, 1.0)  # of the way across a soft edge

OutputFunction = Callable[[FloatArray], FloatArray]
"""Outputs (n, n_labels) of raw rows (n, n_features)."""

_Texts = dict[int, list[int]]
"""For each 0/1 feature of a categorical column the features of the whole column, by their numbers."""


@dataclass(frozen=True)
class Counterfactual:
    """A change of `feature` from `before` to `after`, in its own units, that turns `label` on (`turns_on`) or off.

    Both are readings as they come, also of a sensor that moved and is corrected.
    A 0/1 feature of a categorical column goes from 0 to 1, and the others of its column become 0. `size` is the change
    in standard deviations of the scaled stream. `after` has the digits that are printed, and the outputs of the whole
    model turn the label there. `across_threshold`: it crosses an edge of the threshold rules.
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
) -> list[Counterfactual | None]:
    """Return for each label the smallest change found that turns it; None where none was found.

    Parameters
    ----------
    model : Model
    x : array of shape (n_features,)
        The raw sample.
    slopes : array of shape (n_features, n_labels)
        Change of the outputs per unit of each scaled feature, of the active rules.
    outputs : array of shape (n_labels,)
        Outputs for `x`.
    names : tuple of two lists of str
        Names of the features and of the labels.
    threshold : array, float or None
        Outputs of at least this much are on; None: the largest output is.
    answer : function
        Outputs of the model for raw rows, which confirm a change.
    edges : sequence of tuple of PathEdge
        For each label the edges on the path of the sample through its tree, and the ends of written rules; empty
        tuples, or no tuples at all, where neither have a say.
    """
    gaps = _gaps(outputs[None], threshold)[0]
    if threshold is None:
        slopes = slopes - slopes[:, _rivals(outputs)]
    texts = _texts(model, names[0])
    tried = _candidates(model, x, gaps, slopes, texts)
    within = _first_confirmed(x, gaps, tried, names, texts, answer=answer, threshold=threshold)
    if not any(edges):
        return within
    across = [_across_edges(model, x, found, texts) for found in edges]
    crossing = _first_confirmed(x, gaps, across, names, texts, answer=answer, threshold=threshold)
    return [
        plain if change is None else replace(change, across_threshold=True)
        for plain, change in zip(within, crossing, strict=True)
    ]


def _first_confirmed(
    x: FloatArray,
    gaps: FloatArray,
    tried: list[list[tuple[int, float, float]]],
    names: tuple[list[str], list[str]],
    texts: _Texts,
    *,
    answer: OutputFunction,
    threshold: Threshold,
) -> list[Counterfactual | None]:
    """Return for each label the first of the changes `tried` for which the whole model's `answer` turns it, or None."""
    changed = [_changed(x, j, after, texts) for found in tried for j, after, _ in found]
    answers = iter(_gaps(answer(np.array(changed)), threshold) if changed else ())
    confirmed: list[Counterfactual | None] = []
    for c, found in enumerate(tried):
        on = bool(gaps[c] < 0.0)
        found_gaps = [float(next(answers)[c]) for _ in found]
        turning = (i for i, gap in enumerate(found_gaps) if (gap >= _SURE if on else gap <= -_SURE))
        j, after, size = found[i] if (i := next(turning, None)) is not None else (-1, 0.0, 0.0)
        confirmed.append(None if j < 0 else Counterfactual(names[1][c], on, names[0][j], float(x[j]), after, size))
    return confirmed


def _across_edges(
    model: Model, x: FloatArray, edges: tuple[PathEdge, ...], texts: _Texts
) -> list[tuple[int, float, float]]:
    """Return feature, new raw value and size of changes of `x` that cross one of the `edges`, the smallest first.

    Near an edge both sides answer, so values on the way across are tried, too.
    """
    real = corrected(model.trained(), x[None])[0]
    values: set[tuple[int, float]] = set()
    for j, edge, width in edges:
        if j in texts:
            values |= {(other, 1.0) for other in texts[j] if x[other] == 0.0}
        elif np.isfinite(edge) and not np.isnan(real[j]):
            up = real[j] <= edge
            end = edge + width if up else edge - width
            start = max(real[j], edge - width) if up else min(real[j], edge + width)
            beyond = np.nextafter(end, np.inf) if up else end
            values |= {(j, float(start + (beyond - start) * step)) for step in _STEPS_ACROSS}
    z, width_of = model.scale(x[None])[0], scaled_moments(model)[1]
    changes = []
    for j, value in sorted(values):
        row = real.copy()
        row[j] = value
        after = 1.0 if j in texts else _rounded_away(float(_as_read(model, row[None])[0, j]), float(x[j]))
        moved = np.nan_to_num(model.scale(_changed(x, j, after, texts)[None])[0] - z) / width_of
        changes.append((j, after, float(np.linalg.norm(moved))))
    return sorted(changes, key=lambda change: (change[2], abs(change[1] - x[change[0]])))


def _rounded_away(value: float, start: float) -> float:
    """Return `value` with four digits, not nearer to `start` than it is; with more where the two are closer.

    Examples
    --------
    >>> _rounded_away(5.30251, 6.344), _rounded_away(1400.12, 1390.0), _rounded_away(0.0, 1.0)
    (5.302, 1401.0, 0.0)
    >>> _rounded_away(1700000210.123, 1700000123.25)
    1700000211.0
    """
    if value == 0.0 or value == start or not np.isfinite(value):
        return value
    first = int(np.floor(np.log10(abs(value))))
    last = min(first - _DIGITS + 1, int(np.floor(np.log10(abs(value - start)))) - 1)
    unit = 10.0**last
    steps = np.ceil(value / unit) if value > start else np.floor(value / unit)
    return float(f"{steps * unit:.{min(first - last + 1, 17)}g}")


def change_texts(before: float, after: float) -> tuple[str, str]:
    """Return both values of a change as they are printed: `after` exactly, `before` with as many digits.

    Examples
    --------
    >>> change_texts(4.58741, 4.899), change_texts(1700000123.25, 1700000211.0)
    (('4.587', '4.899'), ('1700000123', '1700000211'))
    """
    digits = next((n for n in range(_DIGITS, 17) if float(f"{after:.{n}g}") == after), 17)
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
    model: Model, x: FloatArray, gaps: FloatArray, slopes: FloatArray, texts: _Texts
) -> list[list[tuple[int, float, float]]]:
    """Return per label feature, new raw value and size of the smallest changes that bring its gap across zero."""
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
    for j in texts:
        moved = model.scale(_changed(x, j, 1.0, texts)[None])[0] - z
        turned = gaps + np.nan_to_num(moved) @ slopes
        movable[:, j] = ((turned >= 0.0) != (gaps >= 0.0)) & (x[j] == 0.0)
        size[:, j] = np.where(movable[:, j], np.linalg.norm(np.nan_to_num(moved) / width), np.inf)
    smallest = np.argsort(size, axis=1, kind="stable")[:, :_MAX_TRIED]
    chosen = [(c, int(j)) for c, features in enumerate(smallest) for j in features if movable[c, j]]
    found: list[list[tuple[int, float, float]]] = [[] for _ in gaps]
    for c, j in [(c, j) for c, j in chosen if j in texts]:
        found[c].append((j, 1.0, float(size[c, j])))
    longer = [(c, j, factor) for c, j in chosen if j not in texts for factor in _LONGER]
    longer = [(c, j, by) for c, j, by in longer if scaler.low <= z[j] + by * step[c, j] <= scaler.high]
    scores = np.zeros((len(longer), len(x)))
    for row, (c, j, factor) in zip(scores, longer, strict=True):
        row[j] = z[j] + factor * step[c, j]
    raw = _as_read(model, scaler.inverse(scores))
    for values, (c, j, factor) in zip(raw, longer, strict=True):
        found[c].append((j, _rounded_away(float(values[j]), float(x[j])), factor * float(size[c, j])))
    return [sorted(changes, key=lambda change: change[2]) for changes in found]


def _as_read(model: Model, X: FloatArray) -> FloatArray:
    """Return the corrected rows `X` as sensors read them, those that have moved included."""
    rules = model.trained()
    at_0, at_1 = (corrected(rules, np.full((1, X.shape[1]), end)) for end in (0.0, 1.0))
    return np.asarray((X - at_0) / (at_1 - at_0))


def _texts(model: Model, features: list[str]) -> _Texts:
    assert model.scaler is not None
    columns = text_columns(features, model.scaler.binary)
    return {j: column for column in columns.values() for j in column}


def _changed(x: FloatArray, j: int, value: float, texts: _Texts) -> FloatArray:
    """Return a copy of `x` with feature `j` at `value`; other texts of its column become 0."""
    other = x.copy()
    other[texts.get(j, [])] = 0.0
    other[j] = value
    return other
