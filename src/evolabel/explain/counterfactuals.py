"""Counterfactuals: the smallest change of a single feature that would turn a label on or off.

With the memberships held fixed, the output is linear in every scaled feature: y_c moves by sum_i psi_i w_ijc per unit
of feature j. So the change that brings a label to its border has a closed form within the active rules. The outputs of
the whole model, whose memberships change as well, then confirm it or not.

A categorical column changes as a whole: one of its 0/1 features becomes 1 and the others 0.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from evolabel.core.members.mixture import corrected
from evolabel.core.protocols import Model
from evolabel.explain.shortening import Threshold
from evolabel.explain.terms import scaled_moments
from evolabel.explain.text_columns import column_and_value, text_features
from evolabel.typing import FloatArray, IntArray

_MAX_TRIED = 5  # changes per label that the whole model is tried on, the smallest first
_BEYOND = 1e-6  # how far past the border an output is brought
_MIN_SLOPE = 1e-12  # smaller slopes count as 0

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
    change does so within the active rules only.
    """

    label: str
    turns_on: bool
    feature: str
    before: float
    after: float
    size: float
    confirmed: bool


def find_counterfactuals(
    model: Model,
    x: FloatArray,
    slopes: FloatArray,
    outputs: FloatArray,
    *,
    names: tuple[list[str], list[str]],
    threshold: Threshold,
    answer: OutputFunction,
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
    """
    feature_names, label_names = names
    gaps = _gaps(outputs[None], threshold)[0]
    if threshold is None:
        slopes = slopes - slopes[:, _rivals(outputs)]
    texts = _texts(model, feature_names)
    tried = _candidates(model, x, gaps, slopes, texts)
    changed = [_changed(x, j, after, texts) for found in tried for j, after, _ in found]
    if not changed:
        return [None] * len(gaps)
    answers = iter(_gaps(answer(np.array(changed)), threshold))
    smallest: list[Counterfactual | None] = []
    for c, found in enumerate(tried):
        options = [
            Counterfactual(
                label_names[c],
                turns_on=bool(gaps[c] < 0.0),
                feature=feature_names[j],
                before=float(x[j]),
                after=after,
                size=size,
                confirmed=bool((next(answers)[c] >= 0.0) != (gaps[c] >= 0.0)),
            )
            for j, after, size in found
        ]
        smallest.append(next((option for option in options if option.confirmed), options[0] if options else None))
    return smallest


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
    columns: dict[str, list[int]] = {}
    texts = text_features(features, model.scaler.binary)
    for j, feature in enumerate(features):
        if feature in texts:
            columns.setdefault(column_and_value(feature)[0], []).append(j)
    return {j: column for column in columns.values() for j in column}


def _changed(x: FloatArray, j: int, value: float, texts: _Texts) -> FloatArray:
    """Return a copy of `x` with feature `j` at `value`; other texts of its column become 0."""
    other = x.copy()
    other[texts.get(j, [])] = 0.0
    other[j] = value
    return other
