"""Single steps of Algorithm 2 against their naive twins."""

import numpy as np
import pytest
from callable_kernels import CallableKernels
from choices import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from naive.paper import iteration as naive
from paper_rule_bases import random_factor

from evolabel.paper.rules.loops import iteration as iteration_module

iteration = CallableKernels(iteration_module)

SEEDS = st.integers(0, 10_000)
SIZES = st.integers(1, 6)


def symmetric(rng, n):
    F = random_factor(rng, n)
    return F @ F.T


@settings(max_examples=examples(40), deadline=None)
@given(SEEDS, SIZES, SIZES, st.floats(1e-6, 100.0))
def test_rls_step(seed, K, q, w):
    rng = np.random.default_rng(seed)
    A, W, r = symmetric(rng, q), rng.normal(size=(K, q)), rng.normal(size=q)
    y, confidence = rng.integers(0, 2, size=K).astype(float), rng.choice([0.0, 0.3, 1.0], size=K)
    y[confidence == 0.0] = np.nan
    expected, said = naive.rls_step(W, A, r, y, confidence, w)
    f = np.full(K, np.nan)
    iteration.rls_step(W, r, np.linalg.solve(A, r), y, confidence, w, f)
    np.testing.assert_allclose(W, expected, rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(f, said, rtol=1e-10, atol=1e-12)


@settings(max_examples=examples(60), deadline=None)
@given(st.floats(-1e6, 1e6), st.floats(0.0, 1e6))
def test_soft_threshold(x, width):
    assert iteration.soft(x, width) == naive.soft(x, width)


def test_soft_threshold_gives_exact_zeros():
    assert [iteration.soft(x, 0.5) for x in (-0.5, -0.1, 0.0, 0.5)] == [0.0] * 4
    assert iteration.soft(2.0, 0.5) == 1.5
    assert iteration.soft(-2.0, 0.5) == -1.5


@settings(max_examples=examples(40), deadline=None)
@given(SEEDS, SIZES, st.integers(1, 6), st.sampled_from([0.0, 0.5]), st.sampled_from([0.0, 2.0]))
def test_prox_step(seed, K, q, alpha, beta):
    rng = np.random.default_rng(seed)
    H, B, W, G, W0 = symmetric(rng, q), symmetric(rng, K), *rng.normal(size=(3, K, q))
    penalty, anchor = rng.uniform(size=(2, q))
    expected = naive.prox_step(W, H, B, G, penalty, anchor, W0, alpha, beta, 9.0)
    iteration.prox_step(W, W @ H, B @ W, G, penalty, anchor, W0, alpha, beta, 9.0)
    np.testing.assert_allclose(W, expected, rtol=1e-10, atol=1e-12)


def test_alpha_and_beta_leave_the_intercept_alone():
    rng = np.random.default_rng(3)
    H, B, W, G = symmetric(rng, 4), symmetric(rng, 3), *rng.normal(size=(2, 3, 4))
    after = []
    for alpha, beta in ((0.0, 0.0), (1e3, 50.0)):
        moved = W.copy()
        iteration.prox_step(
            moved, moved @ H, B @ moved, G, np.zeros(4), np.zeros(4), np.zeros((3, 4)), alpha, beta, 20.0
        )
        after.append(moved)
    np.testing.assert_array_equal(after[0][:, -1], after[1][:, -1])
    assert (after[1][:, :-1] == 0.0).all()
    assert (after[0][:, :-1] != 0.0).all()


@settings(max_examples=examples(30), deadline=None)
@given(SEEDS, st.integers(1, 8))
def test_power_iteration(seed, n):
    A = symmetric(np.random.default_rng(seed), n)
    np.testing.assert_allclose(iteration.power_iteration(A, 2000), naive.power_iteration(A), rtol=1e-3)
    assert iteration.power_iteration(A, 50) <= naive.power_iteration(A) * (1.0 + 1e-12)


def test_power_iteration_of_nothing_is_zero():
    assert iteration.power_iteration(np.zeros((3, 3)), 50) == 0.0


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf, 1e8, -1e9])
def test_weights_that_blow_up_are_seen(bad):
    W = np.zeros((3, 4))
    assert not iteration.has_diverged(W)
    assert not naive.has_diverged(W)
    W[2, 3] = bad
    assert iteration.has_diverged(W)
    assert naive.has_diverged(W)
    W[2, 3] = 0.99e8
    assert not iteration.has_diverged(W)
    assert not naive.has_diverged(W)
