"""Distances in the input space and in the product space, rotated or not."""

import numpy as np
import pytest
from callable_kernels import CallableKernels, callable_kernel
from choices import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from naive.memberships import memberships
from naive.paper import rule_distances as naive
from paper_rule_bases import paper_learned, random_rules, with_missing
from small_rule_bases import make_stream

from evolabel.paper.rules.loops import memberships as memberships_module
from evolabel.paper.rules.loops.answer import paper_distance_rows
from evolabel.stages.rules.loops.antecedents import distances
from evolabel.stages.rules.loops.consequents import fill_regressor

kernels = CallableKernels(memberships_module)
fill_regressor = callable_kernel(fill_regressor)

SEEDS = st.integers(0, 10_000)
NUMBERS = st.floats(-5.0, 5.0, allow_subnormal=False)


def weights(rng, p):
    """Weights of features, 1 on average."""
    lam = rng.uniform(0.25, 3.0, size=p)
    return lam / lam.mean()


def kernel_distances(s, base, p):
    """D and J of all rules by the compiled kernel."""
    D, J = np.full((2, 1, base.n_rules), np.nan)
    paper_distance_rows(base.packed, base.packed_paper, s[None], p, np.empty((0, 0)), D, J)
    return D[0], (J if len(s) > p else D)[0]


@settings(max_examples=examples(30), deadline=None)
@given(SEEDS, st.integers(1, 5), st.integers(1, 4), st.booleans())
def test_the_joint_vector(seed, p, K, product):
    rng = np.random.default_rng(seed)
    z, y = rng.normal(size=p), np.where(rng.random(K) < 0.3, np.nan, rng.integers(0, 2, size=K))
    s = np.empty(p + K if product else p)
    kernels.join(z, y, 1.7, s)
    np.testing.assert_array_equal(s, naive.join(z, y, 1.7, len(s)))


@settings(max_examples=examples(30), deadline=None)
@given(SEEDS, st.integers(1, 5), st.integers(1, 4), st.sampled_from([0.0, 0.4]))
def test_axis_parallel_label_distances(seed, p, K, share):
    rng = np.random.default_rng(seed)
    c, inv = rng.normal(size=(4, p + K)), rng.uniform(0.1, 9.0, size=(4, p + K))
    s = np.append(with_missing(rng, rng.normal(size=p), share), rng.normal(size=K))
    s[p:][rng.random(K) < share] = np.nan
    D, J = np.empty(4), np.full(4, np.nan)
    lam = np.append(weights(rng, p), np.ones(K))
    callable_kernel(distances)(s[:p], 3, c, inv, lam, D)
    kernels.add_label_distances(s, p, 3, c, inv, lam, D, J)
    np.testing.assert_allclose(J[1:], naive.add_label_distances(s, c[1:], inv[1:], lam), rtol=1e-10)


@pytest.mark.parametrize("rotated", [False, True])
@settings(max_examples=examples(25), deadline=None)
@given(SEEDS, st.integers(1, 6), st.integers(1, 4), st.sampled_from([0.0, 0.4]), st.sampled_from([0.0, 0.4]))
def test_distances_are_mahalanobis_in_both_spaces(rotated, seed, p, K, features, labels):
    rng = np.random.default_rng(seed)
    base = random_rules(rng, p, K, 4, temperature=1e6)
    metric = np.stack([base.settings.prior, np.append(weights(rng, p), np.ones(K))])
    base.settings, base.paper = base.settings._replace(metric=metric), base.paper._replace(rotated=rotated)
    s = np.append(with_missing(rng, rng.normal(size=p), features), with_missing(rng, rng.normal(size=K), labels))
    D, J = kernel_distances(s, base, p)
    expected_D, expected_J = naive.joint_distances(s, p, base)
    np.testing.assert_allclose(D, expected_D, rtol=1e-8)
    np.testing.assert_allclose(J, expected_J, rtol=1e-8)


@settings(max_examples=examples(25), deadline=None)
@given(SEEDS, st.integers(2, 7), st.integers(1, 3))
def test_missing_features_leave_the_marginal_distance(seed, p, K):
    rng = np.random.default_rng(seed)
    base = random_rules(rng, p, K, 3, temperature=1e6)
    z = with_missing(rng, rng.normal(size=p), 0.5)
    seen = ~np.isnan(z)
    _, far = base.memberships(z[None])
    for slot in (1, 2, 3):
        Sigma = naive.covariance(slot, base)[:p, :p][np.ix_(seen, seen)]
        e = (z - base.arrays.c[slot, :p])[seen]
        np.testing.assert_allclose(far[0, slot - 1], e @ np.linalg.inv(Sigma) @ e / seen.sum(), rtol=1e-8)
        np.testing.assert_allclose(base.regressor(z, slot), naive.fill_rotated(z, slot, base), rtol=1e-8, atol=1e-9)


@settings(max_examples=10, deadline=None)
@given(SEEDS)
def test_answers_fill_missing_features_with_their_conditional_mean(seed):
    rng = np.random.default_rng(seed)
    base = random_rules(rng, 5, 2, 3)
    base.arrays.W[1:4] = rng.normal(size=(3, 2, 6))
    z = with_missing(rng, rng.normal(size=5), 0.4)
    (psi,), _ = base.memberships(z[None])
    filled = [naive.fill_rotated(z, slot, base) for slot in (1, 2, 3)]
    expected = sum(psi[a] * base.arrays.W[a + 1] @ filled[a] for a in range(3))
    np.testing.assert_allclose(base.outputs(z[None])[0], expected, rtol=1e-8, atol=1e-9)


@settings(max_examples=examples(25), deadline=None)
@given(SEEDS, st.integers(18, 60), st.integers(1, 20), st.booleans(), st.sampled_from([0.01, 1.0, 30.0]))
def test_abandoning_hopeless_rules_changes_neither_memberships_nor_winner(seed, p, K, product, temperature):
    rng = np.random.default_rng(seed)
    base = random_rules(rng, p, K, 6, product, temperature=temperature)
    base.arrays.c[1:7] *= rng.choice([0.1, 1.0, 5.0], size=(6, 1))
    labels = with_missing(rng, rng.normal(size=K), 0.2)
    s = np.append(rng.normal(size=p), labels) if product else rng.normal(size=p)
    D, J = kernel_distances(s, base, p)
    expected_D, expected_J = naive.joint_distances(s, p, base)
    assert np.argmin(D) == np.argmin(expected_D)
    assert np.argmin(J) == np.argmin(expected_J)
    np.testing.assert_allclose(J.min(), expected_J.min(), rtol=1e-8)
    (psi,), _ = base.memberships(s[None, :p])
    np.testing.assert_allclose(psi, memberships(expected_D, base.settings.tau, 0.0), atol=1e-12, rtol=1e-7)


def test_some_rules_are_abandoned():
    rng = np.random.default_rng(1)
    base = random_rules(rng, 40, 3, 6)
    base.arrays.c[2:7] += 20.0
    D, _ = kernel_distances(rng.normal(size=43), base, 40)
    assert np.isinf(D[1:]).all()
    assert np.isfinite(D[0])


def test_distances_of_a_learned_rule_base():
    base = paper_learned(2)
    Z, Y = make_stream(7, 30)
    assert base.n_rules > 1
    for z, y in zip(Z, Y, strict=True):
        s = np.append(z, y)
        D, J = kernel_distances(s, base, 4)
        expected_D, expected_J = naive.joint_distances(s, 4, base)
        near = np.isfinite(D)
        np.testing.assert_allclose(D[near], expected_D[near], rtol=1e-8)
        assert np.argmin(J) == np.argmin(expected_J)


@settings(max_examples=examples(40), deadline=None)
@given(hnp.arrays(np.float64, 4, elements=NUMBERS | st.just(np.nan)), hnp.arrays(np.float64, 4, elements=NUMBERS))
def test_fill_regressor(z, centre):
    r = np.full(5, np.nan)
    fill_regressor(z, centre, r)
    np.testing.assert_array_equal(r, naive.fill_regressor(z, centre))
