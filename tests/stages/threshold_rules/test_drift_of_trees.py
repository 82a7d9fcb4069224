"""Trees in a drift: sums of opposite labels, odds against a tree, alarms and reversals, as by the plain twin."""

import numpy as np
from callable_kernels import CallableKernels
from choices import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from naive import threshold_rules as naive
from small_thresholds import assert_same_tree, random_rows, random_tree, state_of, write_tree

from evolabel.engine.packed_state import pack
from evolabel.stages.drift.loops.alarm import CALM_COUNT, CALM_MEAN, CALM_ODDS, CALM_VARIANCE, IS_RAISED, SHORT_MEAN
from evolabel.stages.threshold_rules.arrays import LEARNED, SUM_1, SUM_Y
from evolabel.stages.threshold_rules.loops import learn as drift_module
from evolabel.stages.threshold_rules.loops import learn as learn_module

learn, drift = CallableKernels(learn_module), CallableKernels(drift_module)
SEEDS = st.integers(0, 10_000)


@settings(max_examples=examples(30))
@given(SEEDS, st.integers(0, 6))
def test_a_reversed_tree_has_the_sums_of_opposite_labels(seed, splits):
    rng, one, other = np.random.default_rng(seed), state_of(3), state_of(3)
    root = random_tree(rng, 3, splits, rows=1)
    for state in (one, other):
        write_tree(root, state.arrays)
    for x, y, f, w in zip(*random_rows(rng, 40, 3)[:4], strict=True):
        learn.learn_path(0, x, f, y, w, pack(one.arrays))
        learn.learn_path(0, x, f, 1.0 - y, w, pack(other.arrays))
    drift.reverse_tree(0, pack(one.arrays))
    np.testing.assert_allclose(one.arrays.sums, other.arrays.sums, atol=1e-9)
    assert one.arrays.sums[..., SUM_Y].min() >= 0.0


@settings(max_examples=examples(30))
@given(SEEDS, st.floats(0.0, 1.0), st.integers(0, 100), st.floats(0.1, 1.0), st.sampled_from([1.0, 0.5, 0.05]))
def test_a_tree_is_watched_as_by_the_twin(seed, mean, calm, weight, n_eff):
    rng, state = np.random.default_rng(seed), state_of(2)
    label = naive.NaiveLabel(root=random_tree(rng, 2, 2))
    write_tree(label.root, state.arrays)
    t = state.arrays
    losses = np.r_[rng.beta(1.0, 6.0, calm), rng.beta(1.0 + 5.0 * mean, 6.0 - 5.0 * mean, 80)]
    for row, (loss, y) in enumerate(zip(losses, (rng.random(len(losses)) < 0.5).astype(float), strict=True)):
        t.clock[LEARNED] = row
        drift.watch_tree(0, y, loss, weight, n_eff, 1.0, pack(t))
        label.watch(y, loss, weight, n_eff, row, 1.0)
        np.testing.assert_allclose(t.positives[0], label.positives.vector(), rtol=1e-7, atol=1e-12)
        np.testing.assert_allclose(t.against[0], label.against, rtol=1e-7)
        np.testing.assert_allclose(t.alarms[0], label.alarm.vector(), rtol=1e-7, atol=1e-12)
        assert t.since[0] == label.since
    assert_same_tree(t, label.root)


def turns_of(losses, *, raised=True):
    """The answers, counted from 1, after which a tree was reversed."""
    t = state_of(2).arrays
    t.alarms[0, [CALM_COUNT, CALM_ODDS, IS_RAISED]] = 1000.0, 1.0, raised
    t.alarms[0, [CALM_MEAN, SHORT_MEAN, CALM_VARIANCE]] = 0.2, 0.2 + raised, 0.5
    found = []
    for row, loss in enumerate(losses, 1):
        t.sums[0, 0] = 10.0, 0.0, 0.0, 2.0, 0.0
        t.clock[LEARNED] = row
        drift.watch_tree(0, 0.0, loss, 1.0, 1.0, 1.0, pack(t))
        if t.sums[0, 0, SUM_Y] > 0.5 * t.sums[0, 0, SUM_1]:
            found.append(row)
    return found


def test_a_tree_is_reversed_after_six_sure_answers_that_are_wrong_while_its_alarm_is_raised():
    assert turns_of([0.95**2] * 13) == [6, 12]


def test_ten_such_answers_raise_the_alarm():
    """The losses vary so much in calm times that the mean does not raise it."""
    assert turns_of([0.95**2] * 15, raised=False) == [10]


def test_a_tree_that_is_right_more_often_than_not_is_hardly_ever_reversed():
    wrong = np.random.default_rng(0).random((100, 50)) < 0.3
    assert sum(bool(turns_of(np.where(run, 0.95, 0.05) ** 2)) for run in wrong) < 8
