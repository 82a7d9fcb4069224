"""`sample_weight` and `confidence`: nothing, all and what lies between."""

import numpy as np
import pytest

from evolabel import EvolvingFuzzyClassifier


@pytest.fixture
def pair(stream):
    return [EvolvingFuzzyClassifier(max_rules=4).fit(stream[0][:60], stream[1][:60]) for _ in range(2)]


def test_weight_zero_only_counts(trained, stream, state_of, assert_same_state):
    X, Y = stream
    before = state_of(trained)
    trained.partial_fit(1e3 * X[:10], Y[:10], sample_weight=np.zeros(10))
    before["rules.counters"][1] += 10
    before["members.clock"][0] += 10
    assert_same_state(state_of(trained), before)


def test_rows_of_weight_zero_in_between_are_as_if_they_had_not_come(pair, stream):
    X, Y = stream[0][60:], stream[1][60:]
    weights = np.arange(60) % 3 / 2.0
    kept = weights > 0.0
    pair[0].partial_fit(X, Y, sample_weight=weights)
    pair[1].partial_fit(X[kept], Y[kept], sample_weight=weights[kept])
    assert np.array_equal(pair[0].decision_function(X), pair[1].decision_function(X))
    assert pair[0].n_samples_seen_ == pair[1].n_samples_seen_ + np.sum(~kept)


def test_rows_of_weight_zero_are_no_part_of_the_initial_batch(stream):
    X, Y = stream
    weights = np.arange(len(X)) % 3 / 2.0
    kept = weights > 0.0
    whole = EvolvingFuzzyClassifier(max_rules=4).fit(X, Y, sample_weight=weights)
    part = EvolvingFuzzyClassifier(max_rules=4).fit(X[kept], Y[kept], sample_weight=weights[kept])
    assert np.array_equal(whole.decision_function(X), part.decision_function(X))


@pytest.mark.parametrize("ones", [1, 1.0, np.ones(60), np.ones(60, int), [1.0] * 60], ids=repr)
def test_weights_of_one_are_no_weights(pair, stream, ones, state_of, assert_same_state):
    X, Y = stream[0][60:], stream[1][60:]
    pair[0].partial_fit(X, Y, sample_weight=ones)
    pair[1].partial_fit(X, Y)
    assert_same_state(state_of(pair[0]), state_of(pair[1]))


def test_a_weight_scales_the_evidence(pair, stream):
    X, Y = stream[0][60:61], stream[1][60:61]
    before = pair[0].inner.any_model.rules.hessian(0)
    once = pair[0].partial_fit(X, Y).inner.any_model.rules.hessian(0) - before
    thrice = pair[1].partial_fit(X, Y, sample_weight=[3.0]).inner.any_model.rules.hessian(0) - before
    np.testing.assert_allclose(thrice, 3.0 * once, atol=1e-10)


def test_a_weighted_sample_is_one_event_and_copies_are_several(stream):
    X, Y = stream
    weights = 1 + np.arange(len(X)) % 3
    plain, heavy = (EvolvingFuzzyClassifier(max_rules=4).fit(X, Y, sample_weight=w) for w in (None, weights))
    copies = EvolvingFuzzyClassifier(max_rules=4).fit(np.repeat(X, weights, axis=0), np.repeat(Y, weights, axis=0))
    scores = [clf.inner.any_model.scale(X) for clf in (plain, heavy, copies)]
    assert np.array_equal(scores[0], scores[1])
    assert not np.array_equal(scores[0], scores[2])
    assert (heavy.ridge_, heavy.local_ridge_) == (plain.ridge_, plain.local_ridge_)
    assert (heavy.n_samples_seen_, copies.n_samples_seen_) == (len(X), weights.sum())


@pytest.mark.parametrize("shape", [(60,), (60, 1), (60, 3)])
def test_full_confidence_is_none_given(pair, gappy_stream, shape, state_of, assert_same_state):
    X, Y = gappy_stream[0][60:], gappy_stream[1][60:]
    pair[0].partial_fit(X, Y, confidence=np.ones(shape))
    pair[1].partial_fit(X, Y)
    assert_same_state(state_of(pair[0]), state_of(pair[1]))


def test_one_confidence_per_row_serves_all_labels(pair, stream, state_of, assert_same_state):
    X, Y = stream[0][60:], stream[1][60:]
    sure = np.linspace(0.0, 1.0, 60)
    pair[0].partial_fit(X, Y, confidence=sure)
    pair[1].partial_fit(X, Y, confidence=np.tile(sure[:, None], (1, 3)))
    assert_same_state(state_of(pair[0]), state_of(pair[1]))


def doubtful(Y):
    """Confidences of 0 and 1, some rows all 0, and the labels with NaN at the zeros."""
    sure = (np.random.default_rng(5).random(Y.shape) < 0.7).astype(float)
    sure[::6] = 0.0
    return sure, np.where(sure == 0.0, np.nan, Y)


def test_no_confidence_is_not_annotated_in_the_incremental_phase(pair, stream, state_of, assert_same_state):
    X, Y = stream[0][60:], stream[1][60:]
    sure, annotated = doubtful(Y)
    pair[0].partial_fit(X, Y, confidence=sure)
    pair[1].partial_fit(X, annotated)
    assert_same_state(state_of(pair[0]), state_of(pair[1]))


def test_no_confidence_is_not_annotated_in_the_batch_phase(stream, state_of, assert_same_state):
    X, Y = stream
    sure, annotated = doubtful(Y)
    unsure = EvolvingFuzzyClassifier(max_rules=4).fit(X, Y, confidence=sure)
    assert_same_state(state_of(unsure), state_of(EvolvingFuzzyClassifier(max_rules=4).fit(X, annotated)))


def test_no_confidence_is_not_annotated_in_the_warm_up(stream):
    X, Y = stream
    sure, annotated = doubtful(Y)
    unsure = EvolvingFuzzyClassifier(max_rules=4, warm_up=40).partial_fit(X, Y, confidence=sure)
    silent = EvolvingFuzzyClassifier(max_rules=4, warm_up=40).partial_fit(X, annotated)
    assert np.array_equal(unsure.decision_function(X), silent.decision_function(X))


@pytest.mark.parametrize("follow_drift", [True, False])
def test_less_confidence_moves_a_label_less(stream, follow_drift):
    """A label without confidence moves no rule; the linear member reads the features, so its output moves a little."""
    X, Y = stream
    steps = []
    for sure in (0.0, 0.5, 1.0):
        parameters = {"follow_drift": follow_drift, "threshold_rules": False}
        clf = EvolvingFuzzyClassifier(max_rules=1, **parameters).fit(X[:60], Y[:60])
        before = clf.decision_function(X[60:61])[0, 0]
        clf.partial_fit(X[60:61], 1.0 - np.round(clf.decision_function(X[60:61])).clip(0, 1), confidence=[[sure, 1, 1]])
        steps.append(abs(clf.decision_function(X[60:61])[0, 0] - before))
    assert steps[0] < (0.2 * steps[1] if follow_drift else 1e-10)
    assert 1e-6 < steps[1] < steps[2]
