"""Streams whose answers persist: what is learned is kept, no drift is seen that is none, and a true one is."""

import numpy as np
import pytest
from following import bent_stream, flipped, gappy, in_runs, learned, model_of, shifts, state_of

from evolabel import EvolvingFuzzyClassifier
from evolabel.core.rows import Batch
from evolabel.stages.drift.arrays import LAG, ROW_INDEPENDENT, ROW_PACE, ROWS

pytestmark = pytest.mark.compiled

ROWS_OF_STREAM = 6000


def one_label(seed, *, change=False, run=60):
    """A stream of one label that persists; its meaning may change at half, where its order starts anew."""
    X, Y = flipped(ROWS_OF_STREAM, ROWS_OF_STREAM // 2 if change else ROWS_OF_STREAM, seed, K=1)
    half = ROWS_OF_STREAM // 2
    parts = [in_runs(X[rows], Y[rows], run, seed) for rows in (slice(half), slice(half, None))]
    return [np.concatenate(pair) for pair in zip(*parts, strict=True)], len(parts[0][0])


def after_learning(X, Y, **changes):
    """A classifier that has learned nine tenths of the rows in order, and which rows were left out."""
    out = np.random.default_rng(5).random(len(X)) < 0.1
    return EvolvingFuzzyClassifier(**changes).partial_fit(X[~out], Y[~out]), out


def kinds_of(clf):
    return [event.kind for event in clf.events_]


@pytest.mark.parametrize("run", [60, 300])
def test_states_that_last_are_no_drift_and_what_was_learned_is_kept(run):
    (X, Y), _ = one_label(1, run=run)
    clf, out = after_learning(X, Y)
    assert "drift" not in kinds_of(clf)
    assert "renewed" not in kinds_of(clf)
    rng = np.random.default_rng(0).permutation(len(X))
    shuffled, _ = after_learning(X[rng], Y[rng])
    kept, at_best = (float((each.predict(X[out]) == Y[out]).mean()) for each in (clf, shuffled))
    assert kept > at_best - 0.03
    assert at_best > 0.9


def weak_states(seed):
    """Two labels in runs of 300 rows on average, each with one weak sensor; the first run can be very long."""
    rng = np.random.default_rng(seed)
    changes = np.array([rng.random(2) < 1.0 / 300.0 for _ in range(ROWS_OF_STREAM)])
    Y = np.cumsum(changes, axis=0) % 2.0
    X = rng.normal(size=(ROWS_OF_STREAM, 4))
    X[:, :2] += Y
    return X, Y


@pytest.mark.parametrize("seed", [0, 3])
def test_the_error_of_one_long_state_is_not_the_usual_one(seed):
    """In its first state a label is predicted without error; the error of later states is that of weak sensors."""
    X, Y = weak_states(seed)
    clf, out = after_learning(X, Y)
    assert "drift" not in kinds_of(clf)
    still, _ = after_learning(X, Y, follow_drift=False)
    kept, at_best = (float((each.predict(X[out]) == Y[out]).mean()) for each in (clf, still))
    assert kept > at_best - 0.02


def test_a_change_of_meaning_among_states_that_last_is_seen_and_followed():
    (X, Y), half = one_label(1, change=True)
    clf, out = after_learning(X, Y)
    drifts = [event.sample for event in clf.events_ if event.kind == "drift"]
    assert [half * 0.9 - 100 < row for row in drifts] == [True]
    later = out & (np.arange(len(X)) >= half)
    assert (clf.predict(X[later]) == Y[later]).mean() > 0.85


def test_trees_alone_keep_what_they_learned():
    (X, Y), _ = one_label(2, run=300)
    clf, out = after_learning(X, Y, follow_drift=False)
    assert "drift" not in kinds_of(clf)
    assert (clf.predict(X[out]) == Y[out]).mean() > 0.9
    trees = clf.inner.any_model.trees.arrays
    assert trees.persistence[0].any()


def test_answers_at_random_leave_time_as_the_rows_count_it():
    X, Y = bent_stream(2000, seed=3)
    m = learned(X, Y).drift.arrays
    assert m.time.tolist() == [0.0, 1.0, 1.0]


def test_row_by_row_and_all_at_once_are_the_same_with_gaps_and_weights():
    X, Y = in_runs(*bent_stream(1600, seed=4), 60)
    X, Y = gappy(X, Y)
    weights = np.random.default_rng(1).choice([0.0, 0.5, 1.0, 3.0], len(X))
    one, other = model_of(X, Y, threshold_rules=True), model_of(X, Y, threshold_rules=True)
    one.learn(Batch(X[80:], Y[80:], weights[80:]))
    for i in range(80, len(X)):
        rows = slice(i, i + 1)
        other.learn(Batch(X[rows], Y[rows], weights[rows]))
        if i % 50 == 0:
            before = state_of(other)
            other.outputs(X[:20])
            assert state_of(other) == before
    assert state_of(one) == state_of(other)
    assert shifts(one) == shifts(other)
    assert one.drift.arrays.time[LAG] > 100.0
    for mine, theirs in zip(one.trees.arrays, other.trees.arrays, strict=True):
        np.testing.assert_array_equal(mine, theirs)


def test_a_stored_model_goes_on_with_the_same_bits(tmp_path):
    X, Y = in_runs(*bent_stream(2400, seed=5), 80)
    clf = EvolvingFuzzyClassifier(max_rules=8).partial_fit(X[:1500], Y[:1500])
    clf.save(tmp_path / "model")
    twin = EvolvingFuzzyClassifier.load(tmp_path / "model")
    assert clf.inner.any_model.drift.arrays.time[LAG] > 0.0
    np.testing.assert_array_equal(twin.test_then_train(X[1500:], Y[1500:]), clf.test_then_train(X[1500:], Y[1500:]))
    assert state_of(twin.inner.any_model) == state_of(clf.inner.any_model)


def test_rows_without_an_answer_pass_as_much_time_as_the_last_answered_one():
    X, Y = in_runs(*bent_stream(1600, seed=6, K=1), 80)
    model = learned(X, Y)
    drift, m = model.drift, model.drift.arrays
    pace, lag, now = m.time[ROW_PACE], m.time[LAG], drift.now
    assert m.time[ROW_INDEPENDENT] < pace < 0.2
    model.learn(Batch(X[:10], np.full((10, 1), np.nan)))
    assert m.time[LAG] == pytest.approx(lag + 10.0 * (1.0 - pace))
    model.advance(100)
    assert m.clock[ROWS] == len(X) + 110
    assert drift.now == pytest.approx(now + 110 * pace, abs=1.0)
    model.advance(-100)
    assert m.time[LAG] == pytest.approx(lag + 10.0 * (1.0 - pace))
    model.advance(-10_000)
    assert drift.now == m.clock[1:].max()


def test_an_answer_of_a_label_that_persists_counts_less_than_one_of_another():
    X, Y = in_runs(*bent_stream(2000, seed=7, K=2), 50)
    model = learned(X, Y, threshold_rules=True)
    for counts in (model.drift.arrays.persistence, model.trees.arrays.persistence):
        changes, expected = counts[:, 2], counts[:, 3]
        assert changes[0] < 0.1 * expected[0]
        assert changes[1] > 0.5 * expected[1]


def test_counts_grow_with_labels_and_add_up_in_a_merge():
    X, Y = in_runs(*bent_stream(2400, seed=8, K=2), 50)
    one = EvolvingFuzzyClassifier(max_rules=8, threshold_rules=False).fit(X[:80], Y[:80])
    other = one.sibling()
    one.partial_fit(X[80:1000], Y[80:1000])
    other.partial_fit(X[1200:2000], Y[1200:2000])
    before = [clf.inner.any_model.drift.arrays.persistence.copy() for clf in (one, other)]
    one.merge(other)
    merged = one.inner.any_model.drift.arrays.persistence
    np.testing.assert_allclose(merged[:, 2:4], before[0][:, 2:4] + before[1][:, 2:4])
    model = one.inner.any_model
    model.grow_labels(3)
    np.testing.assert_array_equal(model.drift.arrays.persistence[:2], merged)
    assert not model.drift.arrays.persistence[2].any()
