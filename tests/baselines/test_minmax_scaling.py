"""Features scaled by the initial batch."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from evolabel.baselines.scaling import MAX_SCALED, MinMaxScaling

values = st.floats(-1e6, 1e6, width=32)
tables = st.integers(1, 4).flatmap(
    lambda p: arrays(np.float64, st.tuples(st.integers(1, 8), st.just(p)), elements=values | st.just(np.nan))
)


@given(tables)
def test_the_initial_batch_fills_the_unit_interval(X):
    scaling = MinMaxScaling.of(X)
    for j, column in enumerate(X.T):
        seen = column[~np.isnan(column)]
        z = scaling.transform(X)[:, j]
        np.testing.assert_array_equal(np.isnan(z), np.isnan(column))
        if len(seen) and np.ptp(seen) > 0.0:
            np.testing.assert_allclose([np.nanmin(z), np.nanmax(z)], [0.0, 1.0], atol=1e-12)
        elif len(seen):
            np.testing.assert_array_equal(z[~np.isnan(z)], 0.0)


@given(tables)
def test_the_mean_stands_in_for_what_is_missing(X):
    scaling = MinMaxScaling.of(X)
    for j, (full, z) in enumerate(zip(scaling.complete(X).T, scaling.transform(X).T, strict=True)):
        missing = np.isnan(z)
        expected = z[~missing].mean() if (~missing).any() else 0.0
        np.testing.assert_allclose(full[missing], expected, atol=1e-12)
        np.testing.assert_array_equal(full[~missing], z[~missing])
        assert np.isclose(scaling.mean[j], expected)


def test_later_values_may_leave_the_interval_but_stay_finite():
    scaling = MinMaxScaling.of(np.array([[0.0], [10.0]]))
    np.testing.assert_array_equal(scaling.transform(np.array([[-20.0], [30.0], [1e99]])), [[-2.0], [3.0], [MAX_SCALED]])


def test_a_spread_too_narrow_to_divide_by_is_none():
    scaling = MinMaxScaling.of(np.array([[0.0], [1e-310]]))
    np.testing.assert_array_equal(scaling.transform(np.array([[0.0], [2.0]])), [[0.0], [2.0]])
