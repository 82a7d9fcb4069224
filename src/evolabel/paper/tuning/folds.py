"""Cross-validation on an initial batch: which rows are held out, and how outputs are scored."""

from collections.abc import Callable, Iterator

import numpy as np

from evolabel.errors import DataError, ParameterError
from evolabel.evaluate import METRICS, metric_named
from evolabel.typing import BoolArray, FloatArray

Score = Callable[[FloatArray, FloatArray], float]
"""Function of true labels and outputs, both (rows, labels); larger is better."""


def folds(rows: int, cv: int, seed: int) -> Iterator[BoolArray]:
    """Return `cv` masks of the held-out ones of `rows` rows: parts of nearly equal size, shuffled by `seed`."""
    if rows < 2 * cv:
        raise DataError(f"{rows} rows are too few for {cv} folds; use a larger initial batch or fewer folds")
    part = np.arange(rows) % cv
    part = part[np.random.default_rng(seed).permutation(rows)]
    return (part == fold for fold in range(cv))


def read_score(score: str | Score) -> Score:
    """Return `score`, a metric's name or a function, as a function to be maximised; losses change their sign."""
    if callable(score):
        return score
    if not isinstance(score, str):
        raise ParameterError(f"score={score!r} is not allowed; use a function or one of {', '.join(METRICS)}")
    metric = metric_named(score)
    sign = 1.0 if metric.bigger_is_better else -1.0
    return lambda truth, outputs: sign * metric.fresh().update(truth, outputs).get()


def scores_decisions(score: str | Score) -> bool:
    """Return whether `score` is a metric of predicted labels, so that thresholds matter; functions get outputs."""
    return isinstance(score, str) and metric_named(score).takes_decisions


def check_scorable(score: Score, labels: FloatArray, held_out: list[BoolArray]) -> None:
    """Raise DataError if `score` is NaN on one of the folds `held_out` even where the outputs equal the `labels`.

    This happens where a fold has no annotated labels.
    """
    for fold in held_out:
        if np.isnan(score(labels[fold], np.nan_to_num(labels[fold]))):
            raise DataError("a fold cannot be scored, too few labels are annotated; use fewer folds or a larger batch")


def scored(score: Score, truth: FloatArray, answers: FloatArray) -> list[float]:
    """Return the `score` of every point of `answers` (points, rows, labels) against `truth`; NaN if not finite."""
    return [float(score(truth, outputs)) if np.isfinite(outputs).all() else float("nan") for outputs in answers]
