"""Bad input ends in one clear error and leaves the metric as it was; metrics are found by their names."""

import numpy as np
import pytest
from metric_streams import FORMS, PLAIN, assert_same_state

from evolabel.errors import CheckpointError, DataError, DataTypeError, ParameterError
from evolabel.evaluate.metrics import METRICS, Coverage, Fading, HammingLoss, PartialAccuracy, Sliding, metric_named

EVERY = pytest.mark.parametrize("metric", [*PLAIN, *FORMS], ids=repr)
GOOD = np.array([1.0, 0.0, np.nan]), np.array([0.2, 0.7, 0.5])
BAD = {
    "NaN score": ([1, 0], [0.5, np.nan], DataError, "y_score is nan at row 0, label 1; a score is a finite number"),
    "infinite score": ([[1, 0], [0, 1]], [[0, 0], [-np.inf, 0]], DataError, "y_score is -inf at row 1, label 0"),
    "label of 2": ([1, 2], [0.5, 0.5], DataError, r"y_true is 2 at row 0, label 1; a label is 0, 1, or NaN"),
    "widths differ": ([1, 0, 1], [0.5, 0.5], DataError, r"y_true has the shape \(1, 3\), y_score \(1, 2\)"),
    "heights differ": ([[1, 0]], [[0.5, 0.5], [1, 1]], DataError, "expected one score for every label"),
    "a cube": (np.zeros((1, 1, 1)), np.zeros((1, 1, 1)), DataError, r"y_true has shape \(1, 1, 1\); expected \(K,\)"),
    "no labels": ([], [], DataError, "y_true has shape"),
    "text": (["a", "b"], [0.5, 0.5], DataTypeError, r"y_true \(list\) cannot be read as numbers"),
    "complex": ([1, 0], [0.5, 1j], DataTypeError, r"y_score \(list\) cannot be read as numbers"),
    "dictionaries": ({"a": 1}, {"a": 0.5}, DataTypeError, r"y_true \(dict\) cannot be read as numbers"),
    "ragged rows": ([[1, 0], [1]], [[1, 0], [1]], DataTypeError, r"y_true \(list\) cannot be read as numbers"),
}


@EVERY
@pytest.mark.parametrize("case", BAD)
def test_bad_input_is_refused_and_changes_nothing(metric, case):
    y, s, error, message = BAD[case]
    used, untouched = metric.fresh().update(*GOOD), metric.fresh().update(*GOOD)
    with pytest.raises(error, match=message):
        used.update(y, s)
    assert_same_state(used, untouched)


@pytest.mark.parametrize("form", [lambda metric: metric, lambda metric: Sliding(metric, 3)], ids=["plain", "sliding"])
def test_more_labels_than_thresholds_are_refused(form):
    metric = form(PartialAccuracy([0.5, 0.9])).update([1, 0], [0.6, 0.6])
    with pytest.raises(DataError, match=r"got 3 labels, but .* has 2 thresholds"):
        metric.update([1, 0, 1], [0.6, 0.6, 0.6])
    assert (metric.get(), metric.n_samples) == (1.0, 1)
    assert metric.update([1], [0.4]).get() == pytest.approx(2.0 / 3.0)


@pytest.mark.parametrize("threshold", [np.nan, np.inf, "half", [], [[0.5]], [0.5, None], None])
def test_thresholds_are_finite_numbers(threshold):
    with pytest.raises(ParameterError, match=r"threshold=.* is not allowed"):
        HammingLoss(threshold)


@pytest.mark.parametrize(
    "other",
    [HammingLoss(), PartialAccuracy(0.4), PartialAccuracy([0.5, 0.5]), Sliding(PartialAccuracy(), 3), "PA"],
    ids=repr,
)
def test_only_metrics_of_the_same_settings_are_merged(other):
    metric = PartialAccuracy().update(*GOOD)
    with pytest.raises(DataError, match=r"cannot be merged into PartialAccuracy\(threshold=0.5\)"):
        metric.merge(other)
    assert_same_state(metric, PartialAccuracy().update(*GOOD))


def test_windows_of_different_lengths_are_not_merged():
    with pytest.raises(DataError, match="cannot be merged"):
        Sliding(PartialAccuracy(), 3).merge(Sliding(PartialAccuracy(), 4))


@pytest.mark.parametrize(
    ("metric", "state"),
    [
        (PartialAccuracy(), {}),
        (PartialAccuracy(), {"kept": np.zeros(3), "counts": np.zeros(2, int)}),
        (PartialAccuracy(), PartialAccuracy(0.4).update(*GOOD).state()),
        (PartialAccuracy(), HammingLoss().update(*GOOD).state()),
        (Sliding(PartialAccuracy(), 4), Sliding(PartialAccuracy(), 3).update(*GOOD).state()),
        (Sliding(PartialAccuracy(), 3), Fading(PartialAccuracy(), 0.9).update(*GOOD).state()),
    ],
)
def test_a_state_of_something_else_is_refused(metric, state):
    metric = metric.fresh().update(*GOOD)
    with pytest.raises(CheckpointError, match="this is no state of"):
        metric.restore(state)
    assert_same_state(metric, metric.fresh().update(*GOOD))


def test_metrics_have_names_for_the_command_line():
    assert list(METRICS) == [
        "pa",
        "ap",
        "hamming_loss",
        "subset_accuracy",
        "example_f1",
        "micro_f1",
        "macro_f1",
        "balanced_accuracy",
        "kappa_temporal",
        "ranking_loss",
        "one_error",
        "coverage",
        "set_coverage",
        "set_size",
    ]
    for name, kind in METRICS.items():
        assert type(metric_named(name)) is kind
        assert type(metric_named(f" {kind.name.upper()} ")) is kind
    assert repr(metric_named("pa", threshold=[0.1, 0.2])) == "PartialAccuracy(threshold=[0.1, 0.2])"
    assert isinstance(metric_named("one-error"), METRICS["one_error"])
    assert not Coverage.bigger_is_better


def test_an_unknown_name_is_answered_with_the_known_ones():
    with pytest.raises(ParameterError, match=r"there is no metric 'auc'; use one of pa, ap, hamming_loss"):
        metric_named("auc")
