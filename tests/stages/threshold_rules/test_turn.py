"""Learning of a path, pruning and one turn of maintenance, against the plain twin."""

import numpy as np
import pytest
from callable_kernels import CallableKernels
from choices import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from naive import threshold_rules as naive
from small_thresholds import assert_same_tree, random_rows, random_tree, state_of, write_tree

from evolabel.engine.packed_state import pack
from evolabel.stages.threshold_rules.arrays import FREE, IS_OPEN, LEAF, LEARNED
from evolabel.stages.threshold_rules.loops import learn as learn_module
from evolabel.stages.threshold_rules.loops import turn as turn_module
from evolabel.stages.threshold_rules.loops.learn import learn_refined
from evolabel.stages.threshold_rules.loops.turn import take_turn

learn, turn = CallableKernels(learn_module), CallableKernels(turn_module)
SEEDS = st.integers(0, 10_000)


def grown(seed, splits, p=3):
    """A random tree and the kernels' state of it."""
    rng, state = np.random.default_rng(seed), state_of(p)
    root = random_tree(rng, p, splits)
    write_tree(root, state.arrays)
    return rng, root, state


@settings(max_examples=examples(30))
@given(SEEDS, st.integers(0, 8))
def test_a_path_is_learned_as_by_the_twin(seed, splits):
    rng, root, state = grown(seed, splits)
    t, rows = pack(state.arrays), random_rows(rng, 25, 3)
    for x, y, f, w in zip(*rows[:4], strict=True):
        learn.learn_path(0, x, f, y, w, t)
        naive.learn_path(root, x, f, y, w)
    assert_same_tree(state.arrays, root)


@settings(max_examples=examples(40))
@given(SEEDS, st.integers(1, 12))
def test_exactly_the_subtrees_below_half_a_standard_error_after_100_visits_are_pruned(seed, splits):
    rng, root, state = grown(seed, splits)
    for node in root.below():
        node.gains = np.array([rng.choice([0.99, 1.01]) * 0.5 * np.sqrt(2.0), 2.0, rng.choice([99.0, 101.0])])
    write_tree(root, state.arrays)
    state.arrays.gate[0] = state.arrays.alarms[0] = 1.0

    def goes(node):
        rarer = min(node.mean(), 1.0 - node.mean()) * node.gains[2]
        is_seen = node.gains[2] > 100.0 and rarer > 4.0
        return node.children and is_seen and node.gains[0] < 0.5 * np.sqrt(node.gains[1])

    def above(node):
        return [] if node.up is None else [node.up, *above(node.up)]

    stays = {node.place for node in root.below() if not any(goes(up) for up in above(node))}
    leaves = {node.place for node in root.below() if node.place in stays and (goes(node) or not node.children)}
    turn.prune(0, pack(state))
    feature = state.arrays.feature[0]
    assert set(np.flatnonzero(feature != FREE)) == stays
    assert set(np.flatnonzero(feature == LEAF)) == leaves
    assert (state.arrays.gate[0] == 0.0).all() == bool(goes(root))
    assert state.arrays.alarms[0].tolist() == [1.0] * 3 + [1.0 - goes(root)] * 7  # means stay for an event
    naive.prune(root)
    assert_same_tree(state.arrays, root)


@pytest.mark.parametrize(("positives", "stays"), [(3.0, True), (5.0, False)])
def test_a_tree_of_a_rare_label_is_pruned_when_some_positives_should_have_come(positives, stays):
    _, root, state = grown(0, 1)
    n = 400.0
    root.sums = np.array([n, 0.0, 0.0, positives, 0.0])
    root.gains = np.array([-1.0, 2.0, n])
    write_tree(root, state.arrays)
    turn.prune(0, pack(state))
    assert (state.arrays.feature[0, 0] >= 0) == stays


def learned(seed, n, p=3, K=2):
    """A twin after n rows, one short of a turn, and the kernels' state after the same rows."""
    rng = np.random.default_rng(seed)
    state, twin = state_of(p, K), naive.NaiveThresholds(p, K)
    X, F = random_rows(rng, n, p).X, rng.uniform(0.0, 0.6, (n, K))
    Y = np.stack([np.nan_to_num(X[:, k]) > 0.2 for k in range(K)], axis=1).astype(float)
    none = np.empty(0)
    for i in range(n):
        twin.learn(X[i], Y[i], np.ones(K), F[i])
        row = slice(i, i + 1)
        if learn_refined(pack(state), X[row], Y[row], none, none[:, None], F[row], np.zeros((3, K))):
            take_turn(pack(state))
    return state, twin


@pytest.mark.parametrize("n", [99, 100, 249, 450])
def test_a_turn_out_of_turn_is_that_of_the_twin(n):
    """Also right after another one, when nothing is due."""
    state, twin = learned(n, n)
    for _ in range(2):
        take_turn(pack(state))
        twin.take_turn()
        for k, label in enumerate(twin.labels):
            assert_same_tree(state.arrays, label.root, k)


@pytest.mark.parametrize(
    ("rows_before", "is_open", "first_turn", "second_turn"),
    [(0, 0.0, 5, 9), (2000, 0.0, 2, 4), (2050, 0.0, 0, 0), (2050, 1.0, 5, 9)],
)
def test_the_work_of_a_turn_is_bounded_and_labels_take_turns(rows_before, is_open, first_turn, second_turn):
    """With 40 features a trial of 200 rows reads 88,000 values: five labels share a turn, the next ones follow.

    Where no gate is open after 2,000 rows, two share every fourth turn, and none is tried in the others.
    """
    rng, p, K = np.random.default_rng(0), 40, 9
    state = state_of(p, K)
    state.arrays.clock[LEARNED], state.arrays.gate[K - 1, IS_OPEN] = rows_before, is_open
    packed, none, tried = pack(state), np.empty(0), []
    X, Y = rng.normal(size=(200, p)), (rng.random((200, K)) < 0.5).astype(float)
    learn_refined(packed, X, Y, none, none[:, None], np.full((200, K), 0.5), np.zeros((3, K)))
    for _ in range(2):
        take_turn(packed)
        tried.append([k for k in range(K) if state.arrays.visits[k, 0, 0] == 0.0])
    assert tried == [list(range(first_turn)), list(range(second_turn))]


@pytest.mark.parametrize("before", [np.nan, 2.0])
def test_a_feature_that_begins_to_vary_has_bins_at_the_next_turn(before):
    """Both renewals of all bins, at row 200 and at row 400, are far from row 250."""
    rng, p, K = np.random.default_rng(1), 3, 2
    state, twin = state_of(p, K), naive.NaiveThresholds(p, K)
    X, Y, F = rng.normal(size=(300, p)), (rng.random((300, K)) < 0.5).astype(float), np.full((300, K), 0.5)
    X[:260, 1] = before
    none, bins = np.empty(0), {}
    for i in range(300):
        twin.learn(X[i], Y[i], np.ones(K), F[i])
        row = slice(i, i + 1)
        if learn_refined(pack(state), X[row], Y[row], none, none[:, None], F[row].copy(), np.zeros((3, K))):
            take_turn(pack(state))
            bins[i + 1] = int(np.isfinite(state.arrays.bins[1]).sum())
    assert (bins[250], bins[300]) == (0, len(twin.bins[1]))
    assert bins[300] > 3
