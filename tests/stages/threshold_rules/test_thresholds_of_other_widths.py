"""Threshold rules that are merged, get labels and classes, or lose features."""

import numpy as np
import pytest

from evolabel import EvolvingFuzzyClassifier
from evolabel.core.rows import Batch
from evolabel.model.growth import grow_features, keep_features
from evolabel.stages.threshold_rules.arrays import IS_OPEN

pytestmark = pytest.mark.compiled


def plant(rows, seed):
    """One label, a conjunction with an exception."""
    X = np.random.default_rng(seed).normal(size=(rows, 5))
    return X, ((X[:, 0] < 0.2) & (X[:, 1] > -0.3) & (X[:, 2] < 1.0)).astype(float)[:, None]


def right(clf, X, Y):
    return float(np.mean(clf.predict(X) == Y))


@pytest.fixture(scope="module")
def proven():
    X, Y = plant(2500, 0)
    return EvolvingFuzzyClassifier().fit(X[:200], Y[:200]).partial_fit(X[200:], Y[200:])


def test_a_young_tree_does_not_replace_a_proven_one(proven):
    X, Y = plant(170, 1)
    young = proven.sibling().partial_fit(X, Y)
    later = plant(1000, 2)
    for merged in (proven.merge(young), young.merge(proven)):
        assert right(merged, *later) > right(proven, *later) - 0.01
        assert merged.inner.model.trees.arrays.gate[:, IS_OPEN].all()


def test_a_label_of_the_other_model_keeps_its_tree(proven):
    X, Y = plant(2000, 3)
    both = np.column_stack([np.full(len(Y), np.nan), X[:, 3] * X[:, 4] > 0.0])
    other = proven.sibling().partial_fit(X, both)
    merged = proven.merge(other)
    gates = merged.inner.model.trees.arrays.gate[:, IS_OPEN]
    assert gates.tolist() == [1.0, 1.0]


@pytest.mark.parametrize("rows", [60, 400])
def test_rows_from_before_a_drift_are_not_merged(rows):
    models = []
    for seed in (5, 6):
        X = np.random.default_rng(seed).uniform(-1.0, 1.0, (1500 + rows, 4))
        Y = np.c_[(X[:, 0] > 0.0) ^ (X[:, 1] > 0.0), X[:, 3] > 0.0].astype(float)
        Y[1500:, 0] = 1.0 - Y[1500:, 0]
        models.append(EvolvingFuzzyClassifier().fit(X[:200], Y[:200]).partial_fit(X[200:], Y[200:]))
    later = np.random.default_rng(7).uniform(-1.0, 1.0, (1000, 4))
    truth = np.c_[(later[:, 0] > 0.0) == (later[:, 1] > 0.0), later[:, 3] > 0.0]
    scores = [right(model, later, truth) for model in (*models, models[0].merge(models[1]))]
    assert min(scores[:2]) > 0.97
    assert scores[2] > max(scores[:2]) - 0.01


def classes(X):
    """Three classes by thresholds."""
    return np.where((X[:, 0] > 0.0) & (X[:, 1] > 0.0), "a", np.where(X[:, 2] > 0.5, "b", "c"))


def test_classes_are_merged_with_one_gate():
    X = np.random.default_rng(4).normal(size=(3400, 4))
    big = EvolvingFuzzyClassifier().fit(X[:200], classes(X[:200])).partial_fit(X[200:2200], classes(X[200:2200]))
    small = big.sibling().partial_fit(X[2200:2400], classes(X[2200:2400]))
    later = X[2400:]
    before = np.mean(big.predict(later) == classes(later))
    merged = big.merge(small)
    gates = merged.inner.any_model.trees.arrays.gate[:, IS_OPEN]
    assert gates.min() == gates.max()
    assert np.mean(merged.predict(later) == classes(later)) > before - 0.02


def test_a_third_class_closes_the_gate_of_two():
    X = np.random.default_rng(5).normal(size=(1600, 4))
    two = np.where((X[:, 0] > 0.0) & (X[:, 1] > 0.0), "a", "b")
    clf = EvolvingFuzzyClassifier().fit(X[:200], two[:200]).partial_fit(X[200:1500], two[200:1500])
    model = clf.inner.any_model
    assert model.trees.arrays.gate[1, IS_OPEN] == 1.0
    model.grow_labels(3, absent=True)
    assert not model.trees.arrays.gate[:, IS_OPEN].any()
    np.testing.assert_allclose(model.outputs(X[1500:])[:, :2].sum(axis=1), 1.0, atol=0.2)


def test_a_tree_that_asks_about_a_feature_that_goes_starts_anew_and_says_so(proven):
    X, Y = plant(2500, 0)
    clf = EvolvingFuzzyClassifier().fit(X[:200], Y[:200]).partial_fit(X[200:], Y[200:])
    model = clf.inner.model
    numbers = set(model.trees.arrays.number[model.trees.arrays.number >= 0].tolist())
    model.trees.arrays.since[0] = 700
    keep_features(model, np.array([1, 2, 3, 4]))
    t = model.trees.arrays
    assert t.X.shape[1] == 4
    assert t.since[0] == 700
    assert t.feature[0, 0] < 0
    gone = {event.rule for event in model.trained().events if event.kind == "rule gone"}
    assert numbers
    assert numbers <= gone


def test_a_feature_that_appears_is_used_within_some_hundred_rows():
    X, Y = plant(3000, 6)
    hidden = X.copy()
    hidden[:1200, 0] = np.nan
    clf = EvolvingFuzzyClassifier().fit(hidden[:200, 1:], Y[:200]).partial_fit(hidden[200:1200, 1:], Y[200:1200])
    model = clf.inner.model
    grow_features(model, [X[:50, 0]])
    wide = np.ascontiguousarray(np.column_stack([X[:, 1:], X[:, 0]]))
    model.learn(Batch(wide[1200:1900], Y[1200:1900]))
    assert 4 in model.trees.arrays.feature[0]
