"""What threshold rules find on small streams, and what they leave alone."""

import numpy as np
import pytest
from refining import refine

from evolabel import EvolvingFuzzyClassifier
from evolabel.checks import check_stage
from evolabel.core.rows import Batch
from evolabel.model import pipeline
from evolabel.stages.first_tree.arrays import ROWS_ANSWERED
from evolabel.stages.threshold_rules.arrays import IS_OPEN
from evolabel.stages.threshold_rules.stage import ThresholdRules


def f1(outputs, y):
    """F1 of decisions at one half."""
    on = outputs >= 0.5
    return 2.0 * (on & (y > 0.5)).sum() / (on.sum() + (y > 0.5).sum())


def rows(seed, n, p):
    """n rows of p features in [0, 1]."""
    return np.random.default_rng(seed).random((n, p))


def features_of(thresholds, k=0):
    """The features that the tree of a label asks about."""
    return set(thresholds.arrays.feature[k][thresholds.arrays.feature[k] >= 0])


def trained_refiner(exclusive=False):
    """Threshold rules for four features and three labels, with open gates."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 4))
    Y = np.stack([X[:, k] > 0.0 for k in range(3)], axis=1).astype(float)
    refiner = ThresholdRules(4, 3, exclusive=exclusive)
    refine(refiner, Batch(X, Y), np.full(Y.shape, 0.4).copy())
    return refiner


@pytest.mark.parametrize("exclusive", [False, True])
def test_the_refiner_keeps_its_interface(exclusive):
    check_stage(ThresholdRules(4, 3, exclusive=exclusive))


def test_a_trained_refiner_keeps_its_interface():
    refiner = trained_refiner()
    assert refiner.is_used
    check_stage(refiner)


@pytest.mark.compiled
def test_a_conjunction_is_found_and_the_gate_opens():
    X = rows(0, 2500, 6)
    Y = ((X[:, 1] > 0.6) & (X[:, 4] < 0.5)).astype(float)[:, None]
    clf = EvolvingFuzzyClassifier()
    outputs = clf.test_then_train(X, Y)
    thresholds = clf.inner.any_model.trees
    assert thresholds.is_used
    assert features_of(thresholds) == {1, 4}
    assert f1(outputs[-1000:], Y[-1000:]) > 0.98
    t = thresholds.arrays
    for feature, edge in ((1, 0.6), (4, 0.5)):
        assert np.abs(t.edge[0, t.feature[0] == feature, 0] - edge).min() < 0.01


@pytest.mark.compiled
def test_xor_of_two_among_eight_features_is_found():
    X = rows(1, 2500, 8)
    Y = ((X[:, 2] > 0.5) != (X[:, 5] > 0.4)).astype(float)[:, None]
    clf = EvolvingFuzzyClassifier()
    outputs = clf.test_then_train(X, Y)
    assert features_of(clf.inner.any_model.trees) == {2, 5}
    assert f1(outputs[-1000:], Y[-1000:]) > 0.95


@pytest.mark.compiled
@pytest.mark.parametrize("seed", range(5))
def test_pure_noise_never_opens_a_gate(seed):
    rng = np.random.default_rng(seed)
    X, Y = rng.normal(size=(2000, 6)), (rng.random((2000, 2)) < [0.5, 0.1]).astype(float)
    clf = EvolvingFuzzyClassifier()
    for begin in range(0, 2000, 100):
        clf.test_then_train(X[begin : begin + 100], Y[begin : begin + 100])
        assert clf.inner.any_model.trees is None or not clf.inner.any_model.trees.is_used


@pytest.mark.compiled
def test_a_moved_threshold_is_relearned_after_an_alarm():
    X = rows(2, 3000, 4)
    edge = np.where(np.arange(3000) < 1500, 0.3, 0.7)
    Y = ((X[:, 0] > edge) & (X[:, 1] > 0.2)).astype(float)[:, None]
    clf = EvolvingFuzzyClassifier()
    outputs = clf.test_then_train(X, Y)
    t = clf.inner.any_model.trees.arrays
    assert 1400 <= t.since[0] <= 1700
    assert t.gate[0, IS_OPEN] == 1.0
    assert np.abs(t.edge[0, t.feature[0] == 0, 0] - 0.7).min() < 0.02
    assert f1(outputs[-800:], Y[-800:]) > 0.95


def test_the_record_of_rare_positives_of_a_new_label_begins_with_it():
    """Negatives weigh as if all rows since then were kept; rows before are not annotated and must not count."""
    refiner = trained_refiner()
    refiner.grow_labels(5)
    np.testing.assert_array_equal(refiner.arrays.complete[3:], 400)
    np.testing.assert_array_equal(refiner.arrays.complete[:3], trained_refiner().arrays.complete)


def streams_of(n):
    """A conjunction as one label, and as two classes."""
    X = rows(3, n, 4)
    y = (X[:, 0] > 0.4) & (X[:, 2] < 0.7)
    return X, y.astype(float)[:, None], y.astype(int)


@pytest.mark.compiled
@pytest.mark.parametrize("given", ["sample_weight", "confidence"])
def test_weights_and_confidences_of_one_are_no_weights(given):
    X, Y, _ = streams_of(800)
    ones = np.ones(800) if given == "sample_weight" else np.ones((800, 1))
    plain, weighted = EvolvingFuzzyClassifier(), EvolvingFuzzyClassifier()
    outputs = plain.test_then_train(X, Y)
    np.testing.assert_array_equal(weighted.test_then_train(X, Y, **{given: ones}), outputs)
    assert plain.inner.any_model.trees.is_used
    for name, array in plain.inner.any_model.trees.arrays._asdict().items():
        np.testing.assert_array_equal(array, getattr(weighted.inner.any_model.trees.arrays, name), err_msg=name)


@pytest.mark.compiled
def test_without_say_outputs_are_those_of_the_model_without_threshold_rules(monkeypatch):
    """Noise opens no gate: bit for bit the same. Once a gate has opened, all earlier outputs are still the same."""
    monkeypatch.setattr(pipeline, "first_tree_of", lambda *_, **__: None)
    rng = np.random.default_rng(7)
    noise = rng.normal(size=(1200, 4)), (rng.random((1200, 2)) < 0.4).astype(float)
    for X, Y in (noise, streams_of(1200)[:2]):
        with_rules, without = EvolvingFuzzyClassifier(), EvolvingFuzzyClassifier(threshold_rules=False)
        expected, outputs, had_say = without.test_then_train(X, Y), np.empty(Y.shape), False
        for i in range(0, 1200, 10):
            part = slice(i, i + 10)
            outputs[part] = with_rules.test_then_train(X[part], Y[part])
            thresholds = with_rules.inner.any_model.trees
            had_say = had_say or (thresholds is not None and thresholds.is_used)
            if not had_say:
                np.testing.assert_array_equal(outputs[part], expected[part])
        assert without.inner.any_model.trees is None
        assert had_say == (Y.shape[1] == 1)
        np.testing.assert_array_equal(with_rules.inner.any_model.rules.arrays.G, without.inner.any_model.rules.arrays.G)


@pytest.mark.compiled
def test_two_classes_have_one_tree_and_what_it_changes_cancels():
    X, _, y = streams_of(1500)
    clf = EvolvingFuzzyClassifier(memory=None)
    without = EvolvingFuzzyClassifier(threshold_rules=False, memory=None)
    outputs, members = clf.test_then_train(X, y), without.test_then_train(X, y)
    t = clf.inner.any_model.trees.arrays
    assert list(t.feature[:, 0] >= 0) == [False, True]
    assert np.abs(outputs - members).max() > 0.2
    later = slice(ROWS_ANSWERED, None)
    np.testing.assert_allclose(outputs[later].sum(axis=1), members[later].sum(axis=1), atol=1e-9)
    assert (outputs[-500:].argmax(axis=1) == y[-500:]).mean() > 0.97
