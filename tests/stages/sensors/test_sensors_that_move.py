"""Sensors that move, inputs that move, and sensors that are stuck, along whole streams."""

import numpy as np
import pytest
from following import MAJOR, bent_stream, classifier_of, shifts

from evolabel import EvolvingFuzzyClassifier
from evolabel.stages.drift.arrays import NEVER
from evolabel.stages.drift.loops.follow import LONGEST_HELD, SHORTEST_DRIFT
from evolabel.stages.sensors.arrays import CORRECTED_AT, FACTOR, IS_ON, NEW_OFFSET, OFFSET

pytestmark = pytest.mark.compiled

AT = 2000


def run(X, Y, rows=None, **changes):
    """A classifier along a stream, and which of its answers were right."""
    clf = classifier_of(X, Y, **changes)
    outputs = clf.test_then_train(X[80:rows], Y[80:rows])
    right = ((outputs >= 0.5) == (Y[80:rows] > 0.5)).mean(axis=1)
    return clf, np.concatenate([np.zeros(80), right])


def about_features(clf):
    return [(kind, feature) for kind, _, feature, _ in shifts(clf.inner.any_model) if feature is not None]


@pytest.mark.parametrize("seed", [11, 12])
@pytest.mark.parametrize(("shift", "factor"), [(5.0, 1.0), (0.0, 10.0), (-3.0, 5.0)])
def test_a_sensor_that_moved_is_found_and_corrected(seed, shift, factor):
    X, Y = bent_stream(3500, seed, p=5)
    still, _ = X.copy(), run(X, Y)
    X[AT:, 2] = factor * X[AT:, 2] + shift * X[:AT, 2].std()
    clf, right = run(X, Y)
    assert about_features(clf) == [("sensor moved", 2)]
    event = next(event for event in clf.events_ if event.kind == "sensor moved")
    assert AT + 30 + 200 < event.sample < AT + 30 + 200 + 60
    assert event.feature == "x2"
    if factor == 1.0:
        assert event.deviations == pytest.approx(shift, rel=0.2)
        assert event.before == pytest.approx(X[:AT, 2].mean(), abs=0.3 * X[:AT, 2].std())
    rules = clf.inner.any_model.trained()
    back = rules.beside.sensors.corrected(X[AT:])[:, 2]
    np.testing.assert_allclose(back.mean(), still[AT:, 2].mean(), atol=0.4 * still[:, 2].std())
    np.testing.assert_allclose(back.std(), still[AT:, 2].std(), rtol=0.6)
    np.testing.assert_array_equal(rules.beside.sensors.corrected(X)[:, [0, 1, 3, 4]], X[:, [0, 1, 3, 4]])
    assert right[AT + 300 :].mean() > right[500:AT].mean() - 0.03
    assert rules.beside.sensors.arrays.readings[CORRECTED_AT, 2] == event.sample
    lazy, wrong = run(X, Y, follow_drift=False)
    assert right[AT + 300 :].mean() > wrong[AT + 300 :].mean() + 0.01
    assert not shifts(lazy.inner.any_model)


@pytest.mark.parametrize("seed", [11, 12])
@pytest.mark.parametrize("shift", [3.0, -5.0])
def test_labels_whose_sensor_moved_have_not_drifted(seed, shift):
    X, Y = bent_stream(3500, seed, p=5)
    X[AT:, 2] += shift * X[:, 2].std()
    clf, _ = run(X, Y)
    assert [kind for kind, *_ in shifts(clf.inner.any_model)] == ["sensor moved"]
    members = clf.inner.any_model.drift.arrays
    assert not members.held.any()
    assert (members.episode == NEVER).all()


def sloped_stream():
    """Four features and three labels: the first by x0, the second by x0 and x1, the third by x2."""
    X = np.random.default_rng(0).normal(size=(9000, 4))
    return X, np.column_stack([X[:, 0] > 0, X[:, 0] + X[:, 1] > 0.5, X[:, 2] > 0]).astype(float)


def test_a_label_that_was_never_in_a_drift_does_not_recover():
    """The tree of the label is calm again before the sensor is known to have moved, and its drift is held till then."""
    X, Y = sloped_stream()
    X[AT:, 0] += 3.0
    clf = EvolvingFuzzyClassifier().partial_fit(X[:500], Y[:500])
    clf.test_then_train(X[500:4000], Y[500:4000])
    shown = [event.kind for event in clf.events_ if event.kind in MAJOR]
    assert shown == ["sensor moved"]


def test_a_correction_that_stops_helping_is_dropped_along_a_stream():
    """The inputs have moved, and labels first follow as if the sensor had; then they follow the reading as it is."""
    X = np.random.default_rng(0).normal(size=(6000, 4))[: AT + 800]
    read = X.copy()
    read[AT:, 0] += 3.0

    def labels(rows):
        near = np.abs(rows[:, 0]) < 0.7
        return np.column_stack([near, near ^ (rows[:, 1] > 0.0), rows[:, 2] > 0.0]).astype(float)

    Y = np.concatenate([labels(X[: AT + 300]), labels(read[AT + 300 :])])
    clf = EvolvingFuzzyClassifier()
    clf.test_then_train(read, Y)
    moved, dropped = (event for event in clf.events_ if event.kind in ("sensor moved", "correction dropped"))
    assert (moved.kind, moved.feature, dropped.kind, dropped.feature) == (
        "sensor moved",
        "x0",
        "correction dropped",
        "x0",
    )
    assert AT + 300 < dropped.sample < AT + 500
    np.testing.assert_array_equal(clf.inner.any_model.drift.sensors.corrected(read), read)


def test_a_drift_that_is_held_until_it_is_over_is_no_event():
    """The sensor is loose: after a while it reads right in most rows, so that it stays suspect for long."""
    X, Y = sloped_stream()
    rng, loose = np.random.default_rng(0), np.zeros(len(X), bool)
    rng.normal(size=X.shape)
    loose[AT : AT + 350] = True
    loose[AT + 350 :] = np.repeat(rng.random(1331) < 0.4, 5)[: len(X) - AT - 350]
    X[loose, 0] += 2.0
    clf = EvolvingFuzzyClassifier().partial_fit(X[:500], Y[:500])
    clf.test_then_train(X[500:5300], Y[500:5300])
    begun, ended = {}, []
    for event in clf.events_:
        if event.kind == "drift":
            begun[event.label] = event.sample
        elif event.kind in ("recovered", "settled"):
            ended.append((event.kind, event.sample - begun.pop(event.label)))
    assert ended
    assert min(rows for _, rows in ended) >= SHORTEST_DRIFT


@pytest.mark.parametrize(("share", "shift"), [(0.2, -3.0), (0.3, -2.0), (0.5, 2.0)])
@pytest.mark.parametrize("seed", [1, 2])
def test_a_sensor_is_known_to_have_moved_although_its_label_has_shown_an_error_first(share, shift, seed):
    """Outputs of a label without noise are so sure that ten wrong ones are a drift, before the sensor is suspect."""
    X = np.random.default_rng(seed).normal(size=(AT + 500, 6))
    Y = (X[:, [2]] < np.quantile(X[:, 2], share)).astype(float)
    X[AT:, 2] += shift
    clf = classifier_of(X, Y)
    clf.test_then_train(X[80:], Y[80:])
    assert [event.kind for event in clf.events_ if event.feature == "x2"] == ["sensor moved"]


def test_a_sensor_of_a_rare_fault_that_lasts_is_known_to_have_moved():
    """It is read on in the many rows without the fault, where both views are right."""
    rng, found = np.random.default_rng(0), []
    for _ in range(4):
        level = np.repeat(rng.normal(size=400), 15)
        X = np.column_stack([rng.normal(size=(6000, 2)), 6.0 - 0.5 * level + 0.05 * rng.normal(size=6000)])
        Y = (X[:, [2]] < np.quantile(X[:, 2], 0.05)).astype(float)
        X[3000:, 2] += 1.5
        clf = classifier_of(X, Y)
        clf.test_then_train(X[80:], Y[80:])
        found.append([event.kind for event in clf.events_ if event.feature == "x2" and event.sample > 3000][:1])
    assert found.count(["sensor moved"]) >= 3, found


def test_a_label_that_drifts_while_inputs_move_is_reported_once_they_are_known():
    X, Y = bent_stream(3500, 11, p=5)
    X = np.column_stack([X, np.random.default_rng(0).normal(size=len(X))])
    X[AT:, 5] += 4.0
    Y[AT:, 1] = 1.0 - Y[AT:, 1]
    clf, _ = run(X, Y)
    drifts = [event.sample for event in clf.events_ if event.kind == "drift" and event.label == "label1"]
    assert len(drifts) == 1
    assert AT + 100 < drifts[0] <= AT + 20 + LONGEST_HELD


@pytest.mark.parametrize("factor", [30.0, 100.0, 1000.0])
def test_a_sensor_in_another_unit_is_corrected_once_by_its_factor(factor):
    X, Y = bent_stream(3500, 11, p=5)
    X[:, 2] = 4.0 + X[:, 2] / (2.0 * X[:, 2].std())
    X[AT:, 2] *= factor
    clf, right = run(X, Y)
    assert about_features(clf) == [("sensor moved", 2)]
    event = next(event for event in clf.events_ if event.kind == "sensor moved")
    assert event.before == pytest.approx(X[:AT, 2].mean(), rel=0.02)
    sensors = clf.inner.any_model.sensors.arrays
    assert sensors.views[FACTOR, 2] == pytest.approx(1.0 / factor, rel=0.3)
    assert right[AT + 300 :].mean() > right[500:AT].mean() - 0.03


@pytest.mark.parametrize("seed", [1, 2])
def test_a_feature_that_has_moved_far_is_reported_once(seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(4000, 4))
    Y = (X[:, :2] + X[:, 2:] / 2.0 > 0.0).astype(float)
    X[:, 0] = 12.0 + X[:, 0]
    X[AT:, 0] *= -1.0
    clf, _ = run(X, Y)
    assert [feature for _, feature in about_features(clf)] == [0]  # of a changed sign, either verdict may come


def travelling(seed, rows=3500, trend=None):
    """Inputs that really move, by three deviations at once or `trend` per 1,000 rows; the border of the label stays."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows, 3))
    X[AT:, 0] += 3.0 if trend is None else trend * np.arange(rows - AT) / 1000.0
    return X, (X[:, 0] + X[:, 1] > np.where(X[:, 2] > 0.0, 1.0, 2.0)).astype(float)[:, None]


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_inputs_that_moved_are_not_corrected(seed):
    X, Y = travelling(seed)
    clf, right = run(X, Y)
    assert about_features(clf) == [("inputs moved", 0)]
    np.testing.assert_array_equal(clf.inner.any_model.drift.sensors.corrected(X), X)
    assert right[AT + 300 :].mean() > 0.85
    views = clf.inner.any_model.drift.sensors.arrays.views
    np.testing.assert_array_equal(views, np.repeat([[0.0], [1.0], [0.0], [1.0]], 3, axis=1))


@pytest.mark.parametrize("seed", [12, 16])
def test_a_sensor_that_trends_is_corrected_in_steps(seed):
    X, Y = bent_stream(5000, seed, p=5)
    X[AT:, 2] += np.linspace(0.0, 5.0, 3000) * X[:AT, 2].std()
    clf, right = run(X, Y)
    assert set(about_features(clf)) == {("sensor moved", 2)}
    assert len(about_features(clf)) > 1
    assert right[AT:].mean() > right[500:AT].mean() - 0.02


@pytest.mark.parametrize("seed", [0, 1])
def test_inputs_that_trend_are_not_corrected(seed):
    X, Y = travelling(seed, trend=2.0)
    clf, right = run(X, Y)
    assert set(about_features(clf)) == {("inputs moved", 0)}
    np.testing.assert_array_equal(clf.inner.any_model.drift.sensors.corrected(X), X)
    assert right[AT:].mean() > right[500:AT].mean() - 0.03


def test_a_stuck_sensor_starts_no_trial():
    X, Y = bent_stream(3500, 13, p=5)
    X[AT:3000, 2] = X[:, 2].max()
    clf = classifier_of(X, Y)
    for start in range(80, 3000, 10):
        clf.partial_fit(X[start : start + 10], Y[start : start + 10])
        assert clf.inner.any_model.drift.sensors.arrays.trial[IS_ON] == 0.0
    assert not about_features(clf)
    clf.partial_fit(X[3000:], Y[3000:])
    assert ("sensor moved", 2) not in about_features(clf)


def test_few_valued_features_and_stationary_streams_are_left_alone():
    X, Y = bent_stream(4000, 14)
    X[:, 1] = np.round(X[:, 1] / X[:, 1].std()).clip(-1, 1)
    X[3000:, 1] = 1.0
    clf, _ = run(X, Y)
    assert not about_features(clf)


@pytest.mark.parametrize("way", ["forward", "backward", "rows come late"])
def test_elapsed_time_is_no_sensor_that_moves(way):
    X, Y = bent_stream(2500, 11, p=5)
    clock = np.arange(2500.0) if way == "forward" else -np.arange(2500.0)
    if way == "rows come late":
        clock = np.arange(2500.0) + np.random.default_rng(0).uniform(0.0, 3.0, 2500)
    X[:, 3] = clock
    clf, _ = run(X, Y)
    assert not about_features(clf)
    np.testing.assert_array_equal(clf.inner.any_model.drift.sensors.corrected(X), X)
    twin, sensors = clf.sibling().inner.any_model.sensors, clf.inner.any_model.sensors
    np.testing.assert_array_equal(twin.arrays.phase, sensors.arrays.phase)


def test_missing_readings_start_no_trial_and_are_no_readings():
    X, Y = bent_stream(3000, 15)
    X[AT:, 0] = np.nan
    clf, _ = run(X, Y)
    assert not about_features(clf)


def test_the_better_view_answers_during_the_trial():
    X, Y = bent_stream(3000, 11, p=5)
    X[AT:, 2] += 5.0 * X[:AT, 2].std()
    clf = classifier_of(X, Y)
    clf.partial_fit(X[80:AT], Y[80:AT])
    seen = set()
    for i in range(AT, AT + 260):
        rules = clf.inner.any_model.trained()
        m = rules.beside.sensors.arrays
        on, new = bool(m.trial[IS_ON]), bool(m.trial[IS_ON] and m.trial[3] <= m.trial[2])
        seen.add((on, new))
        first = NEW_OFFSET if new else OFFSET
        expected = m.views[first] + m.views[first + 1] * X[i : i + 1]
        np.testing.assert_array_equal(rules.beside.sensors.corrected(X[i : i + 1]), expected)
        Z = clf.inner.any_model.scale(X[i : i + 1])
        np.testing.assert_array_equal(Z, clf.inner.any_model.scaler.transform(expected))
        answered = clf.decision_function(X[i : i + 1])
        learned = clf.test_then_train(X[i : i + 1], Y[i : i + 1])
        np.testing.assert_allclose(learned, answered, rtol=0, atol=1e-12)
    assert {(False, False), (True, True)} <= seen
    assert clf.inner.any_model.drift.sensors.arrays.views[FACTOR, 2] == 1.0


@pytest.mark.parametrize("seed", [13, 14])
def test_inputs_that_come_and_go_do_not_hide_a_sensor_that_moves(seed):
    """A load cycle is tried until its range is known; the sensor that moves later has a trial of its own."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(5000, 5))
    X[:, 4] += 3.0 * np.sin(2.0 * np.pi * np.arange(5000) / 800.0)
    Y = (X @ rng.normal(size=(5, 3)) > 0.0).astype(float)
    X[4000:, 2] += 5.0
    clf, _ = run(X, Y)
    found = [event for event in clf.events_ if event.kind in ("sensor moved", "inputs moved")]
    assert [(event.kind, event.feature) for event in found if event.sample > 2400] == [("sensor moved", "x2")]
    assert {(event.kind, event.feature) for event in found if event.sample <= 2400} == {("inputs moved", "x4")}
