"""What cannot be evaluated is refused in one line that says what came and what to do."""

import numpy as np
import pytest
from prequential_helpers import MeanLearner, OnePassLearner, small_stream

from evolabel import EvolvingFuzzyClassifier
from evolabel.errors import DataError, DataWarning, EvolabelError, ParameterError
from evolabel.evaluate.prequential import prequential
from evolabel.evaluate.source import open_stream
from evolabel.streams import DriftingStream
from evolabel.streams.dataset import Dataset

X, Y = small_stream(20)


class Wide(MeanLearner):
    def decision_function(self, X):
        return np.zeros((len(X), 4))


class Flat(OnePassLearner):
    def test_then_train(self, X, Y):
        return np.zeros(len(X))


class Lost(MeanLearner):
    def decision_function(self, X):
        return np.full((len(X), 3), np.nan)


class Endless(OnePassLearner):
    def test_then_train(self, X, Y):
        scores = np.zeros(Y.shape)
        scores[1, 2] = np.inf
        return scores


class Choosy(MeanLearner):
    def partial_fit(self, X, Y):
        raise DataError("X is not to my taste; send better rows")


class Broken(MeanLearner):
    def decision_function(self, X):
        raise ValueError("a bug")


def refusal(kind, learner=None, stream=(X, Y), **options):
    """The message of the one error a call ends in."""
    with pytest.raises(kind) as caught:
        prequential(MeanLearner() if learner is None else learner, stream, **options)
    assert isinstance(caught.value, EvolabelError)
    assert "\n" not in str(caught.value)
    return str(caught.value)


@pytest.mark.parametrize(
    ("stream", "message"),
    [
        ((X[:0], Y[:0]), "at least one"),
        ((X, Y[:5]), r"(20, 2) and Y (5, 3)"),
        ((X, Y[:, :0]), "(20, 0)"),
        ((X, Y[:, 0]), "Y has 1 dimension"),
        ((X, Y + 1.0), "a label is 0, 1, or NaN"),
        ((np.where(np.isnan(X), np.inf, X), Y), "infinite"),
        ((np.full_like(X, np.nan), Y), "no row of X has a feature"),
        ((X.tolist(), [["a"]]), "table of numbers"),
        (Dataset(X, Y * 3.0), "Y holds 3"),
        ([], "empty"),
        ([1, 2, 3], "pairs"),
        ([(X[0], Y[0]), (X[0, :1], Y[0])], "rows of equal length"),
        ([(X[0], Y[0])] * 5 + [(X[0, :1], Y[0])] * 5, "from 2 features and 3 labels to 1 and 3"),
        (7, "int is no stream"),
    ],
)
def test_a_stream_that_cannot_be_read_is_refused(stream, message):
    assert message in refusal(DataError, stream=stream, initial=0, every=5)


def test_an_endless_stream_needs_a_number_of_samples():
    assert "samples=" in refusal(ParameterError, stream=DriftingStream())


@pytest.mark.parametrize("initial", [20, 0.99, 100])
def test_an_initial_batch_that_leaves_nothing_is_refused(initial):
    assert "20 row(s), which leaves none" in refusal(DataError, initial=initial)


def test_a_stream_that_ends_within_the_initial_batch_is_refused():
    pairs = zip(X, Y, strict=True)
    assert "ended after 20 row(s)" in refusal(DataError, stream=pairs, samples=100, initial=30)


@pytest.mark.parametrize(
    ("learner", "message"),
    [
        (Wide(), "shape (1, 4); expected (1, 3)"),
        (Flat(), "shape (8,); expected (8, 3)"),
        (Lost(), "label 0 is nan"),
        (Endless(), "label 2 is inf"),
    ],
)
def test_scores_that_are_none_are_refused_with_the_name_of_the_learner(learner, message):
    refused = refusal(DataError, {"odd": learner}, every=8)
    assert refused.startswith("learner 'odd', rows 1 to 8 after the initial batch: ")
    assert message in refused


def test_wide_scores_are_refused_where_labels_are_late():
    assert "expected (1, 3)" in refusal(DataError, Wide(), delay=2)


def test_the_learner_that_refuses_a_row_is_named():
    learners = {"good": MeanLearner(), "choosy": Choosy()}
    assert refusal(DataError, learners).startswith("learner 'choosy', initial batch: X is not to my taste")
    message = refusal(DataError, learners, initial=0, every=4)
    assert message.startswith("learner 'choosy', rows 1 to 4 after the initial batch: X is not to my taste")


def test_other_errors_of_a_learner_pass_unchanged():
    with pytest.raises(ValueError, match=r"^a bug$"):
        prequential(Broken(), (X, Y))


@pytest.mark.parametrize(
    "learners", [{}, {"a": None}, MeanLearner, {"class": EvolvingFuzzyClassifier}, [MeanLearner()], "MeanLearner"]
)
def test_what_is_no_learner_is_refused(learners):
    assert "learner" in refusal(ParameterError, learners)


@pytest.mark.parametrize(
    "options",
    [
        {"initial": 1.0},
        {"initial": -1},
        {"initial": True},
        {"initial": "half"},
        {"initial": "split"},
        {"samples": 0},
        {"samples": 2.5},
        {"window": 0},
        {"every": 0},
        {"every": True},
        {"delay": -1},
        {"delay": 1.5},
        {"delay": (3, 1)},
        {"delay": (1, 2, 3)},
        {"delay": "1"},
        {"annotated": 0.0},
        {"annotated": 1.1},
        {"seed": -1},
        {"seed": None},
        {"metrics": ()},
        {"metrics": ("pa", "pa")},
        {"metrics": "area"},
        {"metrics": [3]},
        {"metrics": 3},
    ],
)
def test_a_bad_parameter_is_named(options):
    assert next(iter(options)).removesuffix("s") in refusal(ParameterError, **options)


@pytest.mark.parametrize("rows", [1, 4])
def test_rows_of_a_stream_are_counted_from_its_beginning(rows):
    pairs = [(np.full(2, np.nan) if row == 13 else X[row], Y[row]) for row in range(20)]
    source = open_stream(pairs, None)
    for _ in range(13 // rows):
        source.take(rows)
    with pytest.warns(DataWarning, match=r"no feature at all \(row 13 of the stream\): left out"):
        source.take(rows)
