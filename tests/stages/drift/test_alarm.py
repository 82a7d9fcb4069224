"""The kernels of the drift alarm against their plain twin, loss by loss."""

import numpy as np
import pytest
from callable_kernels import CallableKernels
from choices import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from naive import alarm as naive

from evolabel.stages.drift.arrays import N_ALARM
from evolabel.stages.drift.loops import alarm as alarm_module
from evolabel.stages.drift.loops.alarm import CALM_COUNT, QUIET, RAISED, RISE

alarm = CallableKernels(alarm_module)

NAMES = {QUIET: "quiet", RISE: "rise", RAISED: "raised"}
SPREADS = st.one_of(st.just(0.0), st.floats(0.0, 0.25))


def losses_of(seed, levels, rows):
    """Losses between 0 and 1 around each of these levels, that many rows each."""
    rng = np.random.default_rng(seed)
    level = np.repeat(levels, rows)
    return np.clip(level * rng.exponential(size=len(level)), 0.0, 1.0)


def watched(losses, spreads, *, weights=None, margin=0.0, first=0, every=1, prior=alarm.AFTER_WINDOWS):
    """What the kernel finds, row by row, with the alarm at the end; the twin must agree at every row.

    The rows of the stream are `first` and each one `every` rows later.
    """
    a, twin, found = np.zeros(N_ALARM), naive.NaiveAlarm(), []
    weights = np.ones(len(losses)) if weights is None else weights
    spreads = np.broadcast_to(spreads, len(losses))
    for number, (loss, spread, weight) in enumerate(zip(losses, spreads, weights, strict=True)):
        row = first + every * number
        found.append(NAMES[alarm.watch(a, loss, spread, row, weight, margin, prior, True)])
        assert found[-1] == twin.watch(loss, spread, row, weight, margin, prior=prior)
        assert alarm.is_back(a, spread) == twin.is_back(spread)
        np.testing.assert_allclose(a, twin.vector(), rtol=1e-10, atol=1e-12)
    return found, a


@settings(max_examples=examples(40), deadline=None)
@given(
    st.integers(0, 10_000),
    st.lists(st.sampled_from([0.0, 0.01, 0.05, 0.2, 0.4, 0.9]), min_size=1, max_size=4),
    st.sampled_from([1, 60, 500, 2500]),
    SPREADS,
    st.sampled_from([0.0, 1.2, 3.0]),
    st.sampled_from([alarm.AFTER_BATCH, alarm.AFTER_WINDOWS, alarm.BY_MEAN]),
)
def test_jumps_are_found_as_by_the_twin(seed, levels, rows, spread, margin, prior):
    watched(losses_of(seed, levels, rows), spread, margin=margin, prior=prior)


def test_a_fitted_model_that_is_wrong_from_the_first_answer_on_has_drifted():
    losses = np.full(60, 0.9)
    found, _ = watched(losses, 0.25, margin=1.9, every=3, prior=alarm.AFTER_BATCH)
    assert found.index("raised") < 12
    found, _ = watched(losses, 0.25, margin=1.9, every=3)
    assert "raised" not in found


@settings(max_examples=examples(30), deadline=None)
@given(st.integers(0, 10_000), st.sampled_from([0.01, 0.3, 1.0]), st.integers(0, 10**6))
def test_weights_and_spreads_that_change_are_followed_as_by_the_twin(seed, least, first):
    rng = np.random.default_rng(seed)
    losses = losses_of(seed, [0.1, 0.5, 0.1], 700)
    weights, spreads = rng.uniform(least, 1.0, len(losses)), rng.uniform(0.0, 0.25, len(losses))
    watched(losses, spreads, weights=weights, first=first)


def test_all_three_findings_appear():
    """A creeping loss is a rise, a jump raises the alarm: the tests above compare more than quiet streams."""
    found, _ = watched(np.concatenate([losses_of(0, [0.1, 0.13], 1500), losses_of(1, [0.6], 100)]), 0.25)
    assert found[:1500] == ["quiet"] * 1500
    assert "rise" in found[1500:3000]
    assert found[3000:].count("raised") == 1


def test_sure_outputs_that_are_wrong_raise_the_alarm_before_the_mean_does():
    """Most outputs are near 1/2; one in ten is sure, and from row 1000 on it is wrong."""
    rng = np.random.default_rng(0)
    errors = rng.uniform(0.3, 0.7, 1500)
    errors[::10] = 0.05
    errors[1000::10] = 0.95
    found, _ = watched(errors**2, 0.25, margin=1.9, every=4)
    assert 1040 <= found.index("raised") <= 1100
    a = np.zeros(N_ALARM)
    by_mean = []
    for row, e in enumerate(errors):
        a[alarm.ODDS] = 0.0
        by_mean.append(alarm.watch(a, e**2, 0.25, 4 * row, 1.0, 1.9, alarm.AFTER_WINDOWS, True))
    assert RAISED not in by_mean[:1200]


@pytest.mark.parametrize("rate", [0.05, 0.2, 0.4])
def test_too_sure_outputs_do_not_raise_the_alarm_by_their_usual_errors(rate):
    """Errors of 0 or 1: the mean odds of calm times are far above 1, and the odds are divided by them."""
    losses = (np.random.default_rng(7).random(3000) < rate).astype(float)
    found, a = watched(losses, 0.25, margin=1.2, every=3)
    assert found.count("raised") == 0
    assert a[alarm.CALM_ODDS] > 1.0 if rate > 0.1 else a[alarm.CALM_ODDS] < 1.0


def test_at_weight_one_half_two_answers_count_as_one():
    a = np.zeros(N_ALARM)
    for i in range(60):
        alarm.watch(a, 0.2, 0.25, i, 0.5, 0.0, alarm.AFTER_WINDOWS, True)
    assert a[alarm.CALM_COUNT] == 30.0
    assert a[alarm.CALM_MEAN] == 0.2
    before = a.copy()
    assert alarm.watch(a, 1.0, 0.25, 60, 0.0, 0.0, alarm.AFTER_WINDOWS, True) == QUIET
    np.testing.assert_array_equal(a, before)


@pytest.mark.parametrize(("spread", "window"), [(0.25, 50.0), (0.1, 50.0), (0.05, 100.0), (0.01, 500.0), (0.0, 500.0)])
def test_rare_labels_have_longer_windows(spread, window):
    assert alarm.window_of(spread) == pytest.approx(window, rel=1e-6)
    assert naive.window_of(spread) == pytest.approx(window, rel=1e-6)


@settings(max_examples=examples(20), deadline=None)
@given(st.integers(0, 10_000), st.integers(0, 4))
def test_all_labels_at_once_are_each_label_alone(seed, K):
    rng = np.random.default_rng(seed)
    spreads = rng.uniform(0.0, 0.25, K)
    A, found, alone = np.zeros((K, N_ALARM)), np.full(K, -1), np.zeros((K, N_ALARM))
    for row in range(400):
        losses = np.where(rng.random(K) < 0.2, np.nan, rng.random(K) * (0.1 if row < 250 else 1.0))
        alarm.watch_labels(A, losses, spreads, row, 0.8, 1.5, found)
        for j in range(K):
            expected = (
                QUIET
                if np.isnan(losses[j])
                else alarm.watch(alone[j], losses[j], spreads[j], row, 0.8, 1.5, alarm.AFTER_WINDOWS, True)
            )
            assert found[j] == expected
    np.testing.assert_array_equal(A, alone)


def test_answers_that_persist_again_and_again_keep_calm_counts_that_can_raise_an_alarm():
    a = np.zeros(N_ALARM)
    a[CALM_COUNT] = 3000.0
    for _ in range(10):
        alarm.recount(a, 1.0, 0.6, 1000.0)
        alarm.recount(a, 0.6, 1.0, 1000.0)
    assert a[CALM_COUNT] == 600.0
