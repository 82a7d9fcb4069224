"""Reversal of trees: sums of opposite labels, and odds against a tree, as by the plain twin."""

import numpy as np
from callable_kernels import CallableKernels
from choices import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from naive import threshold_rules as naive
from small_thresholds import assert_same_tree, random_rows, random_tree, state_of, write_tree

from evolabel.kernels.members.alarm import CALM_COUNT, CALM_ODDS, IS_RAISED, RAISED_AT
from evolabel.kernels.packed_state import pack
from evolabel.kernels.threshold_rules import learn as learn_module
from evolabel.kernels.threshold_rules import reversal as reversal_module
from evolabel.kernels.threshold_rules.state import SUM_Y

learn, reversal = CallableKernels(learn_module), CallableKernels(reversal_module)
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
    reversal.reverse_tree(0, pack(one.arrays))
    np.testing.assert_allclose(one.arrays.sums, other.arrays.sums, atol=1e-9)
    assert one.arrays.sums[..., SUM_Y].min() >= 0.0


@settings(max_examples=examples(30))
@given(SEEDS, st.floats(0.0, 1.0), st.booleans(), st.floats(0.1, 1.0))
def test_odds_against_a_tree_are_those_of_the_twin(seed, mean, raised, weight):
    rng, state = np.random.default_rng(seed), state_of(2)
    label = naive.NaiveLabel(root=random_tree(rng, 2, 2))
    write_tree(label.root, state.arrays)
    label.alarm.calm, label.alarm.calm_odds = float(rng.integers(2000)), rng.uniform(0.2, 2.0)
    label.alarm.raised, label.alarm.since = raised, 7
    t = state.arrays
    t.alarms[0, [CALM_COUNT, CALM_ODDS, IS_RAISED, RAISED_AT]] = label.alarm.calm, label.alarm.calm_odds, raised, 7
    for loss in rng.beta(1.0 + 5.0 * mean, 6.0 - 5.0 * mean, 60):
        reversal.learn_against(0, loss, weight, pack(t))
        label.learn_against(loss, weight)
        np.testing.assert_allclose(t.against[0], label.against, rtol=1e-9)
        assert t.since[0] == label.since
    assert_same_tree(t, label.root)


def turns_of(losses, *, raised=True):
    """The answers, counted from 1, after which a tree was reversed."""
    t = state_of(2).arrays
    t.alarms[0, [CALM_COUNT, CALM_ODDS, IS_RAISED]] = 1000.0, 1.0, raised
    t.sums[0, 0] = 10.0, 0.0, 0.0, 10.0, 0.0
    found, before = [], 10.0
    for answer, loss in enumerate(losses, 1):
        reversal.learn_against(0, loss, 1.0, pack(t))
        if t.sums[0, 0, SUM_Y] != before:
            found.append(answer)
            before = t.sums[0, 0, SUM_Y]
    return found


def test_a_tree_is_reversed_after_six_sure_answers_that_are_wrong_while_its_alarm_is_raised():
    assert turns_of([0.95**2] * 13) == [6, 12]
    assert turns_of([0.95**2] * 13, raised=False) == []


def test_a_tree_that_is_right_more_often_than_not_is_hardly_ever_reversed():
    wrong = np.random.default_rng(0).random((100, 50)) < 0.3
    assert sum(bool(turns_of(np.where(run, 0.95, 0.05) ** 2)) for run in wrong) < 8
