"""Whole streams: a label that changes is noticed and followed, and streams that do not change stay as they were."""

import numpy as np
import pytest
from following import bent_stream, classifier_of, flipped, shifts

from evolabel.streams import DriftingStream

pytestmark = pytest.mark.compiled

AT = 3000


def run(X, Y, **changes):
    clf = classifier_of(X, Y, max_rules=30, **changes)
    outputs = clf.test_then_train(X[80:], Y[80:])
    return clf, np.vstack([np.zeros((80, Y.shape[1])), (outputs >= 0.5) == (Y[80:] > 0.5)])


@pytest.mark.parametrize("seed", [20, 21, 22])
def test_a_label_that_turns_round_is_noticed_followed_and_recovers(seed):
    X, Y = flipped(5000, AT, seed, p=8, K=5)
    clf, right = run(X, Y)
    found = [(kind, label, sample) for kind, label, _, sample in shifts(clf.inner.any_model) if label is not None]
    assert [(kind, label) for kind, label, _ in found] == [("drift", 0), ("recovered", 0)]
    assert AT < found[0][2] <= AT + 30
    assert found[1][2] <= AT + 500
    level = right[1500:AT, 0].mean()
    assert right[AT + 500 : AT + 1500, 0].mean() > level - 0.05
    assert right[AT:, 1:].mean() > right[1500:AT, 1:].mean() - 0.03
    _, lazy = run(X, Y, follow_drift=False)
    assert lazy[AT + 500 : AT + 1500, 0].mean() < 0.4


@pytest.mark.parametrize("seed", [20, 21, 22])
def test_a_label_that_soon_turns_back_is_followed_within_tens_of_rows(seed):
    X, Y = flipped(AT + 500, AT, seed, p=8, K=5)
    back = AT + 200  # too soon for a second cut
    Y[back:, 0] = 1.0 - Y[back:, 0]
    _, right = run(X, Y)
    for start in (AT, back):
        assert right[start + 30 : start + 200, 0].mean() > right[1500:AT, 0].mean() - 0.1


@pytest.mark.parametrize("seed", [23, 24])
def test_a_stationary_stream_has_no_drift_and_loses_nothing(seed):
    X, Y = bent_stream(5000, seed, p=8, K=5)
    clf, right = run(X, Y)
    assert not [kind for kind, *_ in shifts(clf.inner.any_model) if kind != "renewed"]
    _, plain = run(X, Y, follow_drift=False)
    assert right[500:].mean() > plain[500:].mean() - 0.003


def test_a_stationary_stream_of_regions_has_no_drift():
    X, Y = DriftingStream(drift="none", seed=25).take(5000)
    clf, right = run(X, Y)
    assert not [kind for kind, *_ in shifts(clf.inner.any_model) if kind != "renewed"]
    _, plain = run(X, Y, follow_drift=False)
    assert right[500:].mean() > plain[500:].mean() - 0.003


def test_a_stream_whose_concepts_come_back_is_followed_each_time():
    X, Y = bent_stream(6000, 26, p=6, K=2)
    for start in (1500, 4500):
        Y[start : start + 1500] = 1.0 - Y[start : start + 1500]
    _, right = run(X, Y)
    for start in (1500, 3000, 4500):
        assert right[start + 300 : start + 1500].mean() > right[500:1500].mean() - 0.05


def test_a_label_that_turns_before_the_first_row_of_the_stream_is_noticed():
    X, Y = flipped(1800, 1500, seed=3)
    clf = classifier_of(X, Y, batch=1500)
    outputs = clf.test_then_train(X[1500:], Y[1500:])
    kinds = [(kind, label) for kind, label, _, _ in shifts(clf.inner.any_model) if kind == "drift"]
    assert kinds == [("drift", 0)]
    assert ((outputs[100:, 0] >= 0.5) == (Y[1600:, 0] > 0.5)).mean() > 0.75


def test_the_drift_of_a_label_whose_tree_is_dropped_is_ended_by_the_members():
    X = np.random.default_rng(1).normal(size=(4000, 6))
    Y = (np.c_[X[:, 4] * X[:, 5], X[:, 0]] > 0.0).astype(float)
    Y[2000:, 0] = 0.0
    clf = classifier_of(X, Y, threshold_rules=True)
    clf.partial_fit(X[80:], Y[80:])
    found = [(kind, label) for kind, label, _, _ in shifts(clf.inner.any_model) if label is not None]
    assert found == [("drift", 0), ("recovered", 0)]
    assert not clf.inner.any_model.drifting.any()


def of_thresholds(seed, turns):
    """Rows with a label that trees answer, which becomes its opposite at each of the `turns`, and another label."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(size=(turns[-1] + 400, 6))
    Y = np.c_[(X[:, 0] > 0.5) & (X[:, 1] < 0.6) | (X[:, 2] > 0.85), (X[:, 3] > 0.7) | (X[:, 4] < 0.2)]
    for turn in turns:
        Y[turn:, 0] = ~Y[turn:, 0]
    return X, np.where(rng.random(Y.shape) < 0.03, 1.0 - Y, Y)


@pytest.mark.parametrize("follow_drift", [True, False])
@pytest.mark.parametrize("seed", [20, 21])
def test_a_label_that_trees_answer_is_right_again_within_tens_of_rows(seed, follow_drift):
    turns = AT, AT + 200
    X, Y = of_thresholds(seed, turns)
    clf, right = run(X, Y, threshold_rules=True, follow_drift=follow_drift)
    level = right[1500:AT, 0].mean()
    assert level > 0.92
    for turn in turns:
        assert right[turn + 30 : turn + 200, 0].mean() > level - 0.05
    assert right[AT:, 1].mean() > right[1500:AT, 1].mean() - 0.02
    drifts = [label for kind, label, _, _ in shifts(clf.inner.any_model) if kind == "drift"]
    assert drifts == [0, 0]


def test_reversed_trees_are_the_same_row_by_row_and_from_a_file(tmp_path):
    X, Y = of_thresholds(22, (1000, 1200))
    whole, single = (classifier_of(X, Y, threshold_rules=True, max_rules=10) for _ in range(2))
    whole.partial_fit(X[80:], Y[80:])
    for i in range(80, len(X)):
        single.partial_fit(X[i : i + 1], Y[i : i + 1])
        if i == 1005:
            single.save(tmp_path / "turning.evolabel")
            single = type(single).load(tmp_path / "turning.evolabel")
    one, other = (clf.inner.any_model.trees.arrays for clf in (whole, single))
    for name, array in one._asdict().items():
        np.testing.assert_array_equal(array, getattr(other, name), err_msg=name)
    assert whole.events_ == single.events_
