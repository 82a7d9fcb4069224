"""Answers of trees and the refined outputs, against the plain twin."""

import numpy as np
import pytest
from callable_kernels import CallableKernels
from choices import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from naive import threshold_rules as naive
from small_thresholds import random_rows, random_tree, state_of, write_tree

from evolabel.engine.packed_state import pack
from evolabel.stages.threshold_rules.arrays import IS_OPEN, TREE_WEIGHT
from evolabel.stages.threshold_rules.loops import answer as answer_module

answer = CallableKernels(answer_module)
SEEDS = st.integers(0, 10_000)


def grown(seed, p=3, K=1, *, splits=6, exclusive=False):
    """State and twin with the same random trees, all gates open."""
    rng = np.random.default_rng(seed)
    state, twin = state_of(p, K, exclusive=exclusive), naive.NaiveThresholds(p, K, exclusive=exclusive)
    for k, label in enumerate(twin.labels):
        label.root = random_tree(rng, p, int(rng.integers(splits + 1)))
        label.gate.is_open, label.gate.weight = True, rng.random()
        write_tree(label.root, state.arrays, k)
        state.arrays.gate[k, [IS_OPEN, TREE_WEIGHT]] = 1.0, label.gate.weight
    return rng, state, twin


@settings(max_examples=examples(30))
@given(SEEDS)
def test_a_leaf_answers_as_the_twin(seed):
    rng, state, twin = grown(seed)
    t = pack(state.arrays)
    for node in twin.labels[0].root.below():
        f = rng.uniform(-1.0, 2.0)
        assert answer.mean_label(0, node.place, t) == pytest.approx(node.mean(), abs=1e-12)
        assert answer.slope(0, node.place, t) == pytest.approx(node.slope(), abs=1e-9)
        assert answer.leaf_answer(0, node.place, f, t) == pytest.approx(node.answer(f), abs=1e-9)
        assert 0.0 <= answer.leaf_answer(0, node.place, f, t) <= 1.0


def test_a_leaf_without_rows_answers_the_mean_of_its_parent():
    rng, state, twin = grown(1)
    root = twin.labels[0].root
    child = root.below()[1]
    child.sums[:] = 0.0
    write_tree(root, state.arrays)
    mean = root.sums[3] / root.sums[0]
    assert answer.leaf_answer(0, child.place, rng.random(), pack(state.arrays)) == pytest.approx(mean)


@settings(max_examples=examples(30))
@given(SEEDS, st.integers(1, 5), st.integers(0, 47))
def test_trees_answer_as_the_twin_and_memberships_add_up(seed, p, splits):
    rng, state, twin = grown(seed, p, splits=splits)
    packed, root = pack(state), twin.labels[0].root
    for x in random_rows(rng, 20, p, gaps=0.2).X:
        f = rng.uniform(-1.0, 2.0)
        assert answer.tree_answer(0, x, f, packed) == pytest.approx(root.soft_answer(x, f), abs=1e-9)
        assert answer.leaf_of(0, 0, x, pack(state.arrays)) == root.leaf(x).place
    for node in root.below():
        node.sums[:] = 0.0  # every leaf answers one half
    write_tree(root, state.arrays)
    assert answer.tree_answer(0, x, 0.0, packed) == pytest.approx(0.5, abs=1e-12)


@pytest.mark.parametrize(("value", "left"), [(-1.0, 1.0), (0.0, 1.0), (0.5, 0.75), (1.0, 0.5), (1.5, 0.25), (2.0, 0.0)])
def test_between_the_ends_of_an_edge_both_children_answer(value, left):
    assert answer.share_of_left(value, np.array([1.0, 1.0, 0.0])) == left
    assert answer.share_of_left(value, np.array([1.0, 0.0, 0.0])) == float(value <= 1.0)
    assert answer.share_of_left(np.nan, np.array([1.0, 1.0, 1.0])) == 1.0
    assert answer.share_of_left(np.nan, np.array([1.0, 1.0, 0.0])) == 0.0


@settings(max_examples=examples(25))
@given(SEEDS, st.integers(1, 4), st.booleans())
def test_outputs_are_refined_as_by_the_twin_and_no_state_changes(seed, K, exclusive):
    rng, state, twin = grown(seed, 3, K, exclusive=exclusive)
    for k in rng.permutation(K)[: K // 2]:
        twin.labels[k].gate.is_open = False
        state.arrays.gate[k, IS_OPEN] = 0.0
    X, F = random_rows(rng, 12, 3).X, rng.uniform(-2.0, 3.0, (12, K))
    before, out = [array.copy() for array in state.arrays], F.copy()
    answer.refine_rows(pack(state), X, out)
    expected = np.array([twin.answers(x, f)[1] for x, f in zip(X, F, strict=True)])
    np.testing.assert_allclose(out, expected, atol=1e-9)
    for array, kept in zip(state.arrays, before, strict=True):
        np.testing.assert_array_equal(array, kept)
    for k, label in enumerate(twin.labels):
        if not (label.gate.is_open and label.root.children) and not twin.first:
            np.testing.assert_array_equal(out[:, k], F[:, k])


@settings(max_examples=examples(20))
@given(SEEDS)
def test_outputs_of_two_classes_stay_complementary(seed):
    """Also where an output of the members is beyond the range that trees use."""
    rng, state, _ = grown(seed, 3, 2, exclusive=True)
    F = rng.uniform(-3.0, 4.0, (20, 1)) * [-1.0, 1.0] + [1.0, 0.0]
    answer.refine_rows(pack(state), random_rows(rng, 20, 3).X, F)
    np.testing.assert_allclose(F.sum(axis=1), 1.0, atol=1e-12)


@pytest.mark.parametrize(("f", "expected"), [(-9.0, -1.0), (9.0, 2.0), (0.3, 0.3), (np.nan, 0.5)])
def test_outputs_of_the_members_are_cut(f, expected):
    assert answer.cut_output(f) == naive.cut(f) == expected
