"""Cross-validation on an initial batch: who is held out when, and how a fold is scored."""

from collections.abc import Callable, Iterator

import numpy as np

from evolabel.errors import DataError, ParameterError
from evolabel.evaluate import METRICS, metric_named
from evolabel.typing import BoolArray, FloatArray

Score = Callable[[FloatArray, FloatArray], float]
"""Takes true labels and outputs, both (rows, labels); larger is better."""


def folds(rows: int, cv: int, seed: int) -> Iterator[BoolArray]:
    """Masks of the rows held out: `cv` parts of nearly equal size, drawn at random."""
    if rows < 2 * cv:
        raise DataError(f"{rows} rows are too few for {cv} folds; use a larger initial batch or fewer folds")
    part = np.arange(rows) % cv
    part = part[np.random.default_rng(seed).permutation(rows)]
    return (part == fold for fold in range(cv))


def read_score(score: str | Score) -> Score:
    """A function to be maximised; losses are turned round."""
    if callable(score):
        return score
    if not isinstance(score, str):
        raise ParameterError(f"score={score!r} is not allowed; use a function or one of {', '.join(METRICS)}")
    metric = metric_named(score)
    sign = 1.0 if metric.bigger_is_better else -1.0
    return lambda truth, outputs: sign * metric.fresh().update(truth, outputs).get()


def judges_decisions(score: str | Score) -> bool:
    """Does it look at predicted labels, so that thresholds matter? Functions see outputs."""
    return isinstance(score, str) and metric_named(score).takes_decisions


def check_judgeable(score: Score, labels: FloatArray, held_out: list[BoolArray]) -> None:
    """Raise DataError if a fold has no score even for perfect answers, as one without annotated labels has not."""
    for fold in held_out:
        if np.isnan(score(labels[fold], np.nan_to_num(labels[fold]))):
            raise DataError("a fold cannot be judged, too few labels are annotated; use fewer folds or a larger batch")


def scored(score: Score, truth: FloatArray, answers: FloatArray) -> list[float]:
    """The score of every point, NaN where it gave no answer."""
    return [float(score(truth, outputs)) if np.isfinite(outputs).all() else float("nan") for outputs in answers]
