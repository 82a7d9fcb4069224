"""Counterfactuals: the smallest change of a single feature that would turn a label on or off.

With the memberships held fixed, the output is linear in every scaled feature: y_c moves by sum_i psi_i w_ijc per unit
of feature j. So the change that brings a label to its border has a closed form within the active rules. The outputs of
the whole model, whose memberships change as well, then confirm it or not.

A categorical column changes as a whole: one of its 0/1 features becomes 1 and the others 0.

Where threshold rules or written rules have a say in a label, the changes that are tried are those that cross an edge on
the path of the sample, or an end of a written rule, and only a change that turns the output of the whole model is
returned.
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

_MAX_TRIED = 5  # changes per label that the whole model is tried on, the smallest first
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
    in standard deviations of the scaled stream. `confirmed`: the whole model turns the label as well; otherwise the
    change does so within the active rules only. `across_threshold`: it crosses an edge of the threshold rules.
    """

    label: str
    turns_on: bool
    feature: str
    before: float
    after: float
    size: float
    confirmed: bool
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
    """Return for each label the smallest change that turns it; None where no feature reaches that far.

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
        Outputs of the model for raw rows. Of the five smallest changes the first that it confirms is returned, else
        the smallest.
    edges : sequence of tuple of PathEdge
        For each label the edges on the path of the sample through its tree, and the ends of written rules; empty
        tuples, or no tuples at all, where neither have a say.
    """
    gaps = _gaps(outputs[None], threshold)[0]
    if threshold is None:
        slopes = slopes - slopes[:, _rivals(outputs)]
    texts = _texts(model, names[0])
    tried = _candidates(model, x, gaps, slopes, texts)
    open_labels = {c for c, found in enumerate(edges) if found}
    smallest = []
    for c, found in enumerate(_judged(x, gaps, tried, names, texts, answer=answer, threshold=threshold)):
        sure = next((change for change in found if change.confirmed), None)
        within = found[0] if found and c not in open_labels else None
        smallest.append(within if sure is None else sure)
    if open_labels:
        across = [_across_edges(model, x, found, texts) for found in edges]
        judged = _judged(x, gaps, across, names, texts, answer=answer, threshold=threshold)
        for c, found in enumerate(judged):
            sure = next((change for change in found if change.confirmed), None)
            smallest[c] = smallest[c] if sure is None else replace(sure, across_threshold=True)
    return smallest


def _judged(
    x: FloatArray,
    gaps: FloatArray,
    tried: list[list[tuple[int, float, float]]],
    names: tuple[list[str], list[str]],
    texts: _Texts,
    *,
    answer: OutputFunction,
    threshold: Threshold,
) -> list[list[Counterfactual]]:
    """Return the changes `tried` of each label, the whole model's `answer` to each included, in their order."""
    changed = [_changed(x, j, after, texts) for found in tried for j, after, _ in found]
    answers = iter(_gaps(answer(np.array(changed)), threshold) if changed else ())
    return [
        [
            Counterfactual(
                names[1][c],
                turns_on=bool(gaps[c] < 0.0),
                feature=names[0][j],
                before=float(x[j]),
                after=after,
                size=size,
                confirmed=bool((next(answers)[c] >= 0.0) != (gaps[c] >= 0.0)),
            )
            for j, after, size in found
        ]
        for c, found in enumerate(tried)
    ]


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
    """Return `value` with four digits, as it is printed, not nearer to `start` than it is.

    Examples
    --------
    >>> _rounded_away(5.30251, 6.344), _rounded_away(1400.12, 1390.0), _rounded_away(0.0, 1.0)
    (5.302, 1401.0, 0.0)
    """
    if value == 0.0 or not np.isfinite(value):
        return value
    unit = 10.0 ** (np.floor(np.log10(abs(value))) - 3.0)
    steps = np.ceil(value / unit) if value > start else np.floor(value / unit)
    return float(f"{steps * unit:.4g}")


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
    raw = _as_read(model, scaler.inverse(np.where(movable, target, 0.0)))
    for j in texts:
        moved = model.scale(_changed(x, j, 1.0, texts)[None])[0] - z
        turned = gaps + np.nan_to_num(moved) @ slopes
        movable[:, j] = ((turned >= 0.0) != (gaps >= 0.0)) & (x[j] == 0.0)
        size[:, j] = np.where(movable[:, j], np.linalg.norm(np.nan_to_num(moved) / width), np.inf)
        raw[:, j] = 1.0
    smallest = np.argsort(size, axis=1, kind="stable")[:, :_MAX_TRIED]
    return [
        [(int(j), float(raw[c, j]), float(size[c, j])) for j in smallest[c] if movable[c, j]] for c in range(len(gaps))
    ]


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
