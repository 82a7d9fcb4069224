"""Features that only rise or only fall, as counters and timestamps do, are not split on unless that is asked for."""

import numpy as np
import pytest

from evolabel import EvolvingFuzzyClassifier
from evolabel.errors import ParameterError

pytestmark = pytest.mark.compiled

FEATURES = ["temp", "flow", "serial"]


def learned(threshold_rules, serial=None, n=2400):
    """A label that is on above 70 degrees, from the middle of the stream on above 60."""
    rng = np.random.default_rng(1)
    temp, flow = rng.normal(65.0, 9.0, n), rng.normal(3.0, 1.0, n)
    serial = np.arange(n, dtype=float) if serial is None else serial
    y = temp > np.where(np.arange(n) < n // 2, 70.0, 60.0)
    clf = EvolvingFuzzyClassifier(threshold_rules=threshold_rules, follow_drift=False)
    clf.partial_fit(np.column_stack([temp, flow, serial]), y[:, None].astype(float))
    return clf.name_columns(FEATURES, ["hot"])


def splits(clf):
    feature = clf.inner.any_model.trees.arrays.feature
    return {FEATURES[j] for j in feature[feature >= 0].tolist()}


def test_a_counter_is_left_out_by_name_and_split_on_where_it_is_asked_for():
    plain, asked = learned(True), learned("counters")
    assert splits(plain) == {"temp"}
    assert "serial" in splits(asked)
    line = 'No thresholds of serial, which only rises or only falls; threshold_rules="counters" allows them.\n'
    assert plain.rules_.text.endswith(line)
    assert "serial" not in asked.rules_.text.rsplit("The rest", 1)[1]
    assert plain.rules_.left_out == ("serial",)


def test_a_feature_that_falls_once_or_changes_seldom_is_none():
    once = np.arange(2400.0)
    once[2000:] -= 1500.0
    for serial in (once, np.floor(np.arange(2400.0) / 600.0)):
        clf = learned(True, serial)
        assert clf.rules_.left_out == ()


def test_the_choice_survives_a_file_and_others_are_refused(tmp_path):
    clf = learned("counters", n=400)
    clf.save(tmp_path / "model")
    again = EvolvingFuzzyClassifier.load(tmp_path / "model")
    assert again.threshold_rules == "counters"
    assert again.inner.any_model.trees.counters
    with pytest.raises(ParameterError, match="use one of True, False, counters"):
        EvolvingFuzzyClassifier(threshold_rules="all").partial_fit(np.zeros((2, 1)), [0, 1])
