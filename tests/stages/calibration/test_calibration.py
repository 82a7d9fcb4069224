"""Kernels of calibration against their naive twins, and against the formulae of all rows at once."""

import numpy as np
import pytest
from choices import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from naive.calibration import D0, GAINS, LEVELS, MEMORY, ClassCalibration, LabelCalibration, regressors, sigma

from evolabel.core.rows import Batch
from evolabel.stages.calibration import arrays as state
from evolabel.stages.calibration.stage import Calibration


def drawn_rows(seed, n, K, *, classes=False, wild=False):
    """Outputs that say something about their labels, labels with gaps, weights and confidences."""
    rng = np.random.default_rng(seed)
    F = rng.uniform(-0.3, 1.3, (n, K)) * (10.0 ** rng.integers(0, 6, (n, K)) if wild else 1.0)
    Y = (rng.random((n, K)) < 0.1 + 0.8 * F).astype(np.float64)
    if classes:
        Y = np.eye(K)[np.argmax(F + rng.normal(0.0, 0.3, F.shape), axis=1)]
        Y[rng.random(n) < 0.1] = np.nan
    else:
        Y[rng.random((n, K)) < 0.2] = np.nan
    return F, Y, rng.choice([0.0, 0.3, 1.0, 2.5, 50.0], n), rng.choice([0.4, 1.0], (n, K))


def compare(twin, calibration, K, coverage):
    arrays = calibration.arrays
    if calibration.exclusive:
        np.testing.assert_allclose([arrays.theta[0], arrays.A[0, 0]], [twin.a, twin.A], rtol=1e-9)
    else:
        np.testing.assert_allclose(arrays.theta, twin.theta, rtol=1e-6, atol=1e-8)
        np.testing.assert_allclose(arrays.delta, twin.delta, rtol=1e-6, atol=1e-8)
        np.testing.assert_allclose(arrays.A, twin.A, rtol=1e-8, atol=1e-10)
        np.testing.assert_allclose(arrays.D, twin.D, rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(arrays.n, [each.n for each in twin.scores], rtol=1e-10)
    np.testing.assert_allclose(arrays.alpha, [each.alpha for each in twin.scores], rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(arrays.counts, [each.counts for each in twin.scores], rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(calibration.limits(coverage), np.broadcast_to(twin.limits(coverage), K), atol=1e-9)


@settings(deadline=None, max_examples=examples(30))
@given(
    seed=st.integers(0, 10**6),
    n=st.integers(1, 60),
    K=st.integers(1, 5),
    classes=st.booleans(),
    adapts=st.booleans(),
    wild=st.booleans(),
    coverage=st.floats(0.5, 0.99),
)
def test_kernels_agree_with_their_twins(seed, n, K, classes, adapts, wild, coverage):
    F, Y, weights, sure = drawn_rows(seed, n, K, classes=classes, wild=wild)
    twin, calibration = (ClassCalibration if classes else LabelCalibration)(K), Calibration(K, exclusive=classes)
    P, limits = np.empty((n, K)), np.empty((n, K))
    batch = Batch(F, Y, weights, sure, F, probabilities=P, coverages=np.full(n, coverage), set_limits=limits)
    calibration.learn(batch, adapts=adapts)
    for i in range(n):
        np.testing.assert_allclose(P[i], twin.probabilities(F[i]), rtol=1e-6, atol=1e-12)
        np.testing.assert_allclose(limits[i], np.broadcast_to(twin.limits(coverage), K), atol=1e-9)
        twin.learn(F[i], Y[i], weights[i] * sure[i], adapts)
    compare(twin, calibration, K, coverage)


@settings(deadline=None, max_examples=examples(20))
@given(seed=st.integers(0, 10**6), classes=st.booleans())
def test_labels_that_are_not_heard_change_the_maps_only(seed, classes):
    K = 3
    F, Y, weights, sure = drawn_rows(seed, 40, K, classes=classes)
    counted = np.array([True, False, False])
    twin, calibration = (ClassCalibration if classes else LabelCalibration)(K), Calibration(K, exclusive=classes)
    with calibration.counting(counted):
        calibration.learn(Batch(F, Y, weights, sure, F))
    for i in range(len(F)):
        twin.learn(F[i], Y[i], weights[i] * sure[i], counted=counted)
    compare(twin, calibration, K, 0.9)
    calibration.learn(Batch(F, Y, weights, sure, F))  # afterwards all are counted again
    for i in range(len(F)):
        twin.learn(F[i], Y[i], weights[i] * sure[i])
    compare(twin, calibration, K, 0.9)


@settings(deadline=None, max_examples=examples(20))
@given(seed=st.integers(0, 10**6), classes=st.booleans(), wild=st.booleans())
def test_rows_one_by_one_or_together_give_the_same_bits(seed, classes, wild):
    F, Y, weights, sure = drawn_rows(seed, 30, 4, classes=classes, wild=wild)
    together, apart = Calibration(4, exclusive=classes), Calibration(4, exclusive=classes)
    together.learn(Batch(F, Y, weights, sure, F))
    for i in range(len(F)):
        row = slice(i, i + 1)
        apart.learn(Batch(F[row], Y[row], weights[row], sure[row], F[row]))
    assert all(map(np.array_equal, together.arrays, apart.arrays))


@settings(deadline=None, max_examples=examples(30))
@given(seed=st.integers(0, 10**6), wild=st.booleans())
def test_probabilities_rise_with_outputs_and_are_never_0_or_1(seed, wild):
    F, Y, weights, sure = drawn_rows(seed, 80, 3, wild=wild)
    calibration = Calibration(3)
    calibration.learn(Batch(F, Y, weights, sure, F))
    outputs = np.sort(np.concatenate([np.linspace(-1.0, 2.0, 301), [-1e300, -1e9, 1e9, 1e300]]))
    P = calibration.probabilities(np.tile(outputs[:, None], 3))
    assert (P > 0.0).all()
    assert (P < 1.0).all()
    assert (np.diff(P, axis=0) >= -1e-12).all()


@settings(deadline=None, max_examples=examples(30))
@given(seed=st.integers(0, 10**6), K=st.integers(2, 6), wild=st.booleans())
def test_the_most_likely_class_is_that_of_the_largest_output(seed, K, wild):
    F, Y, weights, sure = drawn_rows(seed, 60, K, classes=True, wild=wild)
    calibration = Calibration(K, exclusive=True)
    calibration.learn(Batch(F, Y, weights, sure, F))
    P = calibration.probabilities(F)
    assert (P > 0.0).all()
    np.testing.assert_allclose(P.sum(axis=1), 1.0, rtol=1e-12)
    assert (P.argmax(axis=1) == F.argmax(axis=1)).all()


@settings(deadline=None, max_examples=examples(30))
@given(seed=st.integers(0, 10**6), classes=st.booleans(), low=st.floats(0.5, 0.99), high=st.floats(0.5, 0.99))
def test_sets_are_never_empty_and_grow_with_the_coverage(seed, classes, low, high):
    F, Y, weights, sure = drawn_rows(seed, 80, 3, classes=classes)
    calibration = Calibration(3, exclusive=classes)
    calibration.learn(Batch(F, Y, weights, sure, F))
    P = calibration.probabilities(F)
    small, large = (calibration.sets(P, calibration.limits(level)) for level in sorted((low, high)))
    assert small.any(axis=-1).all()
    assert (large | ~small).all()


def test_fading_sums_are_those_of_all_rows_at_once():
    F, Y, *_ = drawn_rows(3, 200, 1)
    Y = np.nan_to_num(Y)
    calibration, P = Calibration(1), np.empty(F.shape)
    calibration.learn(Batch(F, Y, outputs=F, probabilities=P))
    fade = (1.0 - 1.0 / MEMORY) ** np.arange(len(F) - 1, -1, -1)
    scores = np.where(Y > 0.5, 1.0 - P, P)[:, 0]
    counts = np.bincount(np.minimum((scores * 100).astype(int), 99), fade, 100)
    np.testing.assert_allclose(calibration.arrays.counts[0], counts, rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(calibration.arrays.n[0], fade.sum(), rtol=1e-10)
    phi = np.array([regressors(f) for f in F[:, 0]])
    curvature = fade * P[:, 0] * (1.0 - P[:, 0])
    np.testing.assert_allclose(calibration.arrays.D[0], D0 + (phi * curvature[:, None]).T @ phi, rtol=1e-9)


def test_the_maps_approach_the_logistic_regression_of_all_rows():
    rng = np.random.default_rng(5)
    F = rng.uniform(0.0, 1.0, (40_000, 1))
    Y = (rng.random(F.shape) < sigma(6.0 * (F - 0.5) - 1.0)).astype(np.float64)
    calibration = Calibration(1)
    calibration.learn(Batch(F, Y, outputs=F))
    grid = np.linspace(0.05, 0.95, 19)[:, None]
    np.testing.assert_allclose(calibration.probabilities(grid), sigma(6.0 * (grid - 0.5) - 1.0), atol=0.06)


@pytest.mark.parametrize("classes", [False, True])
def test_a_row_of_weight_0_or_without_labels_changes_nothing(classes):
    F, Y, *_ = drawn_rows(1, 50, 3, classes=classes)
    calibration = Calibration(3, exclusive=classes)
    calibration.learn(Batch(F, Y, outputs=F))
    before = [array.copy() for array in calibration.arrays]
    calibration.learn(Batch(F, Y, np.zeros(50), outputs=F))
    calibration.learn(Batch(F, np.full(Y.shape, np.nan), outputs=F))
    bad = np.full(F.shape, np.nan)
    calibration.learn(Batch(bad, np.nan_to_num(Y), outputs=bad))
    assert all(map(np.array_equal, calibration.arrays, before))


def test_one_row_cannot_move_a_logit_far():
    calibration = Calibration(1)
    F, Y = np.array([[1.0]]), np.array([[0.0]])
    before = calibration.probabilities(F)
    calibration.learn(Batch(F, Y, np.array([1e12]), outputs=F))
    after = calibration.probabilities(F)
    logits = [np.log(p / (1.0 - p)) for p in (before, after)]
    assert (logits[0] - logits[1] <= 2 * 4.0 + 1e-9).all()  # the shared map and the deviation


def test_levels_and_gains_are_those_of_the_twin():
    np.testing.assert_array_equal(state.LEVELS, LEVELS)
    np.testing.assert_array_equal(state.GAINS, GAINS)
