"""Sliding and fading metrics are what their definitions say, at every step and after any time."""

import numpy as np
import pytest
from choices import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from metric_streams import PLAIN, growing_streams
from naive import metrics as naive

from evolabel.errors import ParameterError
from evolabel.evaluate.metrics import AveragePrecision, Coverage, Fading, MacroF1, MicroF1, PartialAccuracy, Sliding

SOME = settings(max_examples=examples(20), deadline=None)
EVERY = pytest.mark.parametrize("metric", PLAIN, ids=repr)


@EVERY
@SOME
@given(samples=growing_streams(), window=st.integers(1, 9))
def test_a_sliding_metric_is_the_metric_of_the_last_samples(metric, samples, window):
    sliding = Sliding(metric, window)
    for end, sample in enumerate(samples, 1):
        last = samples[max(0, end - window) : end]
        expected = naive.value(metric, last)
        assert sliding.update(*sample).get() == pytest.approx(expected, rel=1e-12, abs=1e-15, nan_ok=True)


@EVERY
@SOME
@given(samples=growing_streams(), factor=st.sampled_from([0.2, 0.9, 1.0]))
def test_a_fading_metric_weighs_every_sample_by_its_age(metric, samples, factor):
    fading = Fading(metric, factor)
    for y, s in samples:
        fading.update(y, s)
    weights = [factor**age for age in reversed(range(len(samples)))]
    assert fading.get() == pytest.approx(naive.value(metric, samples, weights), rel=1e-12, abs=1e-15, nan_ok=True)


def test_nothing_of_a_long_past_sticks_to_a_window():
    sliding = Sliding(AveragePrecision(), 7)
    Y = np.tile([0.0, 0.0, 1.0], (20_000, 1))
    S = np.random.default_rng(0).permuted(np.tile([1.0, 0.5, 0.0], (20_000, 1)), axis=1)
    sliding.update(Y, S)
    for _ in range(7):
        sliding.update([0, 0, 1], [0.0, 0.5, 1.0])
    assert sliding.get() == 1.0
    assert sliding.n_samples == 20_007


def test_skipped_samples_have_their_place_in_the_window():
    sliding = Sliding(AveragePrecision(), 2).update([1, 0], [0.9, 0.1])
    assert sliding.update([0, 0], [0.9, 0.1]).get() == 1.0
    assert np.isnan(sliding.update([0, 0], [0.9, 0.1]).get())
    assert (sliding.n_samples, sliding.n_skipped) == (1, 2)


def test_what_has_faded_away_says_nothing():
    fading = Fading(AveragePrecision(), 0.5).update([0, 1], [0.9, 0.1])
    assert fading.update(np.zeros((500, 2)), np.zeros((500, 2))).get() == 0.5
    assert np.isnan(fading.update(np.zeros((500, 2)), np.zeros((500, 2))).get())


def test_labels_that_have_faded_away_count_as_labels_that_never_occurred():
    nothing = np.zeros((1000, 2))
    assert Fading(MicroF1(), 0.5).update([1, 1], [1, 1]).update(nothing, nothing).get() == 0.0
    assert Fading(MacroF1(), 0.5).update([1, 1], [1, 1]).update(nothing, nothing).get() == 0.0
    assert Fading(MacroF1(), 0.5).update([1, 1], [1, 1]).update(nothing[:, :1], nothing[:, :1]).get() == 0.0


def test_forms_start_without_counts_and_share_the_traits_of_their_metric():
    used = Coverage().update([1, 0], [0.1, 0.9])
    for form, name in ((Sliding(used, 20), "coverage (last 20)"), (Fading(used, 0.99), "coverage (fading 0.99)")):
        assert np.isnan(form.get())
        assert form.name == name
        assert not form.bigger_is_better
    assert repr(form) == "Fading(metric=Coverage(), factor=0.99)"
    assert used.get() == 2.0


@pytest.mark.parametrize("window", [0, -3, 2.5, "10", True, None])
def test_windows_are_whole_numbers(window):
    with pytest.raises(ParameterError, match=r"window=.* is not allowed; use a whole number"):
        Sliding(PartialAccuracy(), window)


@pytest.mark.parametrize("factor", [0.0, 1.5, -1, float("nan"), "0.9", True, None])
def test_factors_lie_between_0_and_1(factor):
    with pytest.raises(ParameterError, match=r"factor=.* is not allowed; use a number > 0 and <= 1"):
        Fading(PartialAccuracy(), factor)


@pytest.mark.parametrize("metric", [PartialAccuracy, "pa", Sliding(PartialAccuracy(), 3)], ids=repr)
def test_forms_take_plain_metrics_only(metric):
    with pytest.raises(ParameterError, match="use a plain metric"):
        Sliding(metric, 3)


def test_numbers_of_numpy_are_numbers():
    for three in (np.int64(3), 3.0):
        sliding = Sliding(PartialAccuracy(), three)
        assert (repr(sliding.settings["window"]), sliding.name) == ("3", "PA (last 3)")
    assert Fading(PartialAccuracy(), np.float32(0.5)).settings["factor"] == 0.5
