"""One sample explained where threshold rules are used: parts add up, the rule is named, changes cross an edge."""

import json
from dataclasses import replace

import numpy as np
import pytest
from pump_stream import FEATURES, LABELS, pump_rows

from evolabel import EvolvingFuzzyClassifier
from evolabel.explain.explain_sample import explain_sample
from evolabel.stages.feedback.stage import Correction
from evolabel.stages.sensors.arrays import OFFSET
from evolabel.stages.threshold_rules.arrays import IS_OPEN
from evolabel.stages.threshold_rules.path import threshold_paths

pytestmark = pytest.mark.compiled


def sample_rows():
    """Rows of all kinds: positives, negatives, near an edge, missing values."""
    X, Y = pump_rows(400, seed=5, missing=0.1)
    edges = np.tile(X[:1], (20, 1))
    edges[:, 0], edges[:, 1], edges[:, 3:] = np.linspace(-0.55, -0.45, 20), 1.0, [0.0, 1.0, 0.0]
    return np.vstack([X[Y[:, 0] > 0.5][:15], X[Y[:, 0] < 0.5][:15], edges])


def explained(clf, x, correct=None, threshold=0.5):
    return explain_sample(clf.inner.any_model, x[None], FEATURES, LABELS, threshold=threshold, correct=correct)


def test_parts_add_up(pump):
    for x in sample_rows():
        why, outputs = explained(pump, x), pump.inner.any_model.outputs(x[None])[0]
        np.testing.assert_allclose(why.total, outputs, rtol=0, atol=1e-12)
        parts = why.by_rule.sum(axis=0) + why.linear.sum(axis=0) + why.threshold_rules
        np.testing.assert_allclose(parts, outputs, rtol=0, atol=1e-12)
        assert why.threshold_rules[1] == 0.0  # its gate is closed
        assert why.paths[1] is None
    assert abs(explained(pump, sample_rows()[0]).threshold_rules[0]) > 0.05


def test_parts_add_up_with_feedback(pump):
    def correct(rows):
        return Correction(np.full(2, 0.8), np.full((len(rows), 2), 0.1), np.ones(len(rows)))

    for x in sample_rows()[::4]:
        why = explained(pump, x, correct)
        outputs = correct(x[None]).of(pump.inner.any_model.outputs(x[None]))[0]
        np.testing.assert_allclose(why.total, outputs, rtol=0, atol=1e-12)


def test_parts_add_up_where_a_sensor_has_moved():
    X, Y = pump_rows(3500)
    X[2500:, 2] += 8.0
    clf = EvolvingFuzzyClassifier().partial_fit(X, Y).name_columns(FEATURES, LABELS)
    assert clf.inner.any_model.drift.sensors.arrays.views[OFFSET].any()
    assert clf.inner.any_model.trees.arrays.gate[0, IS_OPEN]
    for x in sample_rows()[::3]:
        why = explained(clf, x)
        np.testing.assert_allclose(why.total, clf.inner.any_model.outputs(x[None])[0], rtol=0, atol=1e-12)


@pytest.mark.parametrize("classes", [2, 3])
def test_parts_add_up_for_classes(classes):
    X, Y = pump_rows(2000)
    kinds = np.where(Y[:, 0] > 0.5, 1, np.where((X[:, 1] > 1.0) & (classes == 3), 2, 0))
    clf = EvolvingFuzzyClassifier().partial_fit(X, kinds)
    assert clf.inner.any_model.trees.is_used
    for x in sample_rows()[::3]:
        why = clf.explain(x)
        np.testing.assert_allclose(why.total, clf.inner.any_model.outputs(x[None])[0], rtol=0, atol=1e-12)
        assert "decided" in why.text
        if classes == 2:
            assert abs(why.threshold_rules.sum()) < 1e-12
            assert why.paths[0] == why.paths[1]


def test_the_rule_that_decided_is_named_and_holds(pump):
    for x in sample_rows():
        why = explained(pump, x)
        path = why.paths[0]
        assert f"by: {path.rule.text}" in why.text
        assert path.share > 0.0
        if path.share == 1.0 and path.rule.share > 0.95:
            assert why.total[0] > 0.5
        for step in path.steps:
            value = x[FEATURES.index(step.feature)]
            assert step.side == ("missing" if np.isnan(value) else step.side)
            if path.share == 1.0 and not np.isnan(value) and step.edge is not None:
                assert step.side == ("below" if value <= step.edge else "above")


def test_near_an_edge_the_leaf_with_the_largest_share_is_named(pump):
    shares = [explained(pump, x).paths[0].share for x in sample_rows()[-20:]]
    assert min(shares) < 1.0
    soft = explained(pump, sample_rows()[-20:][int(np.argmin(shares))])
    assert "decided to " in soft.text or min(shares) >= 0.95


def test_a_rule_with_less_than_half_of_the_say_did_not_decide(pump):
    path = explained(pump, sample_rows()[1]).paths[0]
    assert replace(path, weight=0.3).words(str).startswith("threshold rule, which counts 30 %: IF ")
    assert replace(path, weight=0.8).words(str).endswith("; threshold rules count 80 %")


def test_all_forms_have_the_path(pump):
    why = explained(pump, sample_rows()[1])
    assert "decided by: IF `" in why.markdown()
    assert "decided by: IF " in why.html()
    label = json.loads(json.dumps(why.to_dict(), allow_nan=False))["labels"][0]
    assert label["threshold_rules"] == why.threshold_rules[0]
    assert set(label["path"]["steps"][0]) == {"feature", "value", "edge", "side"}
    assert label["changes"][0]["across_threshold"]


def turned(clf, x, change):
    row = x.copy()
    if change.feature.startswith("machine"):
        row[3:] = 0.0
    row[FEATURES.index(change.feature)] = change.after
    return clf.inner.any_model.outputs(row[None])[0, 0] >= 0.5


def test_the_smallest_change_crosses_an_edge_and_turns_the_label(pump):
    crossed = 0
    for x in sample_rows()[:30]:
        change = explained(pump, x).counterfactuals[0]
        if change is None:
            continue
        crossed += change.across_threshold
        assert turned(pump, x, change) == change.turns_on
        assert turned(pump, x, change) != (pump.inner.any_model.outputs(x[None])[0, 0] >= 0.5)
    assert crossed >= 10


def test_no_smaller_change_of_the_same_feature_turns_the_label(pump):
    for x in sample_rows()[:15]:
        change = explained(pump, x).counterfactuals[0]
        if change is None or change.feature.startswith("machine"):
            continue
        j = FEATURES.index(change.feature)
        rows = np.tile(x, (200, 1))
        width = pump.inner.any_model.trees.arrays.edge[0, :, 1].max()
        rows[:, j] = np.linspace(x[j], change.after - np.sign(change.after - x[j]) * width / 2, 200)
        if (change.after - x[j]) * (rows[-1, j] - x[j]) > 0.0:
            on = pump.inner.any_model.outputs(rows)[:, 0] >= 0.5
            assert (on == on[0]).all()


def test_without_threshold_rules_there_are_no_paths():
    X, Y = pump_rows(600)
    clf = EvolvingFuzzyClassifier(threshold_rules=False).partial_fit(X, Y)
    why = clf.explain(X[0])
    assert why.paths == ()
    assert not why.threshold_rules.any()
    assert threshold_paths(None, X[0]) == ()
    assert why.to_dict()["labels"][0]["path"] is None
