"""Label moments sample by sample equal those of the batch; coupling matrices are safe to minimise with."""

import numpy as np
import pytest
from callable_kernels import CallableKernels
from choices import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from naive.paper import coupling as naive
from paper_rule_bases import paper_base, paper_learned
from small_rule_bases import assert_close

from evolabel.core.rows import Batch
from evolabel.paper.rules.kind import objective
from evolabel.paper.rules.loops import coupling as coupling_module
from evolabel.paper.rules.loops.coupling import NONE, PAPER, RIDGE, SHIFTED, SIGNED_LAPLACIAN
from evolabel.stages.rules.loops import label_moments as moments_module
from evolabel.stages.rules.loops.label_moments import SHRINK

coupling, moments = CallableKernels(coupling_module), CallableKernels(moments_module)

SEEDS = st.integers(0, 10_000)
CONVEX = {"none": NONE, "ridge": RIDGE, "shifted": SHIFTED, "signed_laplacian": SIGNED_LAPLACIAN}


def label_rows(rng, rows, K, constant=0.2):
    """Correlated 0/1 labels, some of them constant."""
    Y = (rng.normal(size=(rows, 2)) @ rng.normal(size=(2, K)) + 0.3 * rng.normal(size=(rows, K)) > 0.0).astype(float)
    Y[:, rng.random(K) < constant] = rng.integers(2)
    return Y


def moments_of(Y, psi):
    """Mass, means and co-moments sample by sample."""
    K = Y.shape[1]
    mass, ybar, Q = np.zeros(2), np.zeros(K), np.zeros((K, K))
    for y, weight in zip(Y, psi, strict=True):
        moments.add_label_moments(y, weight, mass, ybar, Q)
    return mass, ybar, Q


def matrix_of(kind, Q, mass):
    B = np.full(Q.shape, np.nan)
    coupling.coupling(Q, mass, kind, B)
    return B


@settings(max_examples=examples(40), deadline=None)
@given(SEEDS, st.integers(1, 6), st.sampled_from([0.0, 0.4]))
def test_one_sample_more(seed, K, missing):
    rng = np.random.default_rng(seed)
    Y, psi = label_rows(rng, 6, K), rng.uniform(0.01, 1.0, size=6)
    Y[rng.random(Y.shape) < missing] = np.nan
    known = naive.LabelMoments(np.zeros(2), np.zeros(K), np.zeros((K, K)))
    mass, ybar, Q = np.zeros(2), np.zeros(K), np.zeros((K, K))
    for y, weight in zip(Y, psi, strict=True):
        known = naive.add_label_moments(y, weight, known)
        moments.add_label_moments(y, weight, mass, ybar, Q)
        np.testing.assert_allclose(mass, known.mass, rtol=1e-12)
        np.testing.assert_allclose(ybar, known.ybar, rtol=1e-11, atol=1e-13)
        np.testing.assert_allclose(Q, known.Q, rtol=1e-10, atol=1e-13)


@settings(max_examples=examples(30), deadline=None)
@given(SEEDS, st.integers(2, 6), st.integers(2, 40))
def test_incremental_moments_and_correlations_are_those_of_the_batch(seed, K, rows):
    rng = np.random.default_rng(seed)
    Y, psi = label_rows(rng, rows, K), rng.uniform(0.01, 1.0, size=rows)
    mass, ybar, Q = moments_of(Y, psi)
    mean = np.average(Y, axis=0, weights=psi)
    covariance = np.atleast_2d(np.cov(Y, rowvar=False, aweights=psi, ddof=0))
    np.testing.assert_allclose(mass, [psi.sum(), (psi**2).sum()], rtol=1e-12)
    np.testing.assert_allclose(ybar, mean, rtol=1e-11, atol=1e-13)
    np.testing.assert_allclose(Q / mass[0], covariance, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(np.diag(Q) / mass[0], np.average((Y - mean) ** 2, axis=0, weights=psi), atol=1e-12)
    np.testing.assert_allclose(Q, Q.T, rtol=1e-12, atol=1e-15)
    C = np.empty((K, K))
    moments.correlation(Q, mass, False, C)
    varies = np.ptp(Y, axis=0) > 0.0
    spread = np.where(varies, np.sqrt(np.diag(covariance)), 1.0)
    expected = np.where(np.outer(varies, varies), covariance / np.outer(spread, spread), 0.0)
    np.fill_diagonal(expected, 1.0)
    np.testing.assert_allclose(C, expected, rtol=1e-8, atol=1e-9)


@settings(max_examples=examples(40), deadline=None)
@given(SEEDS, st.integers(1, 6), st.integers(0, 20), st.booleans())
def test_correlation(seed, K, rows, shrink):
    rng = np.random.default_rng(seed)
    mass, _, Q = moments_of(label_rows(rng, rows, K), rng.uniform(0.01, 1.0, size=rows))
    C = np.full((K, K), np.nan)
    moments.correlation(Q, mass, shrink, C)
    np.testing.assert_allclose(C, naive.correlation(Q, mass, shrink), rtol=1e-10, atol=1e-12)


def test_labels_that_never_vary_correlate_with_nothing():
    Y = np.array([[0.0, 1.0, 0.0, 1.0], [0.0, 1.0, 1.0, 0.0], [0.0, 1.0, 0.0, 1.0], [0.0, 1.0, 1.0, 0.0]])
    mass, _, Q = moments_of(Y, np.full(4, 0.3))
    C = np.empty((4, 4))
    moments.correlation(Q, mass, False, C)
    expected = np.eye(4)
    expected[2, 3] = expected[3, 2] = -1.0
    np.testing.assert_allclose(C, expected, atol=1e-12)
    moments.correlation(Q, mass, True, C)
    assert C[2, 3] == pytest.approx(-4.0 / (4.0 + SHRINK))


@pytest.mark.parametrize("kind", [NONE, RIDGE, SHIFTED, SIGNED_LAPLACIAN, PAPER])
@settings(max_examples=examples(30), deadline=None)
@given(SEEDS, st.integers(1, 7), st.integers(0, 25))
def test_coupling(kind, seed, K, rows):
    rng = np.random.default_rng(seed)
    mass, _, Q = moments_of(label_rows(rng, rows, K), rng.uniform(0.01, 1.0, size=rows))
    np.testing.assert_allclose(matrix_of(kind, Q, mass), naive.coupling(Q, mass, kind), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("name", CONVEX)
@settings(max_examples=examples(40), deadline=None)
@given(SEEDS, st.integers(1, 12), st.integers(0, 30))
def test_every_coupling_is_positive_semidefinite_with_norm_at_most_one(name, seed, K, rows):
    rng = np.random.default_rng(seed)
    mass, _, Q = moments_of(label_rows(rng, rows, K), rng.uniform(0.01, 1.0, size=rows))
    B = matrix_of(CONVEX[name], Q, mass)
    np.testing.assert_allclose(B, B.T, atol=1e-14)
    eigenvalues = np.linalg.eigvalsh(B)
    assert eigenvalues.min() >= -1e-12
    assert eigenvalues.max() <= 1.0 + 1e-12


@settings(max_examples=examples(30), deadline=None)
@given(SEEDS, st.integers(2, 12), st.integers(3, 30))
def test_the_printed_coupling_is_indefinite(seed, K, rows):
    rng = np.random.default_rng(seed)
    mass, _, Q = moments_of(label_rows(rng, rows, K, constant=0.0), rng.uniform(0.01, 1.0, size=rows))
    eigenvalues = np.linalg.eigvalsh(matrix_of(PAPER, Q, mass))
    assert eigenvalues.sum() == pytest.approx(0.0, abs=1e-9)
    if np.abs(eigenvalues).max() > 1e-9:
        assert eigenvalues.min() < 0.0 < eigenvalues.max()


def test_the_printed_coupling_of_two_opposite_labels():
    Y = np.array([[0.0, 1.0], [1.0, 0.0]] * 4)
    mass, _, Q = moments_of(Y, np.ones(8))
    np.testing.assert_allclose(np.linalg.eigvalsh(matrix_of(PAPER, Q, mass)), [-2.0, 2.0])


@settings(max_examples=examples(30), deadline=None)
@given(hnp.arrays(np.float64, (4, 4), elements=st.floats(-5.0, 5.0)))
def test_scale_to_unit(B):
    expected = naive.scale_to_unit(B)
    coupling.scale_to_unit(B)
    np.testing.assert_allclose(B, expected, rtol=1e-13, atol=1e-300)


@pytest.mark.parametrize("name", ["none", "ridge", "shifted", "signed_laplacian"])
def test_the_couplings_of_a_learned_rule_base_are_safe(name):
    base = paper_learned(4, K=5, coupling=name)
    for slot in range(1, base.n_rules + 1):
        eigenvalues = np.linalg.eigvalsh(objective(base, slot).B)
        assert eigenvalues.min() >= -1e-12
        assert eigenvalues.max() <= 1.0 + 1e-12


def test_label_moments_of_a_rule_alone_are_those_of_the_weighted_batch():
    """With one rule every membership is 1."""
    rng = np.random.default_rng(0)
    Z, Y, weights = rng.normal(size=(60, 4)), label_rows(rng, 60, 3), rng.exponential(size=60)
    base = paper_base(vigilance=1e6, space="input")
    base.learn(Batch(Z, Y, weights=weights))
    mean = np.average(Y, axis=0, weights=weights)
    assert base.n_rules == 1
    assert_close(base.own.ybar[1], mean, 1e-10)
    assert_close(base.own.Q[1], (Y - mean).T @ (weights[:, None] * (Y - mean)), 1e-10)
