"""The smallest change of a single feature that would turn a label.

With the memberships held, the output is linear in every score: y_c moves by sum_i psi_i w_ijc per unit of feature j. So
the change that brings a label to its border has a closed form within the active rules. The whole model, whose
memberships move along, then says whether it really turns.

A column of texts changes as a whole: one text comes, the one before goes.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from evolabel.core.model import StreamModel
from evolabel.explain.shortening import Threshold
from evolabel.explain.terms import stream_moments
from evolabel.explain.text_columns import column_and_value, text_features
from evolabel.typing import FloatArray, IntArray

TRIED = 5  # changes per label that are put to the whole model, the smallest first
BEYOND = 1e-6  # how far past the border an output is brought
SMALLEST_SLOPE = 1e-12  # what moves less does not move

Answer = Callable[[FloatArray], FloatArray]
"""Outputs (n, n_labels) of raw rows (n, n_features)."""

Texts = dict[int, list[int]]
"""Places of features that stand for texts, with those of all texts of the column."""


@dataclass(frozen=True)
class Flip:
    """Feature from one value to another, in its own units, turns a label on or off.

    A feature that stands for a text goes from 0 to 1, and the other texts of its column are 0 then.
    `confirmed`: does the whole model agree, or does this hold within the active rules only? `size` is the change in
    standard deviations of the stream's scores.
    """

    label: str
    turns_on: bool
    feature: str
    before: float
    after: float
    size: float
    confirmed: bool


def smallest_flips(
    model: StreamModel,
    x: FloatArray,
    slopes: FloatArray,
    outputs: FloatArray,
    names: tuple[list[str], list[str]],
    threshold: Threshold,
    answer: Answer | None = None,
) -> list[Flip | None]:
    """For each label the smallest change that turns it; None where no feature reaches that far.

    `x` is the raw row (n_features,), `slopes` (n_features, n_labels) and `outputs` (n_labels,) of the active rules. The
    smallest change that `answer` confirms, by default the outputs of the whole model, is preferred among the first few.
    """
    gaps, slopes = _margins(outputs, slopes, threshold)
    texts = _texts(model, names[0])
    tried = _candidates(model, x, gaps, slopes, texts)
    changed = [_changed(x, j, after, texts) for found in tried for j, after, _ in found]
    if not changed:
        return [None] * len(gaps)
    answers = iter(_gaps((answer or model.outputs)(np.array(changed)), threshold))
    flips: list[Flip | None] = []
    for c, found in enumerate(tried):
        options = []
        for j, after, size in found:
            confirmed = bool((next(answers)[c] >= 0.0) != (gaps[c] >= 0.0))
            options.append(Flip(names[1][c], bool(gaps[c] < 0.0), names[0][j], float(x[j]), after, size, confirmed))
        flips.append(next((flip for flip in options if flip.confirmed), options[0] if options else None))
    return flips


def _margins(outputs: FloatArray, slopes: FloatArray, threshold: Threshold) -> tuple[FloatArray, FloatArray]:
    """What a label's output is above its border, and how that moves: the threshold, or the strongest rival."""
    if threshold is not None:
        return outputs - threshold, slopes
    if len(outputs) == 1:
        return np.zeros(1), np.zeros_like(slopes)
    rival = _rivals(outputs)
    return outputs - outputs[rival], slopes - slopes[:, rival]


def _gaps(outputs: FloatArray, threshold: Threshold) -> FloatArray:
    """The margins of whole rows."""
    if threshold is not None:
        return outputs - threshold
    return np.array([row - row[_rivals(row)] for row in outputs])


def _rivals(outputs: FloatArray) -> IntArray:
    """For every label the strongest of the others."""
    order = np.argsort(-outputs, kind="stable")
    return np.asarray(np.where(np.arange(len(outputs)) == order[0], order[1], order[0]))


def _candidates(
    model: StreamModel, x: FloatArray, gaps: FloatArray, slopes: FloatArray, texts: Texts
) -> list[list[tuple[int, float, float]]]:
    """Per label: feature, new raw value and size of the smallest changes that bring its gap across zero."""
    scaler = model.scaler
    assert scaler is not None
    z = scaler.transform(x[None])[0]
    slope = slopes.T
    movable = (np.abs(slope) > SMALLEST_SLOPE) & ~np.isnan(z) & (scaler.used > 0)
    wanted = -gaps + np.where(gaps < 0.0, BEYOND, -BEYOND)
    step = wanted[:, None] / np.where(movable, slope, 1.0)
    target = np.nan_to_num(z) + step
    movable &= (target >= scaler.low) & (target <= scaler.high)
    width = stream_moments(model)[1]
    size = np.where(movable, np.abs(step) / width, np.inf)
    raw = scaler.inverse(np.where(movable, target, 0.0))
    for j in texts:
        moved = scaler.transform(_changed(x, j, 1.0, texts)[None])[0] - z
        turned = gaps + np.nan_to_num(moved) @ slopes
        movable[:, j] = ((turned >= 0.0) != (gaps >= 0.0)) & (x[j] == 0.0)
        size[:, j] = np.where(movable[:, j], np.linalg.norm(np.nan_to_num(moved) / width), np.inf)
        raw[:, j] = 1.0
    smallest = np.argsort(size, axis=1, kind="stable")[:, :TRIED]
    return [
        [(int(j), float(raw[c, j]), float(size[c, j])) for j in smallest[c] if movable[c, j]] for c in range(len(gaps))
    ]


def _texts(model: StreamModel, features: list[str]) -> Texts:
    assert model.scaler is not None
    columns: dict[str, list[int]] = {}
    told = text_features(features, model.scaler.binary)
    for j, feature in enumerate(features):
        if feature in told:
            columns.setdefault(column_and_value(feature)[0], []).append(j)
    return {j: places for places in columns.values() for j in places}


def _changed(x: FloatArray, j: int, value: float, texts: Texts) -> FloatArray:
    other = x.copy()
    other[texts.get(j, [])] = 0.0
    other[j] = value
    return other
