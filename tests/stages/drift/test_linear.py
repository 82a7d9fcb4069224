"""The kernels of the linear member against their plain twin, row by row."""

import numpy as np
import pytest
from callable_kernels import CallableKernels
from choices import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from naive import members as naive

from evolabel.stages.drift.loops import members as linear_module

linear = CallableKernels(linear_module)


def learned(seed, rows=60, p=3, K=2, gaps=0.0, least_weight=1.0, scale=1.0, wild=0.0):
    """Kernel and twin have learned the same rows, a share of them `wild`; returns both states, the twin's first."""
    rng = np.random.default_rng(seed)
    twin, W = naive.NaiveLinear(p, K), np.zeros((K, p + 1))
    mean, variance, n_read = np.zeros((3, p))
    s, f = np.ones(p + 1), np.zeros(K)
    for _ in range(rows):
        x = scale * rng.normal(rng.normal(size=p), 1.0 + np.arange(p))
        x[rng.random(p) < wild] *= 1e4
        x[rng.random(p) < gaps] = np.nan
        y, confidence = (rng.random(K) < 0.4).astype(float), rng.random(K)
        unknown = rng.random(K) < gaps
        y[unknown], confidence[unknown] = np.nan, 0.0
        weight = rng.uniform(least_weight, 2.0 - least_weight)
        linear.fill_scores(x, mean, variance, s)
        linear.answer_linear(W, s, f)
        np.testing.assert_allclose(f, twin.answer(x), rtol=1e-11, atol=1e-14)
        linear.learn_linear(y, weight, confidence, s, f, W)
        linear.learn_scores(x, weight, mean, variance, n_read)
        twin.learn(x, y, weight, confidence)
    return twin, (W, mean, variance, n_read)


@settings(max_examples=examples(30))
@given(
    st.integers(0, 10_000),
    st.integers(1, 6),
    st.integers(1, 4),
    st.sampled_from([0.0, 0.3]),
    st.sampled_from([0.1, 1.0]),
    st.sampled_from([0.0, 0.1]),
)
def test_learning_is_that_of_the_twin(seed, p, K, gaps, least_weight, wild):
    twin, state = learned(seed, p=p, K=K, gaps=gaps, least_weight=least_weight, wild=wild)
    for got, expected in zip(state, (twin.W, twin.mean, twin.variance, twin.n), strict=True):
        np.testing.assert_allclose(got, expected, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("rows", [300, 2500])
def test_mean_and_variance_are_plain_ones_for_2000_rows_and_fade_beyond(rows):
    x = np.random.default_rng(rows).normal(3.0, 2.0, rows)
    mean, variance, n_read = np.zeros((3, 1))
    for v in x:
        linear.learn_scores(np.array([v]), 1.0, mean, variance, n_read)
    plain = rows <= 2000
    assert n_read[0] == min(rows, 2000.0)
    assert (mean[0] == pytest.approx(x.mean(), rel=1e-12)) == plain
    assert (variance[0] == pytest.approx(x.var(), rel=1e-12)) == plain


@pytest.mark.parametrize("wild", [1e4, -1e9, 1e300])
def test_one_wild_reading_hardly_changes_the_scores(wild):
    x = np.random.default_rng(0).normal(3.0, 2.0, 500)
    mean, variance, n_read = np.zeros((3, 1))
    for v in x:
        linear.learn_scores(np.array([v]), 1.0, mean, variance, n_read)
    linear.learn_scores(np.array([wild]), 1.0, mean, variance, n_read)
    assert mean[0] == pytest.approx(3.0, abs=0.3)
    assert 4.0 < variance[0] < 8.0


def test_scores_follow_readings_that_stay_far_away():
    rng = np.random.default_rng(0)
    mean, variance, n_read = np.zeros((3, 1))
    for v in rng.normal(0.0, 1.0, 2000):
        linear.learn_scores(np.array([v]), 1.0, mean, variance, n_read)
    for v in rng.normal(1e6, 1.0, 6000):
        linear.learn_scores(np.array([v]), 1.0, mean, variance, n_read)
    assert mean[0] == pytest.approx(1e6, rel=0.1)


def test_a_row_of_weight_two_counts_as_two_rows():
    once, twice = np.zeros((3, 1)), np.zeros((3, 1))
    for v in (1.0, 4.0, -2.5):
        linear.learn_scores(np.array([v]), 2.0, *once)
        for _ in range(2):
            linear.learn_scores(np.array([v]), 1.0, *twice)
    np.testing.assert_allclose(once, twice, rtol=1e-14)


def test_unknown_labels_keep_their_weights_and_missing_features_their_scores():
    W, s = np.arange(6.0).reshape(2, 3), np.array([0.5, -1.0, 1.0])
    before, f = W.copy(), np.full(2, 0.5)
    linear.learn_linear(np.array([np.nan, 1.0]), 1.0, np.array([0.0, 1.0]), s, f, W)
    np.testing.assert_array_equal(W[0], before[0])
    assert (W[1] != before[1]).all()
    mean, variance, n_read = np.ones((3, 2))
    linear.learn_scores(np.array([np.nan, 2.0]), 1.0, mean, variance, n_read)
    assert (mean[0], variance[0], n_read[0]) == (1.0, 1.0, 1.0)
    assert n_read[1] == 2.0


@given(st.floats(-800.0, 800.0))
def test_the_logistic_function_neither_overflows_nor_leaves_its_range(o):
    found = linear.logistic(o)
    assert found == pytest.approx(1.0 / (1.0 + np.exp(-np.float64(min(max(o, -700.0), 700.0)))), rel=1e-13, abs=1e-300)
    assert 0.0 <= found <= 1.0


@pytest.mark.parametrize(
    ("value", "mean", "variance", "expected"),
    [(9.0, 1.0, 1.0, 4.0), (-9.0, 1.0, 1.0, -4.0), (2.0, 1.0, 4.0, 0.5), (np.nan, 1.0, 4.0, 0.0), (2.0, 1.0, 0.0, 0.0),
     (1e8 + 1.0, 1e8, 0.5, 0.0)],
)  # fmt: skip
def test_scores_are_cut_and_constant_or_missing_features_score_nothing(value, mean, variance, expected):
    s = np.empty(2)
    linear.fill_scores(np.array([value]), np.array([mean]), np.array([variance]), s)
    np.testing.assert_array_equal(s, [expected, 1.0])


def test_no_row_overshoots():
    """A step of any weight moves the output towards the label, not beyond it."""
    for weight in (1.0, 100.0, 1e9):
        for score in (0.0, 1.0, 4.0):
            W, s, f = np.zeros((1, 2)), np.array([score, 1.0]), np.array([0.5])
            linear.learn_linear(np.ones(1), weight, np.ones(1), s, f, W)
            linear.answer_linear(W, s, f)
            assert 0.5 < f[0] < 1.0
