"""Threshold rules after a sensor has moved: rows that were learned before this was known are corrected, too."""

import numpy as np
import pytest
from choices import examples
from hypothesis import given, settings
from hypothesis import strategies as st

from evolabel import EvolvingFuzzyClassifier
from evolabel.stages.sensors.stage import MovedSensor
from evolabel.stages.threshold_rules.arrays import LEARNED, MAIN_ROWS, allocate_trees
from evolabel.stages.threshold_rules.stage import correct_ring

AT = 2000


def hot_stream(rows=3000, factor=1.0, shift=50.0):
    """Label 0 is on above 110 of a sensor at 100 +- 10, which moves at row 2,000; label 1 is on by another one."""
    X = np.random.default_rng(3).normal(size=(rows, 3))
    X[:, 0] = 100.0 + 10.0 * X[:, 0]
    Y = np.c_[X[:, 0] > 110.0, X[:, 1] > 0.0].astype(float)
    X[AT:, 0] = factor * X[AT:, 0] + shift
    return X, Y


@pytest.mark.compiled
@pytest.mark.parametrize(("factor", "shift"), [(1.0, 50.0), (3.0, 0.0)])
def test_no_false_edge_is_left_after_a_correction(factor, shift):
    X, Y = hot_stream(factor=factor, shift=shift)
    clf = EvolvingFuzzyClassifier().partial_fit(X, Y)
    assert [event.feature for event in clf.events_ if event.kind == "sensor moved"] == ["x0"]
    assert not [event for event in clf.events_ if event.kind == "drift"]
    rules = next(tree.rules for tree in clf.rules_.threshold_rules if tree.label == "label0")
    edges = np.ravel([(c.low, c.high) for rule in rules for c in rule.conditions])
    of_label = factor * 110.0 + shift  # a strip may be left in which earlier rows and later ones differ
    np.testing.assert_allclose(edges[np.isfinite(edges)], of_label, atol=0.6 * factor)
    readings = factor * np.array([90.0, 105.0, 115.0, 130.0, 140.0]) + shift
    rows = np.c_[readings, np.zeros((5, 2))]
    np.testing.assert_allclose(clf.predict_proba(rows)[:, 0], [0.0, 0.0, 1.0, 1.0, 1.0], atol=0.1)


@pytest.mark.compiled
@pytest.mark.parametrize("row", [1000, 1700, 2120, 2200])
@pytest.mark.parametrize("reading", [9999.0, -999.0])
def test_one_wild_reading_spoils_no_correction(row, reading):
    X, Y = hot_stream()
    X[row, 0] = reading
    clf = EvolvingFuzzyClassifier().partial_fit(X, Y)
    assert [event.feature for event in clf.events_ if event.kind == "sensor moved"] == ["x0"]
    offset, factor = clf.inner.model.drift.sensors.arrays.views[:2, 0]
    assert (offset, factor) == (pytest.approx(-50.0, abs=2.0), 1.0)
    rows = np.c_[np.array([90.0, 105.0, 115.0, 130.0, 140.0]) + 50.0, np.zeros((5, 2))]
    np.testing.assert_allclose(clf.predict_proba(rows)[:, 0], [0.0, 0.0, 1.0, 1.0, 1.0], atol=0.15)


@pytest.mark.compiled
def test_one_row_at_a_time_corrects_the_same_rows():
    X, Y = hot_stream(2400)
    whole, single = (EvolvingFuzzyClassifier().partial_fit(X[:2200], Y[:2200]) for _ in range(2))
    expected = whole.test_then_train(X[2200:], Y[2200:])
    rows = [single.test_then_train(X[i : i + 1], Y[i : i + 1])[0] for i in range(2200, 2400)]
    np.testing.assert_array_equal(rows, expected)
    np.testing.assert_array_equal(single.inner.model.trees.arrays.X, whole.inner.model.trees.arrays.X)


@pytest.mark.compiled
def test_earlier_events_do_not_name_a_later_correction():
    X, Y = hot_stream(3600)
    told = []
    clf = EvolvingFuzzyClassifier()
    for start in range(0, 3600, 100):
        clf.partial_fit(X[start : start + 100], Y[start : start + 100], on_event=told.append)
    moved = [event.kind for event in told].index("sensor moved")
    assert [str(event) for event in clf.events_[:moved]] == [str(event) for event in told[:moved]]
    assert any("on today's gauge (" in event.note for event in clf.events_[moved:])


def ring_of(values, first_row):
    t = allocate_trees(2, 1)
    places = np.arange(first_row, first_row + len(values)) % MAIN_ROWS
    t.X[places, 1], t.rows[places] = values, np.arange(first_row, first_row + len(values))
    return t, places


@settings(max_examples=examples(50))
@given(st.integers(0, 10_000), st.sampled_from([(-5.0, 1.0), (0.0, 0.1), (2.0, 0.5)]), st.integers(0, 1999))
def test_the_rows_that_are_corrected_are_the_most_likely_run(seed, new, first_row):
    """The twin tries every run of rows; a copy in the second ring is corrected with its row."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=25)
    start, end = sorted(rng.integers(0, 26, 2))
    x[start:end] = (x[start:end] - new[0]) / new[1]
    x[rng.random(25) < 0.1] = np.nan
    t, places = ring_of(x, first_row)
    t.X[MAIN_ROWS], t.rows[MAIN_ROWS] = t.X[places[3]], first_row + 3
    moved = MovedSensor(0, 1, 0.0, 1.0, (0.0, 1.0), new)

    def likelihood(i, j):
        fixed = np.concatenate([x[:i], new[0] + new[1] * x[i:j], x[j:]])
        known = np.count_nonzero(~np.isnan(x[i:j]))
        return -0.5 * np.nansum(np.minimum(fixed**2, 64.0)) + known * np.log(new[1]), fixed

    _, expected = max((likelihood(i, j) for i in range(26) for j in range(i, 26)), key=lambda found: found[0])
    correct_ring(t, moved)
    got = t.X[places, 1]
    np.testing.assert_allclose(got[~np.isnan(expected)], expected[~np.isnan(expected)], rtol=1e-12)
    np.testing.assert_array_equal(t.X[MAIN_ROWS, 1], t.X[places[3], 1])


def test_where_a_correction_is_dropped_the_rows_since_it_are_as_read():
    """Rows of the stream without an answer are not in the ring: its rows count back from the last one."""
    x = np.arange(30.0)
    t, places = ring_of(x, 0)
    t.clock[LEARNED] = 30
    t.feature[0, 0] = 1
    moved = MovedSensor(row=130, feature=1, mean=0.0, variance=1.0, old=(-50.0, 2.0), new=(0.0, 1.0), since=120)
    assert correct_ring(t, moved).tolist() == [0]
    np.testing.assert_array_equal(t.X[places, 1], np.r_[x[:20], (x[20:] + 50.0) / 2.0])


def test_readings_that_fit_already_stay_as_they_are():
    t, _ = ring_of(np.random.default_rng(0).normal(size=30), 0)
    before = t.X.copy()
    t.feature[0, 0] = 1
    assert len(correct_ring(t, MovedSensor(0, 1, 0.0, 1.0, (0.0, 1.0), (-50.0, 1.0)))) == 0
    np.testing.assert_array_equal(t.X, before)
