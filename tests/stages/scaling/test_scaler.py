"""Scaling: monotone, invertible between the outer knots, at peace with ties, gaps and constants."""

import numpy as np
import pytest
from choices import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from evolabel.stages.scaling.stage import fit_scaler

KINDS = ("quantile", "standard", "minmax", "none")

NUMBERS = st.floats(-1e6, 1e6).filter(lambda x: x == 0.0 or abs(x) > 1e-100)
COLUMNS = hnp.arrays(np.float64, st.tuples(st.integers(2, 40), st.just(1)), elements=NUMBERS)
TIED = hnp.arrays(np.float64, st.tuples(st.integers(2, 40), st.just(1)), elements=st.sampled_from([0.0, 1.0, 5.0]))


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=examples(40), deadline=None)
@given(batch=COLUMNS | TIED, X=COLUMNS)
def test_monotone_and_within_limits(kind, batch, X):
    scaler = fit_scaler(batch, kind, 8)
    x = np.sort(np.vstack([batch, X]), axis=0)
    z = scaler.transform(x)[:, 0]
    assert (np.diff(z) >= -1e-9 * np.maximum(1.0, np.abs(z[1:]))).all()
    assert z.min() >= scaler.low
    assert z.max() <= scaler.high


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=examples(40), deadline=None)
@given(batch=hnp.arrays(np.float64, (30, 1), elements=st.integers(-1000, 1000)), at=st.floats(0.0, 1.0))
def test_inverse_undoes_transform_between_the_outer_knots(kind, batch, at):
    scaler = fit_scaler(batch, kind, 8)
    used = int(scaler.used[0])
    knots = scaler.x[0, : max(used, 1)]
    x = np.array([[knots[0] + at * (knots[-1] - knots[0])]])
    np.testing.assert_allclose(scaler.inverse(scaler.transform(x)), x, rtol=1e-9, atol=1e-8)
    if used:
        np.testing.assert_allclose(scaler.transform(knots[:, None])[:, 0], scaler.z[0, :used], rtol=1e-9, atol=1e-9)


def test_beyond_the_knots_the_inverse_goes_on_until_the_cut():
    scaler = fit_scaler(np.arange(100.0)[:, None], "quantile", 16)
    x = np.array([[-5.0], [104.0]])
    np.testing.assert_allclose(scaler.inverse(scaler.transform(x)), x)
    assert scaler.transform(np.array([[1e9], [-1e9]]))[:, 0].tolist() == [3.0, -3.0]


def test_quantile_scores_are_normal_scores():
    X = np.exp(np.random.default_rng(0).normal(size=(4000, 1)))
    Z = fit_scaler(X, "quantile", 16).transform(X)
    assert abs(Z.mean()) < 0.02
    assert abs(Z.std() - 1.0) < 0.05


def test_tied_values_share_one_score_and_keep_their_order():
    column = np.repeat([0.0, 1.0, 2.0, 7.0], [60, 20, 15, 5])
    scaler = fit_scaler(column[:, None], "quantile", 16)
    assert scaler.used[0] < 16
    z = scaler.transform(np.array([[0.0], [1.0], [2.0], [7.0]]))[:, 0]
    assert (np.diff(z) > 0.0).all()
    assert abs(scaler.transform(column[:, None]).mean()) < 0.3


def test_a_value_shared_by_nearly_all_falls_back_to_standard_scores():
    column = np.append(np.zeros(99), 10.0)
    scaler = fit_scaler(column[:, None], "quantile", 16)
    z = scaler.transform(np.array([[0.0], [10.0]]))[:, 0]
    assert z[0] == pytest.approx(-column.mean() / column.std())
    assert z[1] == 3.0


@pytest.mark.parametrize("kind", KINDS)
def test_missing_values_stay_missing_and_are_left_out_of_the_fit(kind):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(50, 2))
    gappy = np.vstack([X, np.full((20, 2), np.nan)])
    one, two = fit_scaler(X, kind, 16), fit_scaler(gappy, kind, 16)
    np.testing.assert_array_equal(one.transform(X), two.transform(X))
    np.testing.assert_array_equal(one.prior, two.prior)
    row = two.transform(np.array([[np.nan, 0.5]]))
    assert np.isnan(row[0, 0])
    assert np.isfinite(row[0, 1])


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "none"])
@pytest.mark.parametrize("column", [np.full(30, 0.1), np.full(30, 1e9 / 3), np.full(30, np.nan), np.zeros(1)])
def test_constant_columns_score_zero_and_remember_their_value(kind, column):
    scaler = fit_scaler(column[:, None], kind, 16)
    np.testing.assert_array_equal(scaler.transform(np.array([[0.1], [-7.0], [np.nan]])), [[0.0], [0.0], [np.nan]])
    value = np.nan_to_num(column[0])
    np.testing.assert_array_equal(scaler.inverse(np.array([[0.0], [2.0]])), [[value], [value]])


@pytest.mark.parametrize("kind", ["quantile", "standard"])
def test_a_spread_too_small_to_square_counts_as_constant(kind):
    column = np.append(np.zeros(40), 1e-229)
    scaler = fit_scaler(column[:, None], kind, 16)
    np.testing.assert_array_equal(scaler.transform(column[:, None]), np.zeros((41, 1)))


def test_without_scaling_values_stay_and_constants_get_a_prior_of_one():
    X = np.column_stack([np.arange(10.0), np.full(10, 4.0)])
    scaler = fit_scaler(X, "none", 16)
    np.testing.assert_array_equal(scaler.transform(X * 1e5), X * 1e5)
    np.testing.assert_allclose(scaler.prior, [X[:, 0].var(), 1.0])


def test_standard_and_minmax_are_what_they_are_called():
    X = np.random.default_rng(2).normal(5.0, 3.0, size=(200, 1))
    standard = fit_scaler(X, "standard", 16).transform(X)
    np.testing.assert_allclose(standard, ((X - X.mean()) / X.std()).clip(-4.0, 4.0), rtol=1e-9, atol=1e-12)
    minmax = fit_scaler(X, "minmax", 16).transform(X)
    np.testing.assert_allclose(minmax, (X - X.min()) / np.ptp(X), rtol=1e-9, atol=1e-12)
