"""Algorithm 1 for many penalties at once: every kernel against its naive twin."""

import numpy as np
import pytest
from callable_kernels import CallableKernels
from choices import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from naive.paper import descent as naive
from paper_rule_bases import random_factor

from evolabel.paper.rules.loops import descent as descent_module

descent = CallableKernels(descent_module)

SEEDS = st.integers(0, 10_000)
SIZES = st.integers(1, 6)
LENGTHS = st.integers(1, 12)  # rows are taken four at a time
SHARES = st.sampled_from([0.0, 0.3, 0.8, 1.0])


def sparse(rng, shape, zeros):
    """Any numbers, a share of them exactly 0."""
    return np.where(rng.random(shape) < zeros, 0.0, rng.normal(size=shape))


@settings(max_examples=examples(60), deadline=None)
@given(SEEDS, SIZES, LENGTHS, LENGTHS, SHARES)
def test_add_rows(seed, K, rows, q, zeros):
    rng = np.random.default_rng(seed)
    C, A, out = sparse(rng, (K, rows), zeros), rng.normal(size=(rows, q)), rng.normal(size=(K, q))
    expected = naive.add_rows(C, A, out)
    descent.add_rows(C, A, out)
    np.testing.assert_allclose(out, expected, rtol=1e-12, atol=1e-12)


@settings(max_examples=examples(60), deadline=None)
@given(SEEDS, SIZES, LENGTHS, st.integers(0, 12), SHARES)
def test_curvature(seed, K, q, r, zeros):
    rng = np.random.default_rng(seed)
    W, F = sparse(rng, (K, q), zeros), rng.normal(size=(min(r, q), q))
    out = np.full((K, q), np.nan)
    descent.curvature(W, F.T @ F, F, np.full((K, len(F)), np.nan), out)
    np.testing.assert_allclose(out, naive.curvature(W, F.T @ F), rtol=1e-11, atol=1e-11)


@settings(max_examples=examples(40), deadline=None)
@given(SEEDS, st.integers(1, 3), st.integers(0, 6))
def test_few_weights_read_h_and_many_read_the_factor(seed, r, more):
    rng = np.random.default_rng(seed)
    few, q = 2 * r, 2 * r + 1 + more
    F, W = rng.normal(size=(r, q)), rng.normal(size=(2, q))
    W[0, rng.permutation(q)[few:]] = 0.0
    H, unknown, out = F.T @ F, np.full((q, q), np.nan), np.empty((2, q))
    descent.curvature(W[:1], H, unknown[:r], np.full((1, r), np.nan), out[:1])
    descent.curvature(W[1:], unknown, F, np.full((1, r), np.nan), out[1:])
    np.testing.assert_allclose(out, naive.curvature(W, H), rtol=1e-11, atol=1e-11)


@settings(max_examples=examples(40), deadline=None)
@given(SEEDS, SIZES, SIZES, st.sampled_from([0.0, 0.5, 100.0]), SHARES)
def test_add_coupling(seed, K, q, beta, zeros):
    rng = np.random.default_rng(seed)
    W, B, out = rng.normal(size=(K, q)), sparse(rng, (K, K), zeros), rng.normal(size=(K, q))
    intercepts, expected = out[:, -1].copy(), naive.add_coupling(W, B, beta, out)
    descent.add_coupling(W, B, beta, out)
    np.testing.assert_allclose(out, expected, rtol=1e-12, atol=1e-11)
    np.testing.assert_array_equal(out[:, -1], intercepts)


@settings(max_examples=examples(40), deadline=None)
@given(SEEDS, SIZES, SIZES, st.sampled_from([0.0, 0.5, 10.0]), st.floats(0.1, 100.0))
def test_proximal_point(seed, K, q, alpha, L):
    rng = np.random.default_rng(seed)
    ahead, slope, target, new = rng.normal(size=(4, K, q))
    penalty = rng.uniform(size=q)
    expected = naive.proximal_point(ahead, slope, target, penalty, alpha, L)
    descent.proximal_point(ahead, slope, target, penalty, alpha, L, new)
    np.testing.assert_allclose(new, expected, rtol=1e-11, atol=1e-12)


def test_the_threshold_gives_exact_zeros_and_spares_the_intercept():
    ahead, nothing, new = np.array([[-2.0, -0.5, 0.1, 0.5, 2.0, 0.1]]), np.zeros((1, 6)), np.empty((1, 6))
    descent.proximal_point(ahead, nothing, nothing, np.zeros(6), 1.0, 2.0, new)
    np.testing.assert_array_equal(new, [[-1.5, 0.0, 0.0, 0.0, 1.5, 0.1]])


def test_a_weight_that_is_no_number_does_not_pass_for_a_zero():
    ahead, nothing, new = np.array([[np.nan, 3.0, 0.0]]), np.zeros((1, 3)), np.empty((1, 3))
    descent.proximal_point(ahead, nothing, nothing, np.zeros(3), 1.0, 1.0, new)
    np.testing.assert_array_equal(new, [[np.nan, 2.0, 0.0]])


@settings(max_examples=examples(60), deadline=None)
@given(SEEDS, SIZES, SIZES)
def test_uphill(seed, K, q):
    """Whole numbers: the order of the sum cannot decide."""
    ahead, new, W = np.random.default_rng(seed).integers(-2, 3, size=(3, K, q)).astype(float)
    assert descent.uphill(ahead, new, W) == naive.uphill(ahead, new, W)


def test_momentum_across_the_step_is_not_uphill():
    ahead, new, W = np.array([[1.0, 0.0]]), np.array([[0.0, 0.0]]), np.array([[0.0, 5.0]])
    assert not descent.uphill(ahead, new, W)
    assert descent.uphill(ahead, new, np.array([[-1e-9, 5.0]]))


@settings(max_examples=examples(40), deadline=None)
@given(SEEDS, SIZES, SIZES, st.floats(0.0, 1.0))
def test_go_on(seed, K, q, momentum):
    new, W, ahead = np.random.default_rng(seed).normal(size=(3, K, q))
    expected = naive.advance(new, momentum, W)
    change, size = descent.advance(new, momentum, W, ahead)
    np.testing.assert_allclose(ahead, expected[0], rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose([change, size], expected[1:], rtol=1e-12)
    np.testing.assert_array_equal(W, new)


def walk(seed, K, q, r, alpha, beta, tolerance, most):
    """The arguments of `descend` for any pairs, and the same for its twin, pair by pair."""
    rng = np.random.default_rng(seed)
    F, C = rng.normal(size=(r, q)), random_factor(rng, K)
    H, B = F.T @ F, C @ C.T / np.linalg.norm(C @ C.T, 2)
    target, penalty, W = rng.normal(size=(K, q)), rng.uniform(0.2, 1.0, size=q), rng.normal(size=(len(alpha), K, q))
    L = np.linalg.norm(H + np.diag(penalty), 2) + beta
    known = (target, penalty, B)
    twins = [(H, *known, alpha[n], beta[n], L[n], tolerance, most, W[n].copy()) for n in range(len(alpha))]
    return (H, F, *known, alpha, beta, L, tolerance, most, W), twins


PAIRS = np.array([[0.0, 0.0], [0.0, 2.0], [0.05, 0.0], [0.4, 2.0], [3.0, 20.0]]).T.copy()


@settings(max_examples=examples(30), deadline=None)
@given(SEEDS, st.integers(1, 4), st.integers(2, 8), st.integers(0, 8), st.sampled_from([0, 1, 2, 9, 60]))
def test_descend_takes_the_steps_of_its_twin(seed, K, q, r, most):
    arguments, twins = walk(seed, K, q, min(r, q), *PAIRS, 0.0, most)
    descent.descend(*arguments)
    np.testing.assert_allclose(arguments[-1], [naive.descend(*twin) for twin in twins], rtol=1e-8, atol=1e-9)


@pytest.mark.parametrize("tolerance", [1e-2, 1e-5])
def test_descend_stops_where_its_twin_stops(tolerance):
    arguments, twins = walk(3, 3, 6, 4, *PAIRS, tolerance, 10_000)
    descent.descend(*arguments)
    np.testing.assert_allclose(arguments[-1], [naive.descend(*twin) for twin in twins], rtol=1e-11, atol=1e-11)


def test_a_pair_does_not_depend_on_the_other_pairs():
    together, _ = walk(5, 3, 7, 2, *PAIRS, 1e-8, 5000)
    descent.descend(*together)
    for n in range(PAIRS.shape[1]):
        *known, alpha, beta, L, tolerance, most, W = walk(5, 3, 7, 2, *PAIRS, 1e-8, 5000)[0]
        alone = W[n : n + 1].copy()
        descent.descend(*known, alpha[n : n + 1], beta[n : n + 1], L[n : n + 1], tolerance, most, alone)
        np.testing.assert_array_equal(alone[0], together[-1][n])
