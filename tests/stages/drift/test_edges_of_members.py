"""Edges at which members once went wrong: tiny weights, few answers in a trial, wider models, damaged views."""

import numpy as np
import pytest

from evolabel import DriftAlarm
from evolabel.core.events import Event
from evolabel.core.options import Options
from evolabel.core.rows import Batch
from evolabel.errors import DataError
from evolabel.model.growth import grow_features
from evolabel.model.storage.snapshot import model_from_arrays, model_to_arrays
from evolabel.model.stream_model import StreamModel
from evolabel.stages.sensors.arrays import FACTOR, IS_ON, OFFSET, REVIEW


def trained(p, rows, seed=0, shift=0.0, at=0):
    """A model of `rows` rows of `p` features, of which the first moves by `shift` at row `at`."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows, p))
    Y = (X[:, :2] + 0.3 * rng.normal(size=(rows, 2)) > 0.0).astype(float)
    X[at or rows :, 0] += shift
    return StreamModel(p, 2, Options(max_rules=5)), X, Y


def test_a_tiny_weight_leaves_an_alarm_whole():
    alarm = DriftAlarm()
    alarm.update(0.3, weight=1e-310)
    alarm.update(0.2)
    assert np.isfinite(alarm.recent_losses).all()
    assert np.isfinite(alarm.calm_losses).all()


@pytest.mark.compiled
@pytest.mark.parametrize("at", [300, 500])
def test_a_plain_shift_early_in_a_stream_keeps_the_scale(at):
    model, X, Y = trained(3, 900, shift=5.0, at=at)
    model.learn(Batch(X, Y))
    views = model.drift.sensors.arrays.views
    assert views[FACTOR, 0] == 1.0
    assert views[OFFSET, 0] == pytest.approx(-5.0, abs=0.5)


@pytest.mark.compiled
def test_a_trial_waits_for_enough_answers():
    model, X, Y = trained(3, 700, shift=5.0, at=500)
    model.learn(Batch(X[:600], Y[:600]))
    rules = model.trained()
    assert rules.beside.sensors.arrays.trial[IS_ON] == 1.0
    for i in range(600, 620):
        model.advance(99)
        model.learn(Batch(X[i : i + 1], Y[i : i + 1]))
    moved = [event.sample for event in rules.events if event.kind == "sensor moved"]
    assert rules.beside.sensors.arrays.trial[IS_ON] == (REVIEW if moved else 1.0)
    assert not moved or moved[0] >= 570  # 50 rows with labels, however many without


@pytest.mark.compiled
def test_fast_sums_count_in_blocks_of_the_new_length():
    model, X, Y = trained(60, 1500)
    model.learn(Batch(X, Y))
    rules = model.trained()
    before = rules.beside.fast.hessian(0)[-1, -1]
    grow_features(model, [X[:, j] for j in range(60)])
    wider = model.trained()
    assert wider.settings.memory > rules.settings.memory
    assert (wider.arrays.fast_block[: wider.n_rules + 1] == wider.beside.block).all()
    assert wider.beside.fast.hessian(0)[-1, -1] == pytest.approx(before, rel=0.25)  # faded to the present, no further


@pytest.mark.compiled
def test_a_view_without_a_factor_is_refused():
    model, X, Y = trained(3, 300)
    model.learn(Batch(X, Y))
    arrays, facts = model_to_arrays(model)
    views = arrays["sensors.views"].copy()
    views[FACTOR, 1] = 0.0
    with pytest.raises(DataError, match="factors above 0"):
        model_from_arrays({**arrays, "sensors.views": views}, facts)


def test_a_name_that_is_gone_is_a_number():
    event = Event(5, "sensor moved", None, None, feature=9, deviations=1.0)
    assert event.named(["a"], ["b"]) is event
    assert "sensor 9 moved" in str(event)
