"""Algorithm 1: the gradient, the step bound, and the minimum it walks to."""

import numpy as np
import pytest
from choices import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from paper_rule_bases import random_factor

from evolabel.paper.rules.proximal import Problem, largest_eigenvalue, minimise, soft_threshold

SEEDS = st.integers(0, 10_000)


def make_problem(seed, K=3, q=5, alpha=0.0, beta=1.5, rows=30):
    """The statistics of some rows, with a ridge towards an anchor and any positive semidefinite coupling."""
    rng = np.random.default_rng(seed)
    R, Y = np.column_stack([rng.normal(size=(rows, q - 1)), np.ones(rows)]), rng.integers(0, 2, size=(rows, K))
    psi = rng.uniform(0.1, 1.0, size=rows)[:, None]
    F = random_factor(rng, K)
    B = F @ F.T / np.linalg.norm(F @ F.T, 2)
    anchor, penalty = rng.normal(size=(K, q)), rng.uniform(0.1, 2.0, size=q)
    return Problem(R.T @ (psi * R), Y.T @ (psi * R), penalty, anchor, B, alpha, beta)


def kronecker_hessian(problem):
    """Of the smooth part, for W read row by row; the coupling spares the intercept."""
    K, q = problem.G.shape
    slopes = np.diag(np.append(np.ones(q - 1), 0.0))
    ridged = problem.H + np.diag(problem.penalty)
    return np.kron(np.eye(K), ridged) + problem.beta * np.kron(problem.B, slopes)


def smooth_minimum(problem):
    """Without L1, in the eigenbasis of B: one ridge system per eigenvector (Sylvester equation)."""
    b, U = np.linalg.eigh(problem.B)
    rotated = U.T @ (problem.G + problem.penalty * problem.anchor)
    slopes = np.append(np.ones(len(problem.penalty) - 1), 0.0)
    A = problem.H + np.diag(problem.penalty)
    return U @ np.array([np.linalg.solve(A + problem.beta * b[k] * np.diag(slopes), rotated[k]) for k in range(len(b))])


@settings(max_examples=examples(25), deadline=None)
@given(SEEDS, st.integers(1, 4), st.integers(2, 5), st.sampled_from([0.0, 2.0]))
def test_the_gradient_is_that_of_finite_differences(seed, K, q, beta):
    problem = make_problem(seed, K, q, 0.0, beta)
    W = np.random.default_rng(seed + 1).normal(size=(K, q))
    slope, h = problem.gradient(W), 1e-5
    for b in range(K):
        for j in range(q):
            step = np.zeros((K, q))
            step[b, j] = h
            numeric = (problem.value(W + step) - problem.value(W - step)) / (2.0 * h)
            assert numeric == pytest.approx(slope[b, j], rel=1e-5, abs=1e-5)


@settings(max_examples=examples(25), deadline=None)
@given(SEEDS, st.integers(1, 4), st.integers(2, 5), st.sampled_from([0.0, 0.3, 50.0]))
def test_the_step_bound_is_at_least_the_norm_of_the_hessian(seed, K, q, beta):
    problem = make_problem(seed, K, q, 0.0, beta)
    hessian = kronecker_hessian(problem)
    assert problem.lipschitz() >= np.linalg.norm(hessian, 2) * (1.0 - 1e-12)
    W, V = np.random.default_rng(seed).normal(size=(2, K, q))
    np.testing.assert_allclose(
        (problem.gradient(W) - problem.gradient(V)).ravel(), hessian @ (W - V).ravel(), rtol=1e-8, atol=1e-9
    )


def test_the_printed_step_bound_is_far_below():
    problem = make_problem(0, K=6, q=6, beta=1.0, rows=200)
    printed = np.sqrt(largest_eigenvalue(problem.H) + problem.beta * largest_eigenvalue(problem.B))
    assert 2.0 * printed < np.linalg.norm(kronecker_hessian(problem), 2)


@settings(max_examples=examples(20), deadline=None)
@given(SEEDS, st.integers(1, 5), st.integers(2, 6), st.sampled_from([0.0, 0.5, 20.0]))
def test_without_l1_the_minimum_is_the_sylvester_solution(seed, K, q, beta):
    problem = make_problem(seed, K, q, 0.0, beta)
    found = minimise(problem, np.zeros((K, q)))
    np.testing.assert_allclose(found, smooth_minimum(problem), rtol=1e-6, atol=1e-7)


@settings(max_examples=examples(20), deadline=None)
@given(SEEDS, st.sampled_from([0.1, 1.0, 5.0]), st.sampled_from([0.0, 2.0]))
def test_the_minimum_satisfies_the_conditions_of_l1(seed, alpha, beta):
    problem = make_problem(seed, 4, 6, alpha, beta)
    W = minimise(problem, np.zeros((4, 6)))
    slope, slopes = problem.gradient(W), W[:, :-1]
    scale = 1e-6 * problem.lipschitz()
    off = slopes == 0.0
    assert (np.abs(slope[:, :-1][off]) <= alpha + scale).all()
    np.testing.assert_allclose(slope[:, :-1][~off], -alpha * np.sign(slopes[~off]), atol=scale)
    np.testing.assert_allclose(slope[:, -1], 0.0, atol=scale)


@settings(max_examples=examples(15), deadline=None)
@given(SEEDS)
def test_the_start_makes_no_difference(seed):
    problem = make_problem(seed, alpha=0.5)
    start = 100.0 * np.random.default_rng(seed).normal(size=(3, 5))
    np.testing.assert_allclose(minimise(problem, start), minimise(problem, np.zeros((3, 5))), atol=1e-6)


def test_nothing_near_the_minimum_is_better():
    problem = make_problem(1, alpha=0.5)
    W, rng = minimise(problem, np.zeros((3, 5))), np.random.default_rng(1)
    for size in (1e-1, 1e-3):
        for _ in range(50):
            assert problem.value(W + size * rng.normal(size=W.shape)) > problem.value(W)


def test_l1_gives_exact_zeros_and_spares_the_intercept():
    problem = make_problem(2, alpha=3.0)
    W = minimise(problem, np.zeros((3, 5)))
    assert (W[:, :-1] == 0.0).any()
    assert (W[:, -1] != 0.0).all()
    strong = make_problem(2, alpha=1e6)
    W = minimise(strong, np.ones((3, 5)))
    assert (W[:, :-1] == 0.0).all()
    alone = (strong.G + strong.penalty * strong.anchor)[:, -1] / (strong.H[-1, -1] + strong.penalty[-1])
    np.testing.assert_allclose(W[:, -1], alone, rtol=1e-7)


def test_the_threshold_spares_the_intercept():
    X = np.array([[3.0, -0.5, 0.2], [-3.0, 1.0, -0.2]])
    np.testing.assert_array_equal(soft_threshold(X, 1.0), [[2.0, 0.0, 0.2], [-2.0, 0.0, -0.2]])
