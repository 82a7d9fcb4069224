"""The watch of the sensors against its plain twin: views, suspicion, trial and verdict, row by row."""

import numpy as np
import pytest
from callable_kernels import CallableKernels
from choices import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from naive.members import NaiveSensor, NaiveTrial
from small_members import small_members

from evolabel.core.events import Event
from evolabel.engine.packed_state import pack
from evolabel.stages.drift.arrays import FINAL, ROW_INDEPENDENT, ROWS, SLOW
from evolabel.stages.drift.loops import follow as views_module
from evolabel.stages.scaling import loops as scaling
from evolabel.stages.sensors import loops as sensors_module
from evolabel.stages.sensors.arrays import (
    BEGUN,
    CORRECTION_DROPPED,
    FACTOR,
    INPUTS_MOVED,
    IS_ON,
    LOSS_AS_READ,
    LOSS_MOVED,
    NEW_FACTOR,
    NEW_OFFSET,
    NEW_ROWS,
    NO_VERDICT,
    OFFSET,
    RUN_ENDED,
    SENSOR_MOVED,
    STARTED,
    UNSETTLED,
)
from evolabel.stages.sensors.stage import MovedSensor, WatchedSensors

sensors, views, scores = (CallableKernels(module) for module in (sensors_module, views_module, scaling))

PHASES = ["watched", "collecting", "on trial", "unwatched", "reviewed"]
VERDICTS = {
    NO_VERDICT: "",
    SENSOR_MOVED: "sensor moved",
    INPUTS_MOVED: "inputs moved",
    CORRECTION_DROPPED: "correction dropped",
}
READINGS = ("mean", "variance", "usual_mean", "usual_variance", "calm_mean", "calm_variance", "calm_rows")


class Watched:
    """The kernel and its twin beside each other; they must agree on verdicts at every row, on all else at many."""

    def __init__(self, seed, p=2, K=2, calm=1500):
        self.rng = np.random.default_rng(seed)
        self.members = small_members(p, K, self.rng)
        self.packed, knots = pack(self.members), pack(self.members.knots)
        self.twin = NaiveTrial([NaiveSensor(lambda v, j=j: scores.score_of(knots, j, v)) for j in range(p)])
        self.found, self.started = [], []
        for _ in range(calm):  # the initial batch
            x = self.rng.normal(size=p)
            views.learn_sensors(x, np.zeros(K), np.ones(K), False, self.packed)
            for sensor, value in zip(self.twin.sensors, x, strict=True):
                sensor.learn_calm(value)

    def learn(self, x, error_as_read=0.1, error_moved=0.1, run=0):
        """Learn a row; the slow member has these errors by the view in use and by the one on trial.

        Answers come in runs of `run` rows; 0: they come as if at random.
        """
        m = self.members
        if run:
            m.arrays.time[ROW_INDEPENDENT], self.twin.persists = 1.0 / run, True
            if int(m.arrays.clock[ROWS]) % run == 0:
                m.sensors.arrays.trial[RUN_ENDED] = 1.0
                self.twin.runs.append([])
        m.arrays.clock[ROWS] += 1
        now, K = int(m.arrays.clock[ROWS]), len(m.other)
        y, confidence = (self.rng.random(K) < 0.5).astype(float), self.rng.uniform(0.1, 1.0, K)
        unknown = self.rng.random(K) < 0.2
        unknown[0] = False
        y[unknown], confidence[unknown] = np.nan, 0.0
        new = bool(sensors.uses_new_view(self.members.sensors.arrays.trial))
        assert new == self.twin.uses_new
        used, other = (error_moved, error_as_read) if new else (error_as_read, error_moved)
        sign = 1.0 - 2.0 * y
        m.F[SLOW], m.other[:] = y + sign * used, y + sign * other
        ended = views.learn_sensors(x, y, confidence, True, self.packed)
        verdicts = self.twin.learn(x, used**2, other**2, now)
        assert [VERDICTS[int(verdict)] for verdict in m.sensors.verdict] == verdicts
        assert ended >= any(verdicts)
        watched = [s for s, value in zip(self.twin.sensors, x, strict=True) if not np.isnan(value)]
        assert bool(m.sensors.arrays.trial[UNSETTLED]) == any(s.unsettled for s in watched)
        self.found += [(now, j, verdict) for j, verdict in enumerate(verdicts) if verdict]
        if self.twin.on and m.sensors.arrays.trial[STARTED] == now:
            self.started.append(now)
        m.sensors.verdict[:] = NO_VERDICT
        if now % 7 == 0 or m.sensors.arrays.trial[STARTED] == now or ended:
            self.compare()

    def compare(self):
        """All numbers agree."""
        m, twin = self.members, self.twin
        assert [PHASES[phase] for phase in m.sensors.arrays.phase] == [sensor.phase for sensor in twin.sensors]
        for j, s in enumerate(twin.sensors):
            np.testing.assert_allclose(m.sensors.arrays.views[:, j], [s.a, s.b, s.new_a, s.new_b], rtol=1e-9, atol=1e-9)
            np.testing.assert_allclose(
                m.sensors.arrays.readings[:7, j], [getattr(s, name) for name in READINGS], rtol=1e-9, atol=1e-9
            )
            assert m.sensors.arrays.readings[10, j] == s.corrected_at
            means, variances = zip(*s.usual, strict=True)
            usual = min(means), max(means), min(variances), max(variances)
            np.testing.assert_allclose(m.sensors.arrays.readings[11:15, j], usual, rtol=1e-9, atol=1e-9)
            if s.phase in ("collecting", "on trial"):
                new = np.array(s.new or [0.0])
                expected = [len(s.new), new.mean(), len(new) * new.var()]
                np.testing.assert_allclose(
                    m.sensors.arrays.readings[NEW_ROWS : NEW_ROWS + 3, j], expected, rtol=1e-8, atol=1e-9
                )
        assert m.sensors.arrays.trial[IS_ON] == (2.0 if twin.reviews else float(twin.on))
        if twin.on or twin.reviews:
            assert m.sensors.arrays.trial[STARTED] == twin.since
            assert m.sensors.arrays.trial[BEGUN] == twin.begun
            np.testing.assert_allclose(
                m.sensors.arrays.trial[[LOSS_AS_READ, LOSS_MOVED]], [twin.as_read, twin.moved], rtol=1e-11
            )


SHIFTS = st.sampled_from([0.0, 2.0, 5.0, -5.0, 100.0])
FACTORS = st.sampled_from([1.0, 1.2, 10.0, 0.1, 1000.0])


@settings(max_examples=examples(15))
@given(
    st.integers(0, 10_000),
    SHIFTS,
    FACTORS,
    SHIFTS,
    st.sampled_from([0.0, 0.2]),
    st.sampled_from([0.05, 0.6]),
    st.sampled_from([0, 3, 20, 60]),
)
def test_the_watch_is_that_of_the_twin(seed, shift, factor, later, gaps, error_moved, run):
    watched = Watched(seed, calm=100)
    for i in range(450):
        x = watched.rng.normal(size=2)
        x[0] = factor * x[0] + shift if i >= 60 else x[0]
        x[1] += later if i >= 150 else 0.0
        x[watched.rng.random(2) < gaps] = np.nan
        watched.learn(x, watched.rng.uniform(0.0, 0.5), watched.rng.uniform(0.0, 1.6) * error_moved, run)


def test_inputs_that_come_and_go_are_tried_until_their_range_is_known():
    watched = Watched(4)
    for i in range(3000):
        load = 3.0 * np.sin(2.0 * np.pi * i / 600.0)
        watched.learn(watched.rng.normal(size=2) + np.array([load, 0.0]), 0.1, 0.1)
    assert {(feature, verdict) for _, feature, verdict in watched.found} == {(0, "inputs moved")}
    assert max(row for row, _, _ in watched.found) < 1200


def test_a_correction_that_is_hardly_better_is_dropped():
    watched = Watched(5)
    for i in range(400):
        watched.learn(watched.rng.normal(size=2) + np.array([3.0 * (i >= 60), 0.0]), 0.2, 0.198)
    assert [(feature, verdict) for _, feature, verdict in watched.found] == [(0, "inputs moved")]


def test_a_sensor_that_moved_is_corrected():
    watched = Watched(0)
    for i in range(400):
        watched.learn(watched.rng.normal(size=2) + np.array([5.0 * (i >= 60), 0.0]), 0.5, 0.1)
    (row, feature, verdict), *others = watched.found
    assert (feature, verdict, others) == (0, "sensor moved", [])
    assert row == watched.started[0] + 200
    assert 60 + 30 < watched.started[0] < 60 + 80
    offset, factor = watched.members.sensors.arrays.views[[OFFSET, FACTOR], 0]
    assert factor == 1.0
    assert offset == pytest.approx(-5.0, abs=0.3)
    np.testing.assert_array_equal(watched.members.sensors.arrays.views[:, 1], [0.0, 1.0, 0.0, 1.0])
    m, z = watched.members, np.empty(2)
    views.fill_row(np.array([5.0, np.nan]), OFFSET, watched.packed, z)
    corrected = m.sensors.x
    assert corrected[0] == offset + 5.0
    assert z[0] == scores.clipped_score(pack(m.knots), 0, corrected[0])
    assert np.isnan(corrected[1])
    assert np.isnan(z[1])


@pytest.mark.parametrize(("run", "rows"), [(3, 200), (20, 200), (60, 300), (0, 200)])
def test_a_correction_needs_several_runs_where_answers_persist(run, rows):
    watched = Watched(0)
    for i in range(560):
        errors = (0.1, 0.5) if watched.found else (0.5, 0.1)
        watched.learn(watched.rng.normal(size=2) + np.array([5.0 * (i >= 60), 0.0]), *errors, run)
    (found,) = watched.found
    assert found[1:] == (0, "sensor moved")
    assert rows <= found[0] - watched.started[0] < rows + max(run, 1)
    assert watched.members.sensors.arrays.views[OFFSET, 0] != 0.0


def test_a_trial_with_few_runs_of_answers_ends_without_a_verdict():
    """Suspects that come later wait; without a limit each would start the trial anew."""
    watched = Watched(0, p=3, K=1)
    for i in range(5200):
        moved = 5.0 * (np.array([60, 400, 4000]) <= i)
        watched.learn(watched.rng.normal(size=3) + moved, 0.5, 0.1, 1500)
    assert watched.found == []
    assert watched.members.sensors.arrays.views[OFFSET, 0] == 0.0
    assert [row - watched.started[0] for row in watched.started] == [0, 5000]
    assert watched.members.sensors.arrays.phase.tolist() == [0, 2, 2]


@pytest.mark.parametrize(("run", "earliest", "latest"), [(0, 0, 0), (20, 20, 60), (1500, 200, 200)])
def test_a_view_on_trial_answers_once_runs_show_that_it_is_better(run, earliest, latest):
    """Where answers come as if at random, it answers at once; two runs of 1,500 come too late."""
    watched, uses_new = Watched(0), []
    while len(uses_new) < 200:
        moved = np.array([5.0 * (watched.members.arrays.clock[ROWS] >= 60), 0.0])
        watched.learn(watched.rng.normal(size=2) + moved, 0.5, 0.1, run)
        if watched.started:
            uses_new.append(bool(sensors.uses_new_view(watched.members.sensors.arrays.trial)))
    assert earliest <= [*uses_new, True].index(True) <= latest


def test_a_trial_goes_on_while_a_gain_over_runs_is_likely_and_not_sure():
    """The moved sensor matters in every second run alone, as where a rare fault lasts."""
    watched = Watched(0)
    for i in range(800):
        error = 0.1 if i // 20 % 2 else 0.5
        watched.learn(watched.rng.normal(size=2) + np.array([5.0 * (i >= 60), 0.0]), 0.5, error, 20)
        assert not watched.found or i > 320
    assert [(feature, verdict) for _, feature, verdict in watched.found] == [(0, "sensor moved")]


def corrected(errors, run=0):
    """Sensor 0 moves and is corrected; then the slow member has these `errors` as corrected and as read."""
    watched = Watched(0)
    for i in range(340):
        used, other = (0.1, 0.5) if watched.found else (0.5, 0.1)
        watched.learn(watched.rng.normal(size=2) + np.array([5.0 * (i >= 60), 0.0]), used, other, run)
    assert [verdict for _, _, verdict in watched.found] == ["sensor moved"]
    for as_corrected, as_read in errors:
        watched.learn(watched.rng.normal(size=2) + np.array([5.0, 0.0]), as_corrected, as_read, run)
    return watched


@pytest.mark.parametrize("run", [2, 20])
def test_a_correction_that_stops_helping_is_dropped(run):
    watched = corrected([(0.1, 0.5)] * 600 + [(0.5, 0.1)] * 600, run)
    (adopted, *_), (dropped, feature, verdict) = watched.found
    assert (feature, verdict) == (0, "correction dropped")
    assert 600 < dropped - adopted <= 1100
    m = watched.members
    np.testing.assert_array_equal(m.sensors.arrays.views[:, 0], [0.0, 1.0, 0.0, 1.0])
    before, after, deviations, variance, offset, factor, since = m.sensors.moved[:, 0]
    assert (before, after) == (pytest.approx(0.0, abs=0.3), pytest.approx(5.0, abs=0.3))
    assert deviations == pytest.approx((after - before) / np.sqrt(variance))
    assert (offset, factor, since) == (pytest.approx(-5.0, abs=0.3), 1.0, adopted - 200)
    assert m.sensors.arrays.trial[IS_ON] == 0.0


def test_a_correction_that_is_dropped_is_an_event_with_the_row_since_which_rows_were_corrected():
    stage = WatchedSensors(2)
    stage.state.verdict[0] = CORRECTION_DROPPED
    stage.state.moved[:, 0] = [0.0, 5.0, 2.5, 4.0, -5.0, 1.0, 120.0]
    about = {"feature": 0, "before": 0.0, "after": 5.0, "deviations": 2.5}
    assert [*stage.verdicts(330)] == [("correction dropped", about)]
    assert stage.moved == [MovedSensor(330, 0, 0.0, 4.0, (-5.0, 1.0), (0.0, 1.0), 120)]
    assert "no longer helps, and is dropped" in str(Event(330, "correction dropped", None, None, **about))


@pytest.mark.parametrize("errors", [(0.1, 0.5), (0.1, 0.098)])
def test_a_correction_that_helps_stays_and_is_reviewed_for_5000_rows(errors):
    watched = corrected([errors] * 4900, 20)
    assert [verdict for _, _, verdict in watched.found] == ["sensor moved"]
    assert watched.members.sensors.arrays.views[OFFSET, 0] == pytest.approx(-5.0, abs=0.3)
    assert watched.members.sensors.arrays.trial[IS_ON] == 2.0
    for _ in range(400):
        watched.learn(watched.rng.normal(size=2) + np.array([5.0, 0.0]), 0.1, 0.1, 20)
    assert watched.members.sensors.arrays.trial[IS_ON] == 0.0


@pytest.mark.parametrize(("gain_of_odd_runs", "verdict"), [(0.4, "sensor moved"), (-0.3, "inputs moved")])
def test_a_gain_in_some_runs_is_chance_where_answers_persist(gain_of_odd_runs, verdict):
    watched = Watched(0)
    for i in range(400):
        error = 0.5 - (gain_of_odd_runs if i // 20 % 2 else 0.45)
        watched.learn(watched.rng.normal(size=2) + np.array([5.0 * (i >= 60), 0.0]), 0.5, error, 20)
    assert [found for _, _, found in watched.found] == [verdict]


@pytest.mark.parametrize(("n_moved", "verdicts"), [(4, {"sensor moved"}), (5, set())])
def test_more_sensors_at_once_need_more_proof(n_moved, verdicts):
    watched = Watched(0, p=6)
    for i in range(400):
        x = watched.rng.normal(size=6)
        x[:n_moved] += 5.0 * (i >= 60)
        watched.learn(x, 0.5, 0.45 if i // 20 % 2 else 0.1, 20)  # the mean gain is some four standard errors
    assert {found for _, _, found in watched.found} == verdicts


@pytest.mark.parametrize("run", [2, 20])
def test_a_replaced_logger_is_corrected_as_a_whole(run):
    watched = Watched(0, p=6)
    for i in range(400):
        watched.learn(watched.rng.normal(size=6) + 5.0 * (i >= 60), 0.5, 0.1, run)
    assert sorted(found[1:] for found in watched.found) == [(j, "sensor moved") for j in range(6)]


def test_inputs_that_moved_are_usual_afterwards():
    watched = Watched(1)
    for i in range(900):
        watched.learn(watched.rng.normal(size=2) + np.array([5.0 * (i >= 60), 0.0]), 0.1, 0.5)
    assert [verdict for _, _, verdict in watched.found] == ["inputs moved"]
    np.testing.assert_array_equal(
        watched.members.sensors.arrays.views[[OFFSET, FACTOR, NEW_OFFSET, NEW_FACTOR], 0], [0, 1, 0, 1]
    )


@pytest.mark.parametrize("error", [0.1, 0.5])
def test_no_trial_of_a_reading_that_is_stuck(error):
    watched = Watched(2)
    for i in range(600):
        x = watched.rng.normal(size=2)
        watched.learn(np.array([5.0 if i >= 60 else x[0], x[1]]), error, 0.3)
    assert not watched.started
    for _ in range(300):  # it reads again
        watched.learn(watched.rng.normal(size=2), 0.3, 0.3)
    assert [feature for _, feature, _ in watched.found] in ([], [0])


def test_a_later_suspect_starts_the_trial_anew_and_shares_its_verdict():
    watched = Watched(3)
    for i in range(500):
        errors = (0.1, 0.5) if watched.found else (0.5, 0.1)
        watched.learn(watched.rng.normal(size=2) + np.array([5.0 * (i >= 60), -5.0 * (i >= 160)]), *errors)
    assert len(watched.started) == 2
    assert watched.found == [(watched.started[1] + 200, j, "sensor moved") for j in range(2)]


def test_calm_features_are_never_suspect():
    watched = Watched(4, p=3)
    for _ in range(3000):
        watched.learn(watched.rng.normal(size=3))
    assert not watched.started


def test_features_of_few_values_are_not_watched():
    members = small_members(2, 1, np.random.default_rng(0))
    members.knots.used[1] = 7
    packed = pack(members)
    before = members.sensors.arrays.readings[:, 1].copy()
    for _ in range(100):
        members.arrays.clock[ROWS] += 1
        views.learn_sensors(np.array([0.0, 50.0]), np.ones(1), np.ones(1), True, packed)
    np.testing.assert_array_equal(members.sensors.arrays.readings[:, 1], before)
    assert members.sensors.arrays.phase[1] == 0
    assert members.F.shape[0] == FINAL + 1
