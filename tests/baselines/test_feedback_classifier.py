"""A learner corrected by recent errors is better where errors repeat, and itself where they do not."""

import numpy as np
import pytest

from evolabel import EvolvingFuzzyClassifier
from evolabel.baselines import FeedbackClassifier, GlobalRLS
from evolabel.errors import DataError, ParameterError
from evolabel.evaluate import partial_accuracy


@pytest.fixture(scope="module")
def events():
    """Labels that follow a slow wave that is no feature, besides their features."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(500, 4))
    wave = np.sin(np.arange(500) / 15.0)[:, None] * np.array([1.5, -1.5, 1.5])
    return X, (X[:, :3] + wave + 0.3 * rng.normal(size=(500, 3)) > 0.0).astype(float)


def score(learner, X, Y):
    return partial_accuracy(Y[200:], learner.fit(X[:200], Y[:200]).test_then_train(X[200:], Y[200:]))


@pytest.mark.parametrize("base", [EvolvingFuzzyClassifier(max_rules=4, memory=None), GlobalRLS()])
def test_the_correction_helps_where_errors_repeat(events, base):
    learner = FeedbackClassifier(base)
    assert score(learner, *events) > score(base, *events) + 0.05
    assert learner.gains_.min() > 0.3


@pytest.mark.parametrize("base", [EvolvingFuzzyClassifier(max_rules=4, memory=None), GlobalRLS()])
def test_a_shuffled_stream_has_none(events, base):
    order = np.random.default_rng(1).permutation(len(events[0]))
    X, Y = (part[order] for part in events)
    assert abs(score(FeedbackClassifier(base), X, Y) - score(base, X, Y)) < 0.005


def test_last_answers_and_feedback_never_correct_by_the_same_errors_twice(events):
    base = EvolvingFuzzyClassifier(max_rules=4)
    expected = score(FeedbackClassifier(EvolvingFuzzyClassifier(max_rules=4, memory=None)), *events)
    assert score(FeedbackClassifier(base), *events) == expected
    assert base.memory == "answers"


def test_nothing_is_expected_before_there_is_a_model(events):
    learner = FeedbackClassifier().partial_fit(events[0][:10], events[1][:10])
    np.testing.assert_array_equal(learner.gains_, np.zeros(3))


def test_outputs_are_those_of_the_next_sample(events):
    X, Y = events
    learner = FeedbackClassifier(EvolvingFuzzyClassifier(max_rules=4)).fit(X[:200], Y[:200])
    learner.partial_fit(X[200:300], Y[200:300])
    expected = learner.decision_function(X[300:301])
    np.testing.assert_allclose(learner.test_then_train(X[300:301], Y[300:301]), expected, rtol=1e-9)
    assert learner.n_rules_ == learner._model.n_rules_


def test_samples_are_compared_by_features_if_their_scaling_is_known(events):
    X, Y = events
    ours, other = (FeedbackClassifier(base).fit(X[:200], Y[:200]) for base in (None, GlobalRLS()))
    for learner in (ours, other):
        learner.partial_fit(X[200:203], Y[200:203])
        np.testing.assert_allclose(learner._feedback.rates, Y[:200].mean(axis=0), rtol=1e-12)
    remembered = ours._feedback.recent
    np.testing.assert_array_equal(remembered.Z[remembered.at > 0], ours._model.inner.any_model.standardise(X[200:203]))
    assert other._feedback.recent.Z.shape[1] == 0


def test_what_is_no_learner_is_refused():
    with pytest.raises(ParameterError, match="base"):
        FeedbackClassifier(base=3).fit([[0.0], [1.0]], [[0], [1]])


class Odd(GlobalRLS):
    """A learner that returns whole numbers, and keeps its last scores."""

    def test_then_train(self, X, y):
        self.scores = np.round(100.0 * super().test_then_train(X, y)).astype(np.int64)
        return self.scores


class Narrow(GlobalRLS):
    """A learner that forgets a label."""

    def test_then_train(self, X, y):
        return super().test_then_train(X, y)[:, 1:]


def test_whatever_numbers_the_learner_inside_gives(events):
    X, Y = events
    learner = FeedbackClassifier(Odd()).fit(X[:200], Y[:200])
    scores = learner.test_then_train(X[200:250], Y[200:250])
    assert scores.dtype == np.float64
    assert np.abs(scores).max() < 1000.0
    np.testing.assert_array_equal(learner._model.scores, np.round(learner._model.scores))
    with pytest.raises(DataError, match="shape"):
        FeedbackClassifier(Narrow()).fit(X[:200], Y[:200]).test_then_train(X[200:250], Y[200:250])


class Wide(GlobalRLS):
    """A learner that scores a label it was not fitted on."""

    def decision_function(self, X):
        return np.pad(super().decision_function(X), ((0, 0), (0, 1)))


def test_labels_that_only_the_learner_inside_knows_are_refused(events):
    learner = FeedbackClassifier(Wide()).fit(events[0][:200], events[1][:200])
    with pytest.raises(DataError, match="4 labels, 3 were expected"):
        learner.decision_function(events[0][200:202])
