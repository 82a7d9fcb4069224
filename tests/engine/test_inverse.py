"""The inverse of positive definite matrices against numpy's."""

import numpy as np
import pytest
from callable_kernels import callable_kernel
from hypothesis import given
from hypothesis import strategies as st

from evolabel.engine.symmetric import factor, positive_inverse
from evolabel.errors import DataError
from evolabel.stages.rules.inverses import ridge_inverse

factor = callable_kernel(factor)


def positive_definite(q, seed, spread):
    rng = np.random.default_rng(seed)
    Q, _ = np.linalg.qr(rng.normal(size=(q, q)))
    return (Q * np.geomspace(1.0, spread, q)) @ Q.T


@given(st.integers(1, 40), st.integers(0, 10**6), st.sampled_from([1.0, 1e3, 1e6]))
def test_inverse_and_factor_against_numpy(q, seed, spread):
    A = positive_definite(q, seed, spread)
    L, V, P = np.empty((q, q)), np.empty((q, q)), np.empty((q, q))
    lower = np.tril(A) + np.triu(np.full((q, q), np.nan), 1)  # nothing above the diagonal is read
    assert positive_inverse(lower, L, V, np.empty(q), P)
    expected = np.linalg.inv((A + A.T) / 2.0)
    np.testing.assert_allclose(np.tril(P), np.tril(expected), atol=1e-14 * spread * q, rtol=1e-9)
    np.testing.assert_allclose(np.tril(L) @ np.tril(L).T, A, atol=1e-13 * spread * q)


@given(st.integers(1, 12), st.integers(0, 10**6), st.sampled_from([0.0, -1.0, np.nan, np.inf]))
def test_other_matrices_are_refused_and_nothing_is_written(q, seed, pivot):
    A = positive_definite(q, seed, 10.0)
    place = seed % q
    A[place, :] = A[:, place] = 0.0
    A[place, place] = pivot
    P = np.full((q, q), 7.0)
    assert not factor(A, np.empty((q, q)), np.empty(q))
    assert not positive_inverse(A, np.empty((q, q)), np.empty((q, q)), np.empty(q), P)
    assert (P == 7.0).all()


def test_an_error_says_what_to_do():
    H = np.zeros((3, 3))
    H[0, 0] = np.nan
    with pytest.raises(DataError, match="use sample weights of similar size, or a larger ridge"):
        ridge_inverse(H, np.ones(3))
