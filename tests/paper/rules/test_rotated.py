"""One Cholesky factor per rule: rank-one updates, substitution, missing features."""

import numpy as np
import pytest
from callable_kernels import CallableKernels
from choices import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from naive import moments as naive_moments
from naive.paper import rotated as naive
from naive.paper import rule_distances as naive_distances
from paper_rule_bases import learn_spread, paper_base, random_factor, with_missing
from small_rule_bases import assert_close

from evolabel.paper.rules.loops import rotated as rotated_module
from evolabel.paper.rules.loops.rotated import degrees, rotate

rotated = CallableKernels(rotated_module)

SEEDS = st.integers(0, 10_000)
SIZES = st.integers(1, 9)


@settings(max_examples=examples(30), deadline=None)
@given(SEEDS, SIZES, st.sampled_from([0.0, 1e-6, 1.0, 1e4]))
def test_factor_update_is_the_factor_of_the_sum(seed, d, size):
    rng = np.random.default_rng(seed)
    F, e = random_factor(rng, d), size * rng.normal(size=d)
    kept, expected = e.copy(), naive.factor_update(F, e)
    rotated.factor_update(F, e, np.empty(d))
    np.testing.assert_array_equal(e, kept)
    assert_close(F @ F.T, expected @ expected.T, 1e-12)
    assert_close(np.tril(F), expected, 1e-8)
    assert (np.diag(F) > 0.0).all()


@settings(max_examples=examples(30), deadline=None)
@given(SEEDS, st.integers(1, 40), st.data())
def test_substitution_goes_on_where_it_stopped(seed, d, data):
    rng, middle = np.random.default_rng(seed), data.draw(st.integers(0, d))
    F, e, v = random_factor(rng, d), rng.normal(size=d), np.full(d, np.nan)
    first = rotated.substitute(F, e, 0, middle, 0.25, np.inf, v)
    both = rotated.substitute(F, e, middle, d, first, np.inf, v)
    expected, whole = naive.substitute(F, e, 0, d, 0.25)
    np.testing.assert_allclose(v, whole, rtol=1e-9, atol=1e-11)
    np.testing.assert_allclose(both, expected, rtol=1e-10)
    np.testing.assert_allclose(both - 0.25, e @ np.linalg.solve(F @ F.T, e), rtol=1e-8)


@settings(max_examples=examples(30), deadline=None)
@given(SEEDS, st.integers(2, 12))
def test_a_missing_entry_sits_at_its_mean_given_those_before(seed, d):
    rng = np.random.default_rng(seed)
    F, e, v = random_factor(rng, d), rng.normal(size=d), np.empty(d)
    e[-1] = np.nan
    total = rotated.substitute(F, e, 0, d, 0.0, np.inf, v)
    np.testing.assert_allclose(total, naive.substitute(F, e, 0, d, 0.0)[0], rtol=1e-10)
    np.testing.assert_allclose(total, naive.marginal_square(F @ F.T, e), rtol=1e-8)
    filled = naive.conditional_mean(F @ F.T, e)
    np.testing.assert_allclose(F @ v, filled, rtol=1e-8, atol=1e-10)


def test_a_hopeless_substitution_is_abandoned_and_a_hopeful_one_is_not():
    rng = np.random.default_rng(0)
    F, e, v = random_factor(rng, 40), rng.normal(size=40), np.empty(40)
    total = rotated.substitute(F, e, 0, 40, 0.0, np.inf, v)
    assert rotated.substitute(F, e, 0, 40, 0.0, total * (1.0 + 1e-9), v) == total
    assert rotated.substitute(F, e, 0, 40, 0.0, 1e-3 * total, v) == np.inf


@settings(max_examples=examples(40), deadline=None)
@given(SEEDS, st.integers(1, 8), st.integers(0, 4), st.sampled_from([0.0, 0.3, 0.8]))
def test_missing_features_take_their_conditional_mean(seed, p, K, share):
    rng = np.random.default_rng(seed)
    F, v = random_factor(rng, p + K), np.empty(p + K)
    e = np.append(with_missing(rng, rng.normal(size=p), share), rng.normal(size=K))
    square, filled = naive.marginal_fill(F, e, p)
    np.testing.assert_allclose(rotated.marginal_fill(F, e, p, np.empty(p, np.int64), v), square, rtol=1e-8)
    np.testing.assert_allclose(e[:p], filled, rtol=1e-8, atol=1e-9)
    np.testing.assert_allclose(F[:p, :p] @ v[:p], filled, rtol=1e-8, atol=1e-9)


@settings(max_examples=examples(30), deadline=None)
@given(SEEDS, st.integers(0, 8))
def test_small_systems_are_solved_in_place(seed, m):
    rng = np.random.default_rng(seed)
    F, b = random_factor(rng, m) if m else np.empty((0, 0)), rng.normal(size=m)
    expected = naive.solve_positive(F @ F.T, b)
    rotated.solve_positive(F @ F.T, b)
    np.testing.assert_allclose(b, expected, rtol=1e-9, atol=1e-11)


@settings(max_examples=examples(40), deadline=None)
@given(SEEDS, SIZES, st.sampled_from([0.0, 0.5, 7.0]), st.floats(1e-3, 100.0), st.sampled_from([0.0, 0.4]))
def test_a_sample_rotates_the_scatter(seed, d, k, weight, share):
    rng = np.random.default_rng(seed)
    F, c, s = random_factor(rng, d), rng.normal(size=d), with_missing(rng, rng.normal(size=d), share)
    expected = naive_moments.rotate(s, weight, k, 3.0, c, F)
    rotate(s, weight, k, 3.0, c, F)
    assert_close(np.tril(F), expected, 1e-9)


def learn_by_hand(base, S, weights):
    for s, weight in zip(S, weights, strict=True):
        learn_spread(base, 1, s, weight)


def pooled(base, S, weights):
    """Covariance of weighted samples with the prior, as a batch."""
    mean = np.average(S, axis=0, weights=weights)
    scatter = (S - mean).T @ (weights[:, None] * (S - mean))
    settings = base.settings
    prior = np.diag(settings.prior_count * settings.prior)
    return (prior + scatter) / (settings.prior_count + weights.sum() - 1.0)


@settings(max_examples=examples(15), deadline=None)
@given(SEEDS, st.integers(1, 5), st.integers(1, 4), st.integers(2, 30))
def test_factor_and_marginal_are_those_of_the_batch(seed, p, K, rows):
    rng = np.random.default_rng(seed)
    base = paper_base(p, K)
    base.own.F[1] = np.diag(np.sqrt(base.settings.prior_count * base.settings.prior))
    S, weights = rng.normal(size=(rows, p + K)) @ rng.normal(size=(p + K, p + K)), rng.uniform(0.5, 2.0, size=rows)
    learn_by_hand(base, S, weights)
    Sigma = pooled(base, S, weights)
    scale = degrees(float(base.arrays.k[1]), base.settings.prior_count)
    F = np.tril(base.own.F[1]) / np.sqrt(scale)
    assert_close(F @ F.T, Sigma, 1e-10)
    assert_close(F[:p, :p], np.linalg.cholesky(Sigma[:p, :p]), 1e-9)
    e, v = rng.normal(size=p + K), np.empty(p + K)
    marginal = rotated.substitute(base.own.F[1], e, 0, p, 0.0, np.inf, v)
    joint = rotated.substitute(base.own.F[1], e, p, p + K, marginal, np.inf, v)
    np.testing.assert_allclose(scale * marginal, e[:p] @ np.linalg.inv(Sigma[:p, :p]) @ e[:p], rtol=1e-8)
    np.testing.assert_allclose(scale * joint, e @ np.linalg.inv(Sigma) @ e, rtol=1e-8)


@pytest.mark.compiled
@pytest.mark.slow
def test_the_factor_is_the_covariance_after_100_000_updates():
    rng, p, K = np.random.default_rng(5), 6, 3
    base = paper_base(p, K)
    base.own.F[1] = np.diag(np.sqrt(base.settings.prior_count * base.settings.prior))
    S = rng.normal(size=(100_000, p + K)) @ rng.normal(size=(p + K, p + K)) + 3.0
    weights = rng.uniform(0.5, 2.0, size=len(S))
    learn_by_hand(base, S, weights)
    Sigma = pooled(base, S, weights)
    F = np.tril(base.own.F[1]) / np.sqrt(degrees(float(base.arrays.k[1]), base.settings.prior_count))
    assert_close(F @ F.T, Sigma, 1e-9)
    assert_close(F[:p, :p], np.linalg.cholesky(Sigma[:p, :p]), 1e-9)


def test_degrees_do_not_count_the_first_sample():
    for k in (0.0, 0.5, 1.0, 1.5, 40.0):
        assert degrees(k, 8.0) == naive_distances.degrees(k, 8.0)
