"""The drift alarm as a drift detector of river: river's own checks, and river's models that use one."""

import copy
import random

import pytest
import river.base
from river import drift, tree
from river.checks import yield_checks
from river.checks.common import check_tags
from river.datasets import synth

from evolabel.adapters.river import RiverDriftAlarm
from evolabel.errors import DataError, ParameterError

ALARMS = [RiverDriftAlarm(), RiverDriftAlarm(share=0.02)]


def losses_with_a_jump(seed, calm=1000, after=500):
    rng = random.Random(seed)
    return [rng.uniform(0.0, 0.3) for _ in range(calm)] + [rng.uniform(0.2, 1.0) for _ in range(after)]


def checks():
    """River's checks of an estimator; tags belong to estimators alone, and no drift detector of river has them."""
    assert not hasattr(drift.ADWIN(), "_tags")
    return [
        pytest.param(alarm, check, id=f"{check.__name__} {alarm.share}")
        for alarm in ALARMS
        for check in yield_checks(alarm)
        if check is not check_tags
    ]


@pytest.mark.parametrize(("alarm", "check"), checks())
def test_river_check(alarm, check):
    check(alarm.clone())


def test_it_is_a_drift_detector_of_river():
    assert isinstance(RiverDriftAlarm(), river.base.DriftDetector)
    assert isinstance(RiverDriftAlarm(), river.base.DriftAndWarningDetector)


def test_a_jump_is_detected_once_and_flags_are_those_of_the_last_update():
    detector, found = RiverDriftAlarm(), []
    for number, loss in enumerate(losses_with_a_jump(0)):
        assert detector.update(loss) is None
        found += [number] if detector.drift_detected else []
        assert (detector.drift_detected, detector.warning_detected) == (
            detector.alarm.drift_detected,
            detector.alarm.warning_detected,
        )
    assert len(found) == 1
    assert 1000 <= found[0] < 1030


def test_a_slow_rise_is_a_warning():
    rng, detector, found = random.Random(0), RiverDriftAlarm(), set()
    for number in range(4000):
        detector.update(rng.uniform(0.0, 0.2) + (0.03 if number >= 1500 else 0.0))
        found |= {(detector.drift_detected, detector.warning_detected)}
    assert found == {(False, False), (False, True)}


def test_losses_that_are_not_known_are_skipped():
    detector, gappy = RiverDriftAlarm(), RiverDriftAlarm()
    for loss in losses_with_a_jump(1, 300, 0):
        detector.update(loss)
        gappy.update(loss)
        gappy.update(None)
        gappy.update(float("nan"))
    assert gappy.alarm.recent_losses == detector.alarm.recent_losses


def test_a_copy_goes_on_and_a_clone_begins_anew():
    detector = RiverDriftAlarm(share=0.2)
    for loss in losses_with_a_jump(2, 1000, 100):
        detector.update(loss)
    twin, clone = copy.deepcopy(detector), detector.clone()
    assert twin.alarm.is_raised.all()
    assert (clone.share, clone.alarm.n_rows) == (0.2, 0)
    detector._reset()
    assert (detector.share, detector.alarm.n_rows, detector.drift_detected) == (0.2, 0, False)


def test_river_retrains_a_model_by_it():
    concepts = [synth.SEA(variant, seed=7).take(1500) for variant in (0, 2)]
    model = drift.DriftRetrainingClassifier(tree.HoeffdingTreeClassifier(), drift_detector=RiverDriftAlarm())
    for stream in concepts:
        for x, y in stream:
            model.predict_one(x)
            model.learn_one(x, y)
    assert model.drift_detector.alarm.n_rows > 0


@pytest.mark.parametrize("loss", [-0.1, 1.1, float("inf"), "high", [0.1, 0.2]])
def test_values_that_are_no_losses_are_refused(loss):
    with pytest.raises(DataError, match="losses"):
        RiverDriftAlarm().update(loss)


@pytest.mark.parametrize("share", [-0.1, 1.1, None])
def test_a_share_is_between_zero_and_one(share):
    with pytest.raises(ParameterError, match=r"share=.* is not allowed; use a number >= 0 and <= 1"):
        RiverDriftAlarm(share)
