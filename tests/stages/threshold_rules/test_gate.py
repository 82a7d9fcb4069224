"""Gates against the plain twin, and against what they promise."""

import numpy as np
import pytest
from callable_kernels import CallableKernels
from choices import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from naive.threshold_rules import NaiveGate, NaiveThresholds
from small_thresholds import random_tree, state_of, write_tree

from evolabel.engine.packed_state import pack
from evolabel.stages.threshold_rules.arrays import IS_OPEN, N_GATE, TREE_WEIGHT
from evolabel.stages.threshold_rules.loops import learn as gate_module

gate = CallableKernels(gate_module)
SEEDS = st.integers(0, 10_000)


@settings(max_examples=examples(30))
@given(SEEDS, st.floats(-1.0, 1.0), st.floats(1.5, 5.0), st.sampled_from([1.0, 0.2, 0.01]), st.floats(0.0, 0.3))
def test_a_gate_opens_and_closes_as_that_of_the_twin(seed, level, errors, pace, share):
    sooner = gate.sooner_error(share, errors)
    rng, m, twin = np.random.default_rng(seed), np.zeros(N_GATE), NaiveGate()
    for i in range(150):
        trend = level if i < 80 else -level
        f, y, w = rng.uniform(-0.5, 1.5), float(rng.integers(2)), rng.uniform(0.0, 1.0)
        g = y + 0.5 * (1.0 - trend) * rng.uniform(-1.0, 1.0)
        h = twin.mixed(f, g)
        assert gate.mixed(m, f, g) == pytest.approx(h, abs=1e-12)
        won = gate.is_wrong(f, y) - gate.is_wrong(h, y)
        gate.switch_gate(m, (y - f) ** 2 - (y - h) ** 2, won, w, pace, errors, sooner)
        twin.turn((y - f) ** 2 - (y - h) ** 2, won, w, errors, pace, share)
        gate.learn_tree_weight(m, f, g, y, w, pace)
        twin.learn_tree_weight(f, g, y, w, pace)
        np.testing.assert_allclose(m, twin.vector(), atol=1e-10)


def test_a_gate_opens_only_with_both_tests_and_closes_with_one():
    m = np.zeros(N_GATE)
    for _ in range(200):
        gate.switch_gate(m, 0.2, 0.0, 1.0, 1.0, 2.0, 1.5)  # a smaller error, no decision changed
    assert m[IS_OPEN] == 1.0
    for _ in range(2):
        gate.switch_gate(m, 0.2, -1.0, 1.0, 1.0, 2.0, 1.5)  # decisions are lost
    assert m[IS_OPEN] == 0.0
    gate.switch_gate(m, 0.2, 0.0, 1.0, 1.0, 2.0, 1.5)  # the error alone does not open it again
    assert m[IS_OPEN] == 0.0
    for _ in range(9):
        gate.switch_gate(m, 0.2, 1.0, 1.0, 1.0, 2.0, 1.5)
    assert m[IS_OPEN] == 1.0
    while m[IS_OPEN] == 1.0:
        gate.switch_gate(m, -0.4, 0.0, 1.0, 1.0, 2.0, 1.5)
    assert m[0] / np.sqrt(m[1] + 0.05) < 2.0 / 3.0


@pytest.mark.parametrize(("share", "rows"), [(0.5, 6), (0.1, 2)])
def test_a_gate_opens_sooner_where_decisions_show_it_too(share, rows):
    m, n_won, sooner = np.zeros(N_GATE), 0, gate.sooner_error(share, 3.0)
    while m[IS_OPEN] == 0.0:
        gate.switch_gate(m, 1.0, 1.0, 1.0, 1.0, 3.0, sooner)  # a positive that only the tree finds
        n_won += 1
    assert n_won == rows  # n / sqrt(n + 1) exceeds 0.24 * 3^2, or half of it; the error alone would need 10 rows
    m = np.zeros(N_GATE)
    for _ in range(9):
        gate.switch_gate(m, 1.0, 0.0, 1.0, 1.0, 3.0, sooner)
    assert m[IS_OPEN] == 0.0


@settings(max_examples=examples(20))
@given(SEEDS)
def test_the_weight_is_that_of_least_squares(seed):
    rng, m = np.random.default_rng(seed), np.zeros(N_GATE)
    f, g, y = rng.uniform(0.0, 1.0, (3, 60))
    for row in zip(f, g, y, strict=True):
        gate.learn_tree_weight(m, *row, 1.0, 1.0)
    fade = 0.999 ** np.arange(59, -1, -1)
    slope = (fade * (g - f)) @ (y - f) / (fade @ (g - f) ** 2 + 0.5)
    assert m[TREE_WEIGHT] == pytest.approx(np.clip(slope, 0.0, 1.0), abs=1e-10)


@settings(max_examples=examples(20))
@given(SEEDS, st.integers(3, 5))
def test_classes_share_one_gate(seed, K):
    rng, state, twin = (
        np.random.default_rng(seed),
        state_of(2, K, exclusive=True),
        NaiveThresholds(2, K, exclusive=True),
    )
    twin.labels[1].root = random_tree(rng, 2, 1)
    write_tree(twin.labels[1].root, state.arrays, 1)
    packed = pack(state)
    for _ in range(60):
        y = np.eye(K)[rng.integers(K)]
        f, tried, w = rng.random(K), np.clip(y + rng.normal(0.0, 0.3, K), 0.0, 1.0), rng.uniform(0.0, 2.0, K)
        w[rng.random(K) < 0.3] = 0.0
        w[rng.integers(K)] = 1.0
        gain = float(((y - f) ** 2 - (y - tried) ** 2).sum())
        gate.learn_shared_gate(y, f, w, tried, gain, packed)
        twin.turn_shared_gate(y, f, w, tried, gain)
        expected = np.array([label.gate.vector() for label in twin.labels])
        np.testing.assert_allclose(state.arrays.gate, expected, atol=1e-10)
        assert len(set(state.arrays.gate[:, IS_OPEN])) == 1
