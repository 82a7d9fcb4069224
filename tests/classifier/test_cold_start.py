"""`partial_fit` as the very first call, one row or all rows at a time: the same bits."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evolabel import EvolvingFuzzyClassifier

WARM_UP = 30


def fresh(**changes):
    return EvolvingFuzzyClassifier(**{"warm_up": WARM_UP, "max_rules": 5, **changes})


def in_pieces(clf, X, Y, cuts):
    bounds = [0, *sorted(cuts), len(X)]
    for start, end in pairwise(bounds):
        if end > start:
            clf.partial_fit(X[start:end], Y[start:end])
    return clf


def test_priors_answer_during_the_warm_up(gappy_stream):
    X, Y = gappy_stream
    clf = fresh().partial_fit(X[:9], Y[:9])
    shares = np.nanmean(Y[:9], axis=0)
    np.testing.assert_allclose(clf.decision_function(X[:3]), np.tile(shares, (3, 1)))
    assert np.array_equal(clf.predict(X[:1])[0], shares >= 0.5)
    assert clf.n_rules_ == 0
    assert clf.rules_ == []
    assert clf.events_ == []
    assert np.isnan(clf.ridge_)
    assert np.isnan(clf.local_ridge_)


def test_priors_follow_weights_and_confidence(stream):
    X, Y = stream
    weights, confidence = np.array([1.0, 2.0, 0.0, 4.0]), np.array([[1.0, 0.5, 1.0]] * 4)
    confidence[1] = 0.25
    clf = fresh().partial_fit(X[:4], Y[:4], sample_weight=weights, confidence=confidence)
    mass = weights[:, None] * confidence
    np.testing.assert_allclose(clf.decision_function(X[:1])[0], (mass * Y[:4]).sum(axis=0) / mass.sum(axis=0))


def test_the_warm_up_ends_in_the_batch_phase(stream):
    X, Y = stream
    clf = fresh().partial_fit(X[:WARM_UP], Y[:WARM_UP])
    batch = fresh().fit(X[:WARM_UP], Y[:WARM_UP])
    assert clf.n_rules_ > 0
    assert np.array_equal(clf.decision_function(X), batch.decision_function(X))


def test_only_annotated_samples_fill_the_warm_up(stream):
    X, Y = stream
    Y = np.where(np.arange(len(Y))[:, None] % 2 == 1, np.nan, Y)
    clf = fresh().partial_fit(X[: 2 * WARM_UP - 2], Y[: 2 * WARM_UP - 2])
    assert clf.n_rules_ == 0
    clf.partial_fit(X[2 * WARM_UP - 2 : 2 * WARM_UP], Y[2 * WARM_UP - 2 : 2 * WARM_UP])
    assert clf.n_rules_ > 0
    assert clf.n_samples_seen_ == 2 * WARM_UP


def test_a_whole_number_given_as_float_is_a_warm_up(stream):
    clf = EvolvingFuzzyClassifier(warm_up=20.0).partial_fit(stream[0], stream[1])
    assert clf.n_rules_ > 0


@pytest.mark.parametrize("changes", [{}, {"max_rules": 2}, {"prune_after": 10}])
def test_row_by_row_is_all_at_once(gappy_stream, changes, state_of, assert_same_state):
    X, Y = gappy_stream
    whole = fresh(**changes).partial_fit(X, Y)
    rows = in_pieces(fresh(**changes), X, Y, range(1, len(X)))
    assert_same_state(state_of(rows), state_of(whole))
    assert np.array_equal(rows.decision_function(X), whole.decision_function(X))


def test_row_by_row_is_all_at_once_for_announced_classes(blobs, state_of, assert_same_state):
    X, y = blobs
    whole = fresh().partial_fit(X, y, classes=[0, 1, 2])
    rows = fresh()
    for i in range(len(X)):
        rows.partial_fit(X[i : i + 1], y[i : i + 1], classes=[0, 1, 2])
    assert_same_state(state_of(rows), state_of(whole))


def test_row_by_row_is_all_at_once_with_weights_and_confidence(gappy_stream, state_of, assert_same_state):
    X, Y = gappy_stream
    rng = np.random.default_rng(4)
    weights, confidence = rng.choice([0.0, 0.5, 2.0], len(X)), rng.choice([0.0, 0.3, 1.0], Y.shape)
    whole = fresh().partial_fit(X, Y, sample_weight=weights, confidence=confidence)
    rows = fresh()
    for i in range(len(X)):
        at = slice(i, i + 1)
        rows.partial_fit(X[at], Y[at], sample_weight=weights[at], confidence=confidence[at])
    assert_same_state(state_of(rows), state_of(whole))


@settings(max_examples=8, deadline=None)
@given(cuts=st.sets(st.integers(1, 99), max_size=4))
def test_where_a_stream_is_cut_makes_no_difference(gappy_stream, cuts, state_of, assert_same_state):
    X, Y = gappy_stream[0][:100], gappy_stream[1][:100]
    whole = fresh().partial_fit(X, Y)
    assert_same_state(state_of(in_pieces(fresh(), X, Y, cuts)), state_of(whole))


def test_rows_without_any_label_only_count(trained, stream, state_of, assert_same_state):
    before = state_of(trained)
    trained.partial_fit(1e3 * stream[0][:10], np.full((10, 3), np.nan))
    before["rules.counters"][1] += 10
    before["members.clock"][0] += 10
    assert_same_state(state_of(trained), before)


def test_rows_without_any_label_only_count_during_the_warm_up(warming, stream, state_of, assert_same_state):
    before = state_of(warming)
    warming.partial_fit(stream[0][:10], np.full((10, 3), np.nan))
    assert_same_state(state_of(warming), before | {"n_seen": before["n_seen"] + 10})


def test_fit_forgets_the_stream_before_it(trained, stream, state_of, assert_same_state):
    X, Y = stream
    never_saw_it = EvolvingFuzzyClassifier(max_rules=6).fit(X[:50], Y[:50])
    assert_same_state(state_of(trained.fit(X[:50], Y[:50])), state_of(never_saw_it))
