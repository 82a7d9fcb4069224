"""The exponential of numbers that are not positive."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evolabel.engine.compile import kernel
from evolabel.engine.lanes import LOWEST, exp_of_negative
from evolabel.typing import FloatArray


@kernel
def exponentials(x: FloatArray, out: FloatArray) -> None:
    """Compute exp of every number."""
    for i in range(x.shape[0]):
        out[i] = exp_of_negative(x[i])


def exponentials_of(*numbers):
    out = np.empty(len(numbers))
    exponentials(np.array(numbers, float), out)
    return out


@given(st.lists(st.floats(LOWEST, 0.0), min_size=1, max_size=9))
def test_within_two_units_in_the_last_place_of_the_standard_library(numbers):
    many = exponentials_of(*numbers)
    for number, found in zip(numbers, many, strict=True):
        expected = math.exp(number)
        assert abs(found - expected) <= 2.0 * math.ulp(expected)


@pytest.mark.compiled
@given(st.lists(st.floats(LOWEST, 0.0), min_size=1, max_size=33))
def test_one_number_and_many_have_the_same_bits(numbers):
    many = exponentials_of(*numbers)
    np.testing.assert_array_equal(many, [exponentials_of(number)[0] for number in numbers])


def test_the_ends():
    assert np.isnan(exponentials_of(np.nan))
    np.testing.assert_array_equal(exponentials_of(0.0, -0.0, LOWEST - 1.0, -1e300, -np.inf), [1.0, 1.0, 0.0, 0.0, 0.0])
