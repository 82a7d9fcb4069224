"""Many pairs (alpha, beta) at once: each minimum is the one it has alone."""

from dataclasses import replace

import numpy as np
import pytest
from choices import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from test_proximal import kronecker_hessian, make_problem

from evolabel.paper.rules import proximal
from evolabel.paper.rules.proximal import minimise, minimise_all, without_l1

SEEDS = st.integers(0, 10_000)
ALPHAS = np.array([0.0, 0.0, 0.05, 0.5, 5.0])
BETAS = np.array([0.0, 2.0, 0.0, 2.0, 50.0])
SHAPES = st.sampled_from([(3, 5, 30), (1, 5, 30), (3, 9, 2), (1, 6, 1), (4, 2, 30)])  # labels, weights, rows


def any_start(seed, problem):
    return np.random.default_rng(seed).normal(size=problem.G.shape)


def with_coupling(problem, *eigenvalues):
    """The problem with a coupling of these eigenvalues, in the eigenbasis of its own."""
    V = np.linalg.eigh(problem.B)[1]
    return replace(problem, B=V @ np.diag(eigenvalues) @ V.T)


def kronecker_solution(problem, beta):
    """Without L1: one linear system for all weights of all labels."""
    target = (problem.G + problem.penalty * problem.anchor).ravel()
    return np.linalg.solve(kronecker_hessian(replace(problem, beta=beta)), target).reshape(problem.G.shape)


def assert_optimal(problem, W, within):
    """The conditions of Karush, Kuhn and Tucker: slopes within alpha where a weight is 0, at alpha elsewhere."""
    slope, weights = problem.gradient(W), W[:, :-1]
    off = weights == 0.0
    assert (np.abs(slope[:, :-1][off]) <= problem.alpha + within).all()
    np.testing.assert_allclose(slope[:, :-1][~off], -problem.alpha * np.sign(weights[~off]), atol=within)
    np.testing.assert_allclose(slope[:, -1], 0.0, atol=within)


@settings(max_examples=examples(30), deadline=None)
@given(SEEDS, SHAPES)
def test_each_minimum_is_the_one_it_has_alone(seed, shape):
    K, q, rows = shape
    problem = make_problem(seed, K, q, rows=rows)
    start = any_start(seed, problem)
    found = minimise_all(problem, start, ALPHAS, BETAS)
    alone = [minimise(replace(problem, alpha=a, beta=b), start) for a, b in zip(ALPHAS, BETAS, strict=True)]
    np.testing.assert_allclose(found, alone, rtol=0.0, atol=1e-9)


@settings(max_examples=examples(30), deadline=None)
@given(SEEDS, SHAPES)
def test_every_minimum_satisfies_the_conditions_of_l1(seed, shape):
    K, q, rows = shape
    problem = make_problem(seed, K, q, rows=rows)
    for n, W in enumerate(minimise_all(problem, any_start(seed, problem), ALPHAS, BETAS)):
        pair = replace(problem, alpha=ALPHAS[n], beta=BETAS[n])
        assert_optimal(pair, W, 1e-6 * pair.lipschitz())


@settings(max_examples=examples(30), deadline=None)
@given(SEEDS, SHAPES)
def test_without_l1_all_labels_solve_one_linear_system(seed, shape):
    K, q, rows = shape
    problem, betas = make_problem(seed, K, q, rows=rows), np.array([0.0, 0.1, 3.0, 100.0])
    expected = [kronecker_solution(problem, beta) for beta in betas]
    np.testing.assert_allclose(without_l1(problem, betas), expected, rtol=1e-8, atol=1e-9)


@settings(max_examples=examples(15), deadline=None)
@given(SEEDS, st.integers(1, 6))
def test_few_rows_in_many_dimensions_are_no_trouble(seed, rows):
    """H has the rank of its rows, and the factor as many rows."""
    problem = make_problem(seed, 2, 12, rows=rows)
    assert proximal._factor(problem.H).shape == (rows, 12)
    for n, W in enumerate(minimise_all(problem, np.zeros((2, 12)), ALPHAS, BETAS)):
        pair = replace(problem, alpha=ALPHAS[n], beta=BETAS[n])
        assert_optimal(pair, W, 1e-6 * pair.lipschitz())


@settings(max_examples=examples(30), deadline=None)
@given(SEEDS, st.integers(1, 8), st.integers(0, 20))
def test_the_factor_squared_is_the_matrix(seed, q, rows):
    R = np.random.default_rng(seed).normal(size=(rows, q))
    F = proximal._factor(R.T @ R)
    assert F.shape == (min(rows, q), q)
    np.testing.assert_allclose(F.T @ F, R.T @ R, rtol=1e-10, atol=1e-10)


def test_a_rule_without_samples_keeps_what_its_ridge_pulls_to():
    problem = replace(make_problem(0), H=np.zeros((5, 5)), G=np.zeros((3, 5)))
    found = minimise_all(problem, np.zeros((3, 5)), np.array([0.0, 0.1]), np.zeros(2))
    np.testing.assert_allclose(found[0], problem.anchor, atol=1e-12)
    shrunk = np.sign(problem.anchor) * np.maximum(np.abs(problem.anchor) - 0.1 / problem.penalty, 0.0)
    np.testing.assert_allclose(found[1][:, :-1], shrunk[:, :-1], atol=1e-6)
    np.testing.assert_allclose(found[1][:, -1], problem.anchor[:, -1], atol=1e-6)


def test_one_label_feels_its_coupling_as_a_ridge():
    problem = replace(make_problem(4, K=1), B=np.ones((1, 1)))
    ridged = replace(problem, H=problem.H + np.diag([3.0, 3.0, 3.0, 3.0, 0.0]))
    found = minimise_all(problem, np.zeros((1, 5)), np.array([0.0, 0.5]), np.array([3.0, 3.0]))
    without = minimise_all(ridged, np.zeros((1, 5)), np.array([0.0, 0.5]), np.zeros(2))
    np.testing.assert_allclose(found, without, atol=1e-7)


def test_without_coupling_labels_do_not_know_each_other():
    problem = make_problem(6)
    together = minimise_all(problem, np.zeros((3, 5)), ALPHAS, np.zeros(5))
    for b in range(3):
        one = replace(problem, G=problem.G[b : b + 1], anchor=problem.anchor[b : b + 1], B=np.ones((1, 1)))
        np.testing.assert_allclose(
            together[:, b], minimise_all(one, np.zeros((1, 5)), ALPHAS, np.zeros(5))[:, 0], atol=1e-6
        )


def test_the_problems_own_penalties_are_not_looked_at():
    problem = make_problem(7)
    start = any_start(7, problem)
    found = minimise_all(problem, start, ALPHAS, BETAS)
    np.testing.assert_array_equal(
        found, minimise_all(replace(problem, alpha=9.0, beta=9.0, literal=True), start, ALPHAS, BETAS)
    )


def test_what_is_given_stays_as_it_was():
    problem = make_problem(8)
    start = any_start(8, problem)
    given_arrays = [start, ALPHAS, BETAS, problem.H, problem.G, problem.B, problem.penalty, problem.anchor]
    before = [array.copy() for array in given_arrays]
    minimise_all(problem, start, ALPHAS, BETAS)
    for array, copy in zip(given_arrays, before, strict=True):
        np.testing.assert_array_equal(array, copy)


@pytest.mark.parametrize("kind", ["only without L1", "only with L1", "one pair", "no pair"])
def test_any_choice_of_pairs_is_served(kind):
    chosen = {"only without L1": [0, 1], "only with L1": [4, 2], "one pair": [3], "no pair": []}[kind]
    problem = make_problem(9)
    every = minimise_all(problem, np.zeros((3, 5)), ALPHAS, BETAS)
    found = minimise_all(problem, np.zeros((3, 5)), ALPHAS[chosen], BETAS[chosen])
    np.testing.assert_array_equal(found, every[chosen])


def test_an_indefinite_coupling_has_no_minimum_to_solve_for():
    problem = with_coupling(make_problem(10), -1.0, 0.5, 1.0)
    strong = np.array([1e4])
    assert without_l1(problem, strong) is None
    assert without_l1(problem, np.array([1.0, 1e4])) is None
    assert np.linalg.eigvalsh(kronecker_hessian(replace(problem, beta=1e4)))[0] < 0.0


def test_a_weak_indefinite_coupling_is_solved_all_the_same():
    """What counts is that the objective is convex, not that the coupling is."""
    problem = with_coupling(make_problem(10), -1.0, 0.5, 1.0)
    np.testing.assert_allclose(without_l1(problem, np.array([1e-3]))[0], kronecker_solution(problem, 1e-3), rtol=1e-8)


def test_where_nothing_can_be_solved_the_descent_is_taken(monkeypatch):
    problem = make_problem(11)
    exact = minimise_all(problem, np.zeros((3, 5)), ALPHAS, BETAS)
    monkeypatch.setattr(proximal, "without_l1", lambda problem, betas: None)
    walked = minimise_all(problem, np.zeros((3, 5)), ALPHAS, BETAS)
    assert (walked[:2] != exact[:2]).any()
    np.testing.assert_allclose(walked, exact, atol=1e-6)
    alone = minimise(replace(problem, alpha=0.0, beta=2.0), np.zeros((3, 5)))
    np.testing.assert_allclose(walked[1], alone, atol=1e-9)
