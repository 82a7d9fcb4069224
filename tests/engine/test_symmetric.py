"""Half-stored symmetric matrices against full ones."""

import numpy as np
import pytest
from callable_kernels import CallableKernels
from choices import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from naive import symmetric as naive
from small_rule_bases import assert_close

from evolabel.engine import symmetric as symmetric_module

symmetric = CallableKernels(symmetric_module)

NUMBERS = st.floats(-10.0, 10.0, allow_subnormal=False)


def floats(*shape):
    return hnp.arrays(np.float64, shape, elements=NUMBERS)


@st.composite
def problems(draw):
    """A matrix, up to 19 rows to add (so that blocks of eight and leftovers both occur), a vector."""
    q, rows = draw(st.integers(1, 9)), draw(st.integers(0, 19))
    return draw(floats(q, q)), draw(floats(rows, q)), draw(st.integers(0, rows)), draw(floats(q))


@settings(max_examples=examples(40), deadline=None)
@given(problems())
def test_products_with_a_half_stored_matrix(problem):
    P, waiting, b, r = problem
    u = np.full(len(r), np.nan)
    symmetric.symmetric_product(P, r, u)
    assert_close(u, naive.symmetric_product(P, r), 1e-12)
    form = r @ naive.symmetric_product(P, r)
    np.testing.assert_allclose(symmetric.symmetric_form(P, r), form, rtol=1e-11, atol=1e-9)
    symmetric.pending_product(P, waiting, b, r, u)
    np.testing.assert_allclose(u, naive.pending_product(P, waiting, b, r), rtol=1e-11, atol=1e-9)


@settings(max_examples=examples(40), deadline=None)
@given(problems(), st.sampled_from([1.0, -1.0]))
def test_outer_products_change_the_lower_triangle_only(problem, sign):
    A, w, b, _ = problem
    expected = naive.add_outer_products(A, w, b, sign)
    changed = A.copy()
    symmetric.add_outer_products(changed, w, b, sign)
    np.testing.assert_allclose(changed, expected, rtol=1e-11, atol=1e-10)
    np.testing.assert_array_equal(np.triu(changed, 1), np.triu(A, 1))


@settings(max_examples=examples(40), deadline=None)
@given(problems(), NUMBERS)
def test_dot_and_add_product(problem, scale):
    A, _, _, u = problem
    assert symmetric.dot(A[0], u) == pytest.approx(naive.dot(A[0], u), rel=1e-12, abs=1e-11)
    f = np.arange(len(u), dtype=float)
    expected = naive.add_product(A, u, scale, f)
    symmetric.add_product(A, u, scale, f)
    np.testing.assert_allclose(f, expected, rtol=1e-11, atol=1e-9)


@settings(max_examples=examples(20), deadline=None)
@given(st.integers(0, 10_000), st.integers(1, 9))
def test_mirror(seed, n):
    A = np.random.default_rng(seed).normal(size=(n, n))
    expected = naive.mirror(A)
    symmetric.mirror(A)
    np.testing.assert_array_equal(A, expected)
