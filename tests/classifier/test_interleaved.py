"""`test_then_train` is `decision_function` with `follows=1`, then `partial_fit`, row by row, with the same bits."""

import numpy as np

from evolabel import EvolvingFuzzyClassifier


def by_hand(clf, X, Y):
    answers = []
    for i in range(len(X)):
        answers.append(clf.decision_function(X[i : i + 1], follows=1)[0])
        clf.partial_fit(X[i : i + 1], Y[i : i + 1])
    return np.array(answers)


def test_outputs_and_model_are_those_of_single_steps(stream, gappy_stream, state_of, assert_same_state):
    X, Y = gappy_stream
    one, two = (EvolvingFuzzyClassifier(max_rules=4).fit(stream[0][:40], stream[1][:40]) for _ in range(2))
    assert np.array_equal(one.test_then_train(X, Y), by_hand(two, X, Y))
    assert_same_state(state_of(one), state_of(two))


def test_births_and_merges_happen_at_the_same_samples(stream, state_of, assert_same_state):
    X, Y = stream[0].copy(), stream[1]
    X[90:] += 40.0
    one, two = (EvolvingFuzzyClassifier(max_rules=3, scaling="none").fit(X[:60], Y[:60]) for _ in range(2))
    assert np.array_equal(one.test_then_train(X[60:], Y[60:]), by_hand(two, X[60:], Y[60:]))
    assert "merge" in {event.kind for event in one.events_}
    assert_same_state(state_of(one), state_of(two))


def test_the_warm_up_is_answered_by_priors_and_then_by_rules(gappy_stream, state_of, assert_same_state):
    X, Y = gappy_stream
    start = np.zeros((1, 4)), np.array([[0.0, 1.0, 0.0]])
    one, two = (EvolvingFuzzyClassifier(max_rules=4, warm_up=30).partial_fit(*start) for _ in range(2))
    assert np.array_equal(one.test_then_train(X, Y), by_hand(two, X, Y))
    assert_same_state(state_of(one), state_of(two))


def test_it_may_be_the_very_first_call(stream, state_of, assert_same_state):
    X, Y = stream
    clf = EvolvingFuzzyClassifier(max_rules=4, warm_up=30)
    answers = clf.test_then_train(X, Y)
    assert answers.shape == Y.shape
    assert np.array_equal(answers[0], np.zeros(3))
    assert_same_state(state_of(clf), state_of(EvolvingFuzzyClassifier(max_rules=4, warm_up=30).partial_fit(X, Y)))


def test_columns_of_a_class_problem_are_the_classes(blobs):
    X, y = blobs
    one, two = (EvolvingFuzzyClassifier(max_rules=4).fit(X[:60], y[:60] % 2) for _ in range(2))
    outputs = one.test_then_train(X[60:], y[60:] % 2)
    assert outputs.shape == (60, 2)
    assert np.array_equal(outputs[:, 1] - outputs[:, 0], by_hand(two, X[60:], y[60:] % 2))


def test_weights_and_confidence_are_used(stream, state_of, assert_same_state):
    X, Y = stream
    weights, confidence = np.linspace(0.0, 2.0, 60), np.linspace(1.0, 0.0, 60)
    one, two = (EvolvingFuzzyClassifier(max_rules=4).fit(X[:60], Y[:60]) for _ in range(2))
    one.test_then_train(X[60:], Y[60:], sample_weight=weights, confidence=confidence)
    two.partial_fit(X[60:], Y[60:], sample_weight=weights, confidence=confidence)
    assert_same_state(state_of(one), state_of(two))
