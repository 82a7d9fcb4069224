"""The drift alarm as an object: what it detects and when, what it skips, stores and refuses."""

import copy
import pickle

import numpy as np
import pytest
from choices import first_quick

from evolabel import DriftAlarm
from evolabel.errors import DataError, ParameterError
from evolabel.stages.drift.arrays import N_ALARM
from evolabel.stages.drift.loops.alarm import (
    CALM_COUNT,
    CALM_MEAN,
    CALM_ODDS,
    CALM_VARIANCE,
    COUNTED_AT,
    IS_RAISED,
    ODDS,
    RAISED_AT,
)


def squared_errors(seed, rows, certainty=2.0, wrong=0.0, share=0.5):
    """Losses and labels of a calibrated learner; `wrong` is the share of rows whose label is turned."""
    rng = np.random.default_rng(seed)
    p = 1.0 / (1.0 + np.exp(-np.log(share / (1.0 - share)) - certainty * rng.normal(size=rows)))
    y = (rng.random(rows) < p) != (rng.random(rows) < wrong)
    return (p - y) ** 2, y.astype(float)


def drifts(alarm, losses, labels=None):
    """The rows at which a drift is detected."""
    found = []
    for row, loss in enumerate(losses):
        if alarm.update(loss, None if labels is None else labels[row]) == "drift":
            found.append(row)
    return found


@pytest.mark.parametrize("seed", range(4))
def test_a_jump_is_detected_within_tens_of_rows(seed):
    losses, labels = np.hstack([squared_errors(seed, 1000, 4.0), squared_errors(seed + 50, 500, 4.0, wrong=1.0)])
    found = drifts(DriftAlarm(), losses, labels)
    assert len(found) == 1
    assert 1000 <= found[0] < 1040


@pytest.mark.compiled
@pytest.mark.parametrize("share", [0.5, 0.2])
@pytest.mark.parametrize("seed", first_quick(*range(5)))
def test_stationary_losses_are_no_drift(seed, share):
    assert drifts(DriftAlarm(), *squared_errors(seed, 10_000, share=share)) == []


@pytest.mark.parametrize(("share", "window"), [(0.5, 50), (0.05, 5.0 / 0.0475), (0.01, 500), (0.0, 500)])
def test_a_rare_label_has_a_longer_window(share, window):
    alarm = DriftAlarm()
    drifts(alarm, np.zeros(900))
    alarm.update(1.0, shares=share)
    assert alarm.recent_losses[0] == pytest.approx(1.0 / window)


@pytest.mark.compiled
def test_the_first_positives_of_a_label_are_no_drift():
    labels = np.zeros(1000)
    labels[[600, 610, 620]] = 1.0
    assert drifts(DriftAlarm(), labels, labels) == []  # the learner predicts 0 throughout
    labels[600:640] = 1.0
    (at,) = drifts(DriftAlarm(), labels, labels)
    assert 603 < at < 640


def test_the_alarm_falls_back_when_the_loss_does():
    calm, bad, good = squared_errors(0, 1500)[0], squared_errors(1, 300, wrong=1.0)[0], squared_errors(2, 1500)[0]
    alarm = DriftAlarm()
    assert len(drifts(alarm, np.concatenate([calm, bad]))) == 1
    assert alarm.is_raised.tolist() == [True]
    level = alarm.calm_losses[0]
    assert alarm.recent_losses[0] > level + 0.1
    assert drifts(alarm, good) == []
    assert alarm.is_raised.tolist() == [False]
    assert alarm.calm_losses[0] == pytest.approx(level, abs=0.02)
    assert drifts(alarm, bad) != []  # the same level once more is a drift once more


def test_a_new_level_is_normal_after_two_thousand_rows():
    alarm = DriftAlarm()
    (at,) = drifts(alarm, np.concatenate([squared_errors(0, 1000)[0], squared_errors(1, 1900, wrong=1.0)[0]]))
    assert alarm.is_raised[0]
    assert drifts(alarm, squared_errors(2, at + 2002 - 2900, wrong=1.0)[0]) == []
    assert not alarm.is_raised[0]
    assert alarm.calm_losses[0] == alarm.recent_losses[0]
    assert drifts(alarm, squared_errors(3, 3000, wrong=1.0)[0]) == []


def test_rows_that_were_not_answered_count_for_the_new_level():
    alarm = DriftAlarm()
    drifts(alarm, np.concatenate([squared_errors(0, 1000)[0], squared_errors(1, 100, wrong=1.0)[0]]))
    assert alarm.is_raised[0]
    alarm.advance(2000)
    assert alarm.n_rows == 3100
    alarm.update(0.9)
    assert not alarm.is_raised[0]


def test_a_slow_rise_is_a_warning():
    alarm = DriftAlarm()
    losses = np.random.default_rng(0).uniform(0.0, 0.2, 4000) + np.repeat([0.0, 0.03], [1500, 2500])
    findings = [alarm.update(loss) for loss in losses]
    assert set(findings[:1500]) == {None}
    assert set(findings[1500:]) == {None, "warning"}
    alarm = DriftAlarm()
    for finding, loss in zip(findings, losses, strict=True):
        alarm.update(loss)
        assert alarm.warning_detected == (finding == "warning")
        assert not alarm.drift_detected


def test_labels_are_watched_one_by_one_and_those_of_nan_are_skipped():
    rng = np.random.default_rng(3)
    pairs = [squared_errors(0, 800), squared_errors(1, 800)]
    losses, labels = (np.stack([pair[i] for pair in pairs], axis=1) for i in (0, 1))
    losses[500:, 1] = 1.0 - losses[500:, 1] * 0.1
    gaps = rng.random(losses.shape) < 0.3
    losses[gaps] = labels[gaps] = np.nan
    together, dense, found = DriftAlarm(2), DriftAlarm(2), []
    for row in range(800):
        if together.update(losses[row], labels[row]) == "drift":
            found += [together.drifted]
            assert together.drift_detected
    assert found == [(1,)]
    assert together.is_raised.tolist() == [False, True]
    for loss, label in zip(losses[~gaps[:, 0], 0], labels[~gaps[:, 0], 0], strict=True):
        dense.update([loss, np.nan], [label, np.nan])
    of_rows = [ODDS, COUNTED_AT]  # which answers count for the odds depends on the rows between them
    np.testing.assert_array_equal(
        np.delete(dense.arrays()["alarms"][0], of_rows), np.delete(together.arrays()["alarms"][0], of_rows)
    )
    assert dense.shares[0] == together.shares[0]


def test_a_row_without_any_answer_changes_the_clock_alone():
    alarm = DriftAlarm(2)
    alarm.update([0.1, 0.2], [0, 1])
    before = alarm.arrays()
    assert alarm.update([np.nan, np.nan], [np.nan, np.nan]) is None
    after = alarm.arrays()
    assert (before.pop("n_rows"), after.pop("n_rows")) == (1, 2)
    for name, array in before.items():
        np.testing.assert_array_equal(array, after[name])


def test_shares_are_those_of_the_labels_and_fade():
    alarm, rng = DriftAlarm(), np.random.default_rng(0)
    assert alarm.shares.tolist() == [0.5]
    labels = (rng.random(900) < 0.1).astype(float)
    for y in labels:
        alarm.update(0.1, y)
    assert alarm.shares[0] == pytest.approx(labels.mean())
    for y in np.ones(2000):
        alarm.update(0.1, y)
    assert alarm.shares[0] == pytest.approx(1.0 - (1.0 - labels.mean()) * 0.9 * np.exp(-1.9), abs=2e-3)
    alarm.update(0.1, shares=0.25)
    assert alarm.shares.tolist() == [0.25]


def test_more_labels_raise_the_thresholds():
    losses = squared_errors(0, 1500)[0]
    losses[1000:] = np.minimum(losses[1000:] + 0.2, 1.0)
    (alone,) = drifts(DriftAlarm(), losses)
    (of_many,) = drifts(DriftAlarm(500), np.pad(losses[:, None], ((0, 0), (0, 499)), constant_values=np.nan))
    assert 1000 < alone < of_many


def test_small_weights_take_small_steps():
    light, heavy = DriftAlarm(), DriftAlarm()
    losses = np.repeat([0.1, 0.9], 500)
    assert next(i for i, loss in enumerate(losses) if light.update(loss, weight=0.3)) > next(
        i for i, loss in enumerate(losses) if heavy.update(loss)
    )


# ---------------------------------------------------------------------- state


@pytest.mark.parametrize("rows", first_quick(1015, 0, 1, 700))
def test_a_stored_alarm_goes_on_bit_for_bit(rows):
    losses, labels = np.hstack([squared_errors(0, 1000), squared_errors(1, 1500, wrong=1.0)])
    alarm = DriftAlarm()
    drifts(alarm, losses[:rows], labels)
    others = [DriftAlarm.from_arrays(alarm.arrays()), copy.deepcopy(alarm), pickle.loads(pickle.dumps(alarm))]
    expected = [alarm.update(*pair) for pair in zip(losses[rows:], labels[rows:], strict=True)]
    for other in others:
        assert [other.update(*pair) for pair in zip(losses[rows:], labels[rows:], strict=True)] == expected
        for name, array in alarm.arrays().items():
            np.testing.assert_array_equal(array, other.arrays()[name], strict=True)


def test_stored_findings_are_those_of_the_last_row():
    alarm = DriftAlarm()
    for loss in np.repeat([0.1, 0.9], 500):
        if alarm.update(loss):
            break
    assert DriftAlarm.from_arrays(alarm.arrays()).drift_detected


def test_what_is_returned_can_be_changed_without_harm():
    alarm = DriftAlarm(2)
    drifts(alarm, np.full((300, 2), 0.2))
    before = alarm.arrays()
    for array in (alarm.shares, alarm.recent_losses, alarm.calm_losses, *alarm.arrays().values()):
        array[:] = 7
    for name, array in before.items():
        np.testing.assert_array_equal(array, alarm.arrays()[name])


def stored(**changes):
    """Arrays of an alarm of two labels after 300 rows, with these changes."""
    alarm = DriftAlarm(2)
    drifts(alarm, np.random.default_rng(0).random((300, 2)))
    return {**alarm.arrays(), **changes}


def with_entry(column, value):
    """Stored alarms of which one number is another one."""
    alarms = stored()["alarms"]
    alarms[1, column] = value
    return alarms


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"alarms": np.zeros((2, N_ALARM - 1))}, r"array alarms has shape \(2, 9\), expected \(2, 10\)"),
        ({"alarms": np.zeros((3, N_ALARM))}, r"array alarms has shape \(3, 10\), expected \(2, 10\)"),
        ({"alarms": with_entry(CALM_MEAN, np.nan)}, "array alarms holds NaN"),
        ({"alarms": with_entry(CALM_MEAN, 1.5)}, "expected means and variances up to 1"),
        ({"alarms": with_entry(CALM_VARIANCE, -0.1)}, "array alarms holds values from -0.1"),
        ({"alarms": with_entry(CALM_COUNT, 0.0)}, "expected no variance without losses"),
        ({"alarms": with_entry(IS_RAISED, 0.5)}, "expected 0 or 1 for a raised alarm"),
        ({"alarms": with_entry(RAISED_AT, 301.0)}, "expected alarms raised within 300 rows"),
        ({"alarms": with_entry(CALM_ODDS, 9.5)}, "expected mean odds up to 9"),
        ({"found": np.array([0, 3])}, "array found holds values from 0 to 3"),
        ({"shares": np.array([0.5, 1.5])}, "array shares holds values from 0.5 to 1.5"),
        ({"n_rows": np.array([-1])}, "array n_rows holds values from -1"),
        ({"more": np.zeros(2)}, "array more is not expected here"),
    ],
)
def test_crafted_arrays_are_refused(changes, message):
    with pytest.raises(DataError, match=message):
        DriftAlarm.from_arrays(stored(**changes))


@pytest.mark.parametrize("loss", [0.0, 0.3, 0.5, 1.0])
def test_a_constant_loss_is_no_drift(loss):
    alarm = DriftAlarm()
    assert drifts(alarm, np.full(3000, loss)) == []


def test_an_alarm_of_early_errors_can_be_stored():
    """Sure outputs that are wrong from the first row on: what the alarm keeps of them stays small."""
    alarm = DriftAlarm()
    for _ in range(90):
        alarm.update(1.0)
        DriftAlarm.from_arrays(alarm.arrays())


def test_stored_arrays_without_labels_are_refused():
    empty = {name: array[:0] if name != "n_rows" else array for name, array in stored().items()}
    with pytest.raises(DataError, match="at least one label"):
        DriftAlarm.from_arrays(empty)


# ---------------------------------------------------------------------- errors


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"losses": 0.1}, r"losses have the shape \(1,\); expected \(2,\), one per label"),
        ({"losses": [0.1, 0.2, 0.3]}, r"losses have the shape \(3,\); expected \(2,\)"),
        ({"losses": [[0.1, 0.2]]}, r"losses have the shape \(1, 2\); expected \(2,\)"),
        ({"losses": [0.1, np.inf]}, "losses hold inf; expected numbers from 0 to 1, or NaN to skip the label"),
        ({"losses": [0.1, -0.2]}, "losses hold -0.2; expected numbers from 0 to 1"),
        ({"losses": [1.1, np.nan]}, "losses hold 1.1; expected numbers from 0 to 1"),
        ({"losses": ["low", "high"]}, "losses are list, which cannot be read as numbers"),
        ({"labels": [0.5, 1.0]}, "labels hold 0.5; expected 0 or 1, or NaN"),
        ({"labels": [1.0]}, r"labels have the shape \(1,\)"),
        ({"shares": [0.5, np.nan]}, "shares hold nan; expected numbers from 0 to 1$"),
        ({"shares": [0.5, 0.5], "labels": [0, 1]}, "both labels and shares were given; pass one of them"),
    ],
)
def test_unusable_losses_are_refused_and_change_nothing(given, message):
    alarm = DriftAlarm.from_arrays(stored())
    with pytest.raises(DataError, match=message):
        alarm.update(**{"losses": [0.1, 0.2], **given})
    for name, array in stored().items():
        np.testing.assert_array_equal(array, alarm.arrays()[name])


@pytest.mark.parametrize("weight", [0, -1, 1.5, np.nan, "heavy"])
def test_weights_are_above_zero_and_at_most_one(weight):
    with pytest.raises(ParameterError, match=r"weight=.* is not allowed; use a number > 0 and <= 1"):
        DriftAlarm().update(0.1, weight=weight)


@pytest.mark.parametrize("n_labels", [0, -1, 1.5, "two", None])
def test_there_is_at_least_one_label(n_labels):
    with pytest.raises(ParameterError, match=r"n_labels=.* is not allowed; use a whole number >= 1"):
        DriftAlarm(n_labels)


def test_the_clock_goes_forward():
    with pytest.raises(ParameterError, match="n_rows=-1 is not allowed"):
        DriftAlarm().advance(-1)
