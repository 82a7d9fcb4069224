"""Asking the model changes nothing in it."""

import copy

import numpy as np
import pytest

from evolabel import EvolvingFuzzyClassifier

QUESTIONS = {
    "predict": lambda clf, X: clf.predict(X),
    "predict_proba": lambda clf, X: clf.predict_proba(X),
    "decision_function": lambda clf, X: clf.decision_function(X),
    "score": lambda clf, X: clf.score(X, clf.predict(X)),
    "memberships": lambda clf, X: clf.memberships(X),
    "explain": lambda clf, X: [str(clf.explain(x)) for x in X],
    "rules_": lambda clf, X: [str(rule) for rule in clf.rules_],
    "events_": lambda clf, X: clf.events_.clear(),
    "sibling": lambda clf, X: clf.sibling().partial_fit(X, clf.predict(X)),
    "deepcopy": lambda clf, X: copy.deepcopy(clf).partial_fit(X, clf.predict(X)),
}
ASKED_DURING_WARM_UP = ["predict", "predict_proba", "decision_function", "rules_", "events_"]


@pytest.mark.parametrize("question", QUESTIONS)
def test_a_question_leaves_every_array_as_it_was(question, trained, gappy_stream, state_of, assert_same_state):
    rows = gappy_stream[0][:30]
    before, asked = state_of(trained), rows.copy()
    QUESTIONS[question](trained, rows)
    assert_same_state(state_of(trained), before)
    np.testing.assert_array_equal(rows, asked)


@pytest.mark.parametrize("question", ASKED_DURING_WARM_UP)
def test_a_question_during_the_warm_up_changes_nothing(question, warming, stream, state_of, assert_same_state):
    before = state_of(warming)
    QUESTIONS[question](warming, stream[0][:30])
    assert_same_state(state_of(warming), before)


def test_writing_into_an_answer_does_not_reach_the_model(trained, stream, state_of, assert_same_state):
    X, _ = stream
    before = state_of(trained)
    rule, why = trained.rules_[0], trained.explain(X[0])
    for answer in (rule.centre, rule.low, rule.high, rule.weights, rule.label_shares, rule.contrast):
        answer[...] = -7.0
    for answer in (why.rules, why.memberships, why.contributions, why.distances, trained.label_names_):
        answer[...] = 0
    assert_same_state(state_of(trained), before)


def test_learning_does_not_write_into_the_data(gappy_stream):
    X, Y = (array.copy() for array in gappy_stream)
    EvolvingFuzzyClassifier(warm_up=20, max_rules=4).partial_fit(X, Y)
    np.testing.assert_array_equal(X, gappy_stream[0])
    np.testing.assert_array_equal(Y, gappy_stream[1])


def test_writing_into_the_data_later_does_not_reach_the_model(stream, state_of, assert_same_state):
    X, Y = (array[:25].copy() for array in stream)
    for clf in (EvolvingFuzzyClassifier(max_rules=4).fit(X, Y), EvolvingFuzzyClassifier().partial_fit(X, Y)):
        before = state_of(clf)
        X += 1.0
        Y[:] = 1.0 - Y
        assert_same_state(state_of(clf), before)
