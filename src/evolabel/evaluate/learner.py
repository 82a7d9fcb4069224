"""The interface of a learner that can be evaluated, and the loop that predicts and trains it.

Scores have the shape (n, K). A label counts as predicted where its score is at least 0.5, or at least the learner's own
threshold.
"""

import re
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, Protocol, runtime_checkable

import numpy as np

from evolabel.errors import DataError, ParameterError
from evolabel.evaluate.metrics.label_sets import DEFAULT_THRESHOLD
from evolabel.evaluate.metrics.prediction_sets import sets_as_scores
from evolabel.typing import BoolArray, FloatArray

LabelledRows = tuple[FloatArray, FloatArray]
"""Rows X (n, p) and their labels Y (n, K), NaN where not annotated; n may be 0."""


@runtime_checkable
class Learner(Protocol):
    """A multi-label classifier of rows `X` (n, p), NaN for missing values, with labels `Y` (n, K): 0, 1, NaN (unknown).

    Three attributes are optional. `n_rules_`: the number of rules, which is recorded. `thresholds_`, one per label:
    they decide which labels count as predicted, with the values they have when a row is predicted. `questions_`, a
    `Questions`: reported for a learner that queries the labels it is trained on. Methods that train may take a function
    `on_event`, as those of `EvolvingFuzzyClassifier` do: the shifts of the stream are then in the results.
    """

    def fit(self, X: FloatArray, Y: FloatArray, /) -> object:
        """Train on an initial batch `X`, `Y`; everything learned before is discarded."""

    def partial_fit(self, X: FloatArray, Y: FloatArray, /) -> object:
        """Train on further rows `X`, `Y`, one after the other; may be the very first call."""

    def decision_function(self, X: FloatArray, /) -> FloatArray:
        """Return the scores (n, K) of the rows `X` without training; before any training raise NotFittedError."""


@runtime_checkable
class SinglePassLearner(Learner, Protocol):
    """A learner that predicts and trains in one call, which is faster than row by row from outside."""

    def test_then_train(self, X: FloatArray, Y: FloatArray, /) -> FloatArray:
        """Return the scores of each row of `X` from before it was trained on with its labels in `Y`.

        Must equal `decision_function`, then `partial_fit`, row by row. May be the very first call; the scores of a row
        that no training preceded are 0.
        """


@runtime_checkable
class DecidingLearner(Learner, Protocol):
    """A learner with its own thresholds that predicts, decides and trains in one call."""

    def decide_then_train(self, X: FloatArray, Y: FloatArray, /) -> tuple[FloatArray, BoolArray]:
        """Return the scores of `test_then_train(X, Y)`, and the labels predicted by the thresholds at each row."""


@runtime_checkable
class AnsweringLearner(Learner, Protocol):
    """A learner that predicts, decides and trains in one call, and also returns probabilities."""

    def answer_then_train(self, X: FloatArray, Y: FloatArray, /) -> Any:
        """Return scores and decisions, as `DecidingLearner` does for `X` and `Y`, and probabilities.

        They are attributes `outputs`, `decisions` and `probabilities` of what is returned; so may be prediction `sets`,
        bool (n, K, 2), by which the metrics `set_coverage` and `set_size` are measured.
        """


class LearnerAnswers(NamedTuple):
    """Scores, predicted labels, probabilities and prediction sets of rows, (n, K); None for what a learner has not.

    Sets are scores of 0, 0.5 and 1 (`sets_as_scores`).
    """

    scores: FloatArray
    decisions: BoolArray
    probabilities: FloatArray | None = None
    sets: FloatArray | None = None


def named_learners(learners: Learner | Mapping[str, Learner]) -> dict[str, Learner]:
    """Return `learners` by name; a single learner gets the name of its class."""
    named = dict(learners) if isinstance(learners, Mapping) else {type(learners).__name__: learners}
    if not named:
        raise ParameterError("learners is empty; pass a learner, or a dict of learners by name")
    for name, learner in named.items():
        if isinstance(learner, type) or not isinstance(learner, Learner):
            raise ParameterError(
                f"{name!r} is no learner but {learner!r}; pass an object with fit, partial_fit and decision_function"
            )
    return named


def stable_repr(thing: object) -> str:
    """Return the repr of `thing` without memory addresses, so that it is the same in every process."""
    return re.sub(r" at 0x[0-9a-fA-F]+", "", repr(thing))


def answer_and_learn(
    learner: Learner,
    X: FloatArray,
    Y: FloatArray,
    deliveries: list[LabelledRows] | None,
    on_event: Callable[[Any], object] | None = None,
) -> LearnerAnswers:
    """Return scores and predicted labels of `X` while `learner` is trained, and probabilities and sets if it has them.

    `deliveries` holds, for each row, the rows whose labels become known after it is predicted; None: its own labels in
    `Y`. There are no probabilities and sets with deliveries. `on_event`, if given, is passed to the training methods of
    `learner`.
    """
    events: dict[str, Any] = {} if on_event is None else {"on_event": on_event}
    if deliveries is None and isinstance(learner, AnsweringLearner):
        found = learner.answer_then_train(X, Y, **events)
        tables = (_with_shape(table, Y.shape) for table in (found.outputs, found.decisions, found.probabilities))
        scores, decisions, chances = tables
        sets = None if (given := getattr(found, "sets", None)) is None else _with_shape(sets_as_scores(given), Y.shape)
        return LearnerAnswers(_finite(scores), decisions > 0.0, _finite(chances), sets)
    if deliveries is None and isinstance(learner, DecidingLearner):
        scores, decisions = (_with_shape(table, Y.shape) for table in learner.decide_then_train(X, Y, **events))
        return LearnerAnswers(_finite(scores), decisions > 0.0)
    if deliveries is None and isinstance(learner, SinglePassLearner) and not hasattr(learner, "thresholds_"):
        scores = _finite(_with_shape(learner.test_then_train(X, Y, **events), Y.shape))
        return LearnerAnswers(scores, scores >= DEFAULT_THRESHOLD)
    arrivals = zip(X[:, None], Y[:, None], strict=True) if deliveries is None else deliveries
    scores, decided = np.empty(Y.shape), np.zeros(Y.shape, np.bool_)
    for row, (arrived, labels) in enumerate(arrivals):
        scores[row] = _answer(learner, X[row : row + 1], Y.shape[1])
        decided[row] = _decide(learner, X[row : row + 1], scores[row])
        if len(arrived):
            learner.partial_fit(arrived, labels, **events)
    return LearnerAnswers(_finite(scores), decided)


def _decide(learner: Any, x: FloatArray, scores: FloatArray) -> BoolArray:
    """Predicted labels of the row `x` with these `scores`: by thresholds, or by `predict` where none decides."""
    by_sets = getattr(learner, "optimise", "") == "subset_accuracy" and getattr(learner, "n_samples_seen_", 0)
    if by_sets or getattr(learner, "decides_rows", False):
        return np.asarray(_with_shape(learner.predict(x), (1, len(scores)))[0] > 0.0)
    return np.asarray(scores >= getattr(learner, "thresholds_", DEFAULT_THRESHOLD))


def _answer(learner: Learner, x: FloatArray, n_labels: int) -> FloatArray:
    """Scores of one row; zeros from a learner that was not trained yet."""
    try:
        scores = learner.decision_function(x)
    except ValueError as error:
        from sklearn.exceptions import NotFittedError

        if not isinstance(error, NotFittedError):
            raise
        return np.zeros((1, n_labels))
    return _with_shape(scores, (1, n_labels))


def _with_shape(scores: object, shape: tuple[int, ...]) -> FloatArray:
    table = np.asarray(scores, np.float64)
    if table.shape != shape:
        raise DataError(
            f"scores have the shape {table.shape}; expected {shape}, a row per sample and a column per label"
        )
    return table


def _finite(scores: FloatArray) -> FloatArray:
    bad = ~np.isfinite(scores)
    if bad.any():
        row, label = np.argwhere(bad)[0]
        raise DataError(f"the score of label {label} is {scores[row, label]}; scores must be finite numbers")
    return scores
