"""What a learner must be able to do to be evaluated, and how it is asked.

Scores are answers of shape (n, K); a label counts as predicted where its score is at least 0.5, or where the learner
decides so itself.
"""

import re
from collections.abc import Mapping
from typing import Protocol, runtime_checkable

import numpy as np

from evolabel.errors import DataError, ParameterError
from evolabel.evaluate.questions import Questions
from evolabel.typing import BoolArray, FloatArray

ON = 0.5  # the threshold of learners that have none of their own

Lesson = tuple[FloatArray, FloatArray]
"""Rows whose labels have become known, and those labels (NaN: nobody told); there may be none."""


@runtime_checkable
class Learner(Protocol):
    """Learns rows X (n, p), where NaN is a missing value, with labels Y (n, K) of 0, 1 and NaN for "not annotated".

    A learner may have `n_rules_`, and then its number of rules is followed, too. It may have `thresholds_`, one for
    each label, and then these decide, as they are at the time of each answer, which labels count as predicted. It may
    have `questions_`, if it asks for the labels it learns, and then these are reported.
    """

    def fit(self, X: FloatArray, Y: FloatArray, /) -> object:
        """Learn an initial batch, as if nothing had been learned before."""

    def partial_fit(self, X: FloatArray, Y: FloatArray, /) -> object:
        """Learn further rows, one after the other; may be the very first call."""

    def decision_function(self, X: FloatArray, /) -> FloatArray:
        """Scores (n, K), without learning anything. Before the first lesson: scikit-learn's NotFittedError."""


@runtime_checkable
class SinglePassLearner(Learner, Protocol):
    """A learner that can answer and learn in one go, which is faster than row by row from outside."""

    def test_then_train(self, X: FloatArray, Y: FloatArray, /) -> FloatArray:
        """Answer each row before it is learned: exactly `decision_function`, then `partial_fit`, row by row.

        May be the very first call; the scores of a row before which nothing was learned are 0.
        """


@runtime_checkable
class DecidingLearner(Learner, Protocol):
    """A learner with thresholds of its own that can answer, decide and learn in one go."""

    def decide_then_train(self, X: FloatArray, Y: FloatArray, /) -> tuple[FloatArray, BoolArray]:
        """The scores of `test_then_train`, and which labels are predicted by the thresholds of that moment."""


def named_learners(learners: Learner | Mapping[str, Learner]) -> dict[str, Learner]:
    """Learners by name; a single one goes by the name of its class."""
    named = dict(learners) if isinstance(learners, Mapping) else {type(learners).__name__: learners}
    if not named:
        raise ParameterError("there is no learner to evaluate; pass one, or a dict of them by name")
    for name, learner in named.items():
        if isinstance(learner, type) or not isinstance(learner, Learner):
            raise ParameterError(
                f"{name!r} is no learner but {learner!r}; pass an object with fit, partial_fit and decision_function"
            )
    return named


def described(learner: object) -> str:
    """The learner (or a score) as text, without its address in memory: the same in every process."""
    return re.sub(r" at 0x[0-9a-fA-F]+", "", repr(learner))


def answer_and_learn(
    learner: Learner, X: FloatArray, Y: FloatArray, lessons: list[Lesson] | None
) -> tuple[FloatArray, BoolArray]:
    """Scores of all rows, and which labels count as predicted, while the learner learns.

    `lessons` has, for each row, what becomes known once the row is answered; None stands for the row's own labels Y.
    """
    if lessons is None and isinstance(learner, DecidingLearner):
        scores, decisions = (_with_shape(table, Y.shape) for table in learner.decide_then_train(X, Y))
        return _finite(scores), decisions > 0.0
    if lessons is None and isinstance(learner, SinglePassLearner) and not hasattr(learner, "thresholds_"):
        scores = _finite(_with_shape(learner.test_then_train(X, Y), Y.shape))
        return scores, scores >= ON
    after = zip(X[:, None], Y[:, None], strict=True) if lessons is None else lessons
    scores, limits = np.empty(Y.shape), np.full(Y.shape, ON)
    for row, (taught, labels) in enumerate(after):
        scores[row] = _answer(learner, X[row : row + 1], Y.shape[1])
        limits[row] = getattr(learner, "thresholds_", ON)
        if len(taught):
            learner.partial_fit(taught, labels)
    return _finite(scores), scores >= limits


def count_rules(learner: Learner) -> float:
    """How many rules there are; NaN for a learner without rules."""
    return float(getattr(learner, "n_rules_", np.nan))


def asked_by(learner: Learner) -> Questions | None:
    """What was asked so far; None for a learner that takes the labels as they come."""
    questions: Questions | None = getattr(learner, "questions_", None)
    return questions


def _answer(learner: Learner, x: FloatArray, n_labels: int) -> FloatArray:
    """Scores of one row; who has learned nothing yet says nothing, which counts as 0."""
    try:
        scores = learner.decision_function(x)
    except ValueError as error:
        if not _never_trained(error):
            raise
        return np.zeros((1, n_labels))
    return _with_shape(scores, (1, n_labels))


def _never_trained(error: ValueError) -> bool:
    from sklearn.exceptions import NotFittedError

    return isinstance(error, NotFittedError)


def _with_shape(scores: object, shape: tuple[int, ...]) -> FloatArray:
    table = np.asarray(scores, np.float64)
    if table.shape != shape:
        raise DataError(f"scores came with shape {table.shape}; expected {shape}, a row per sample, a column per label")
    return table


def _finite(scores: FloatArray) -> FloatArray:
    bad = ~np.isfinite(scores)
    if bad.any():
        row, label = np.argwhere(bad)[0]
        raise DataError(f"the score of label {label} is {scores[row, label]}; scores must be finite numbers")
    return scores
