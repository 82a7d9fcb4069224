"""Questions about one of the last samples."""

import copy

import numpy as np
import pytest

from active.walks import run
from evolabel import EvolvingFuzzyClassifier
from evolabel.active import ActiveLearner
from evolabel.errors import StateError


def test_looking_back_changes_nothing_either(classifier, stream, frozen):
    learner = ActiveLearner(classifier, 0.3, recent=7)
    run(learner, stream[0][60:80], stream[1][60:80])
    before = frozen(learner)
    for x in stream[0][80:]:
        learner.query(x)
    assert frozen(learner) == before


def test_watching_looks_back_as_querying_does(classifier, stream, frozen):
    X = stream[0][60:]
    one, other = (ActiveLearner(copy.deepcopy(classifier), 0.2, recent=8) for _ in range(2))
    for x in X:
        query = one.query(x)
        one.pend(query) if query.asked else one.update(query)
    at = 0
    while at < len(X):
        query, passed = other.watch(X[at:])
        at += passed + 1
        if query is not None:
            other.pend(query)
    assert frozen(one) == frozen(other)
    assert any(query.about is not None for query in one.pending.values())
    assert len({query.about or query.number for query in one.pending.values()}) == len(one.pending) == 12


def test_a_question_about_an_earlier_sample_shows_that_sample(classifier):
    learner = ActiveLearner(classifier, 0.5, criteria="first_feature", recent=3)
    learner.update(learner.query([5.0, 1.0, 1.0, 1.0]))
    query = learner.query([0.0, 2.0, 2.0, 2.0])
    assert query.asked
    assert query.about == 1
    np.testing.assert_array_equal(query.x, [5.0, 1.0, 1.0, 1.0])
    np.testing.assert_array_equal(query.arrived.x, [0.0, 2.0, 2.0, 2.0])


def test_two_stale_queries_never_ask_about_the_same_earlier_sample(classifier, frozen):
    learner = ActiveLearner(classifier, 0.7, criteria="first_feature", recent=3)
    learner.update(learner.query([5.0, 1.0, 1.0, 1.0]))
    first, second = learner.query([0.0, 2.0, 2.0, 2.0]), learner.query([0.0, 3.0, 3.0, 3.0])
    assert first.about == second.about == 1
    learner.pend(first)
    before = frozen(learner)
    for act in (learner.pend, learner.update):
        with pytest.raises(StateError, match="sample 1 was asked about since"):
            act(second)
    assert frozen(learner) == before
    assert learner.query(second.arrived.x).about != 1


def test_looking_back_in_warm_up_asks_about_the_sample_that_came(stream):
    X, Y = stream
    young = EvolvingFuzzyClassifier(warm_up=100).partial_fit(X[:3], Y[:3])
    query, passed = ActiveLearner(young, 0.1, recent=5).watch(X[3:40])
    assert query.asked
    assert query.labels.all()
    assert passed == 9


def test_an_answer_nobody_asked_for_is_not_asked_for_later(classifier, stream):
    learner = ActiveLearner(classifier, 0.1, recent=9)
    for x, y in zip(stream[0][60:69], stream[1][60:69], strict=True):
        learner.update(learner.query(x), y)
    assert learner.query(stream[0][69]).about is None
