"""Edges at the least log loss, their widths, and trimming, against losses that are formed anew."""

import numpy as np
import pytest
from callable_kernels import CallableKernels
from choices import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from naive import threshold_trials as naive
from naive.threshold_tree import Node
from small_thresholds import assert_same_tree, fill_ring, random_rows, random_tree, state_of, write_tree

from evolabel.engine.packed_state import pack
from evolabel.stages.threshold_rules.arrays import EDGE, HALF_WIDTH, MISSING_LEFT
from evolabel.stages.threshold_rules.loops import edges as edges_module

edges = CallableKernels(edges_module)
SEEDS = st.integers(0, 10_000)
VALUES = st.sampled_from([0, 3, 8])


def problem(seed, n, values, splits=3, p=2):
    """A random tree with a split at its root, n rows in the ring, and the kernels' state of both."""
    rng = np.random.default_rng(seed)
    root = random_tree(rng, p, splits)
    rows, state = random_rows(rng, n, p, values=values), state_of(p)
    write_tree(root, state.arrays)
    fill_ring(state, rows)
    return root, rows, state


@settings(max_examples=examples(50))
@given(SEEDS, st.integers(5, 120), VALUES)
def test_an_edge_moves_as_that_of_the_twin(seed, n, values):
    root, rows, state = problem(seed, n, values)
    assert edges.move_edge(0, 0, n, pack(state)) == pytest.approx(naive.move_edge(root, rows), rel=1e-9, abs=1e-9)
    assert_same_tree(state.arrays, root)


@settings(max_examples=examples(50))
@given(SEEDS, st.integers(20, 120), VALUES)
def test_the_loss_is_the_least_of_all_candidates_and_the_width_reaches_as_far_as_one_nat(seed, n, values):
    root, rows, state = problem(seed, n, values)
    before = root.edge
    edges.move_edge(0, 0, n, pack(state))
    root.edge, width, root.missing_left = state.arrays.edge[0, 0]
    distinct, losses, loss = naive.edge_losses(root, rows)
    least = losses.min()
    assert loss <= least + (0.5 if root.edge == before else 0.0) + 2e-9
    best = int(np.flatnonzero(losses <= least + 1e-9)[0])
    near = losses < least + 1.0
    low = best - int(np.argmin(near[best::-1])) + 1 if not near[: best + 1].all() else 0
    high = best + int(np.argmin(near[best:])) - 1 if not near[best:].all() else len(losses) - 1
    assert width == pytest.approx(0.5 * (distinct[high + 1] - distinct[low]), abs=1e-12)


def test_the_width_does_not_depend_on_the_order_of_rows_with_the_same_value():
    """Positives before negatives of a value in the middle: the loss between them is high, but no edge can be there."""
    root = Node(0)
    root.split(0, 1.5, missing_left=False)
    root.children[0].sums[[0, 3]], root.children[1].sums[[0, 3]] = (50.0, 5.0), (50.0, 45.0)
    x, y = np.repeat([0.0, 1.0, 2.0, 3.0], 20), np.repeat([0.0, 1.0, 0.0, 1.0, 0.0, 1.0], [20, 10, 10, 10, 10, 20])
    widths = set()
    for order in (np.arange(80), np.arange(80)[::-1]):
        rows, state = naive.LabelRows(x[order][:, None], y[order], np.zeros(80), np.ones(80)), state_of(1)
        write_tree(root, state.arrays)
        fill_ring(state, rows)
        edges.move_edge(0, 0, 80, pack(state))
        widths.add(float(state.arrays.edge[0, 0, HALF_WIDTH]))
    assert widths == {1.5}  # from 0 to 3: every edge in between has the same loss


@settings(max_examples=examples(25))
@given(SEEDS, st.integers(30, 100))
def test_missing_values_go_where_their_loss_is_smaller(seed, n):
    root, rows, state = problem(seed, n, 0)
    missing = np.isnan(rows.X[:, root.feature])
    left, right = (naive.losses_below(child, rows, 0.02)[missing].sum() for child in root.children)
    edges.move_edge(0, 0, n, pack(state))
    if missing.any() and abs(left - right) > 1e-9:
        assert state.arrays.edge[0, 0, MISSING_LEFT] == float(left < right)
    else:
        assert state.arrays.edge[0, 0, MISSING_LEFT] == float(root.missing_left)


def test_an_edge_between_known_and_missing_values_and_one_of_few_values_stay():
    for edge, n in ((np.inf, 80), (0.3, 9)):
        root, rows, state = problem(1, 80, 0)
        root.edge = edge
        write_tree(root, state.arrays)
        rows.X[n:] = np.nan
        fill_ring(state, rows)
        assert edges.move_edge(0, 0, 80, pack(state)) == 0.0
        assert state.arrays.edge[0, 0, EDGE] == edge


def test_where_both_children_answer_the_same_rounding_does_not_place_the_edge():
    """One child has no rows and answers the mean of its parent, the other one has all rows and that mean."""
    for seed in range(20):
        rows, state = random_rows(np.random.default_rng(seed), 40, 1, gaps=0.0), state_of(1)
        root = Node(0, sums=np.array([rows.w.sum(), 0.0, 0.0, rows.w @ rows.y, 0.0]))
        root.split(0, 9.0, missing_left=False)
        root.children[0].sums = root.sums.copy()
        write_tree(root, state.arrays)
        fill_ring(state, rows)
        state.arrays.X[:5] = np.nan
        edges.move_edge(0, 0, 40, pack(state))
        assert state.arrays.edge[0, 0, EDGE] == pytest.approx(np.sort(rows.X[5:, 0])[:2].mean())
        assert state.arrays.edge[0, 0, MISSING_LEFT] == 0.0


def test_between_neighbouring_floats_the_edge_is_the_left_one():
    root = Node(0)
    root.split(0, 5.0, missing_left=False)
    root.children[0].sums[[0, 3]], root.children[1].sums[[0, 3]] = (50.0, 1.0), (50.0, 49.0)
    x = np.repeat([1.0, np.nextafter(1.0, 2.0)], 30)
    rows, state = naive.LabelRows(x[:, None], (x > 1.0).astype(float), np.zeros(60), np.ones(60)), state_of(1)
    write_tree(root, state.arrays)
    fill_ring(state, rows)
    edges.move_edge(0, 0, 60, pack(state))
    np.testing.assert_array_equal(state.arrays.edge[0, 0], [1.0, 0.0, 0.0])


@settings(max_examples=examples(20))
@given(SEEDS, st.integers(40, 120), st.integers(1, 6), VALUES, st.sampled_from([1, 4]))
def test_all_edges_are_moved_as_those_of_the_twin(seed, n, splits, values, rounds):
    root, rows, state = problem(seed, n, values, splits)
    edges.move_edges_below(0, 0, n, rounds, pack(state))
    naive.settle(root, rows, rounds)
    assert_same_tree(state.arrays, root)


@settings(max_examples=examples(30))
@given(SEEDS, st.integers(20, 120), st.integers(1, 6), st.sampled_from([0.0, 3.0]))
def test_splits_are_trimmed_as_by_the_twin(seed, n, splits, least):
    root, rows, state = problem(seed, n, 0, splits)
    edges.trim(0, 0, n, least, pack(state))
    naive.trim(root, rows, least)
    assert_same_tree(state.arrays, root)
