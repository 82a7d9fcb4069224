"""Sorting without allocation, against numpy."""

import numpy as np
from callable_kernels import CallableKernels
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from evolabel.engine import values as sorting_module

sorting = CallableKernels(sorting_module)
VALUES = st.one_of(
    hnp.arrays(np.float64, st.integers(0, 80), elements=st.integers(-3, 3).map(float)),
    hnp.arrays(np.float64, st.integers(0, 80), elements=st.floats(-1e300, 1e300)),
)


@given(VALUES)
def test_sorting_is_that_of_numpy_and_keeps_the_order_of_equal_values(values):
    order = np.full((2, max(1, len(values))), -1)
    sorting.sort_values(len(values), values, order)
    np.testing.assert_array_equal(order[0, : len(values)], np.argsort(values, kind="stable"))
