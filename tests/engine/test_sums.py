"""The order of every sum is the one written in the source: same bits by any way that leads to it."""

import numpy as np
import pytest
from callable_kernels import CallableKernels
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from naive import sums as naive

from evolabel.engine import symmetric as symmetric_module

symmetric = CallableKernels(symmetric_module)

NUMBERS = st.floats(-1e3, 1e3, allow_subnormal=False, width=32)


@st.composite
def matrices(draw):
    """Two matrices whose rows have the same length: blocks of four and all leftovers occur."""
    q = draw(st.integers(1, 11))
    floats = [hnp.arrays(np.float64, (draw(st.integers(1, 7)), q), elements=NUMBERS) for _ in range(2)]
    return draw(floats[0]), draw(floats[1])


def shifted(A):
    """The same numbers, 8 bytes further on in memory than numpy would place them."""
    room = np.empty(A.size + 1)
    copy = room[1:].reshape(A.shape)
    copy[...] = A
    return copy


@pytest.mark.compiled
@given(matrices())
def test_dot_adds_four_sums_side_by_side(pair):
    A, B = pair
    assert symmetric.dot(A[0], B[0]) == naive.dot(A[0], B[0])


@given(matrices())
def test_products_of_many_rows_have_the_bits_of_dot(pair):
    A, B = pair
    expected = np.array([[symmetric.dot(a, b) for b in B] for a in A])
    out = np.full(expected.shape, np.nan)
    symmetric.row_products(A, B, out)
    np.testing.assert_array_equal(out, expected)
    symmetric.row_products(shifted(A), shifted(B), out)
    np.testing.assert_array_equal(out, expected)
    f = np.zeros(len(B))
    symmetric.add_product(B, A[0], 1.0, f)
    np.testing.assert_array_equal(f, expected[0])


@given(matrices())
def test_row_products_against_numpy(pair):
    A, B = pair
    out = np.empty((len(A), len(B)))
    symmetric.row_products(A, B, out)
    np.testing.assert_allclose(out, A @ B.T, rtol=1e-12, atol=1e-6)


@given(matrices())
def test_squared_distance_and_add_rows_against_numpy(pair):
    A, B = pair
    assert symmetric.squared_distance(A[0], B[0]) == pytest.approx(((A[0] - B[0]) ** 2).sum(), rel=1e-12)
    C = np.where(np.arange(3 * len(B)).reshape(3, -1) % 3, 1.5, 0.0)
    out = np.ones((3, B.shape[1]))
    symmetric.add_rows(C, B, out)
    np.testing.assert_allclose(out, 1.0 + C @ B, rtol=1e-12, atol=1e-9)


def test_nan_is_never_optimised_away():
    a = np.ones(9)
    for place in range(9):
        b = np.ones(9)
        b[place] = np.nan
        assert np.isnan(symmetric.dot(a, b))
        assert np.isnan(symmetric.squared_distance(a, b))
