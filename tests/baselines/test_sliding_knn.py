"""Nearest neighbours against a search that keeps every row."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evolabel.baselines import SlidingKNN
from evolabel.errors import ParameterError


def brute_force(Z, Y, z, k, window):
    """Scores of z by the last `window` annotated rows."""
    annotated = ~np.isnan(Y).all(axis=1)
    Z, Y = Z[annotated][-window:], Y[annotated][-window:]
    known = ~np.isnan(Y)
    mean = np.array([y[m].mean() if m.any() else 0.0 for y, m in zip(Y.T, known.T, strict=True)])
    distance = np.linalg.norm(Z - z, axis=1)
    near = np.argsort(distance)[:k]
    scores = mean.copy()
    for label in range(Y.shape[1]):
        voters = [i for i in near if known[i, label]]
        if voters:
            scores[label] = np.average(Y[voters, label], weights=1.0 / (distance[voters] + 1e-6))
    return scores + 1e-6 * mean


def scaled(X, initial):
    low, high = np.nanmin(X[:initial], axis=0), np.nanmax(X[:initial], axis=0)
    Z = (X - low) / (high - low)
    return np.where(np.isnan(Z), np.nanmean(Z[:initial], axis=0), Z)


@given(
    seed=st.integers(0, 1000),
    k=st.integers(1, 12),
    window=st.integers(1, 40),
    unannotated=st.sampled_from([0.0, 0.3, 0.8]),
)
def test_equals_a_brute_force_search(seed, k, window, unannotated):
    rng = np.random.default_rng(seed)
    X, Y = rng.normal(size=(45, 3)), (rng.random((45, 2)) < 0.4).astype(float)
    X[rng.random(X.shape) < 0.1] = np.nan
    X[np.isnan(X).all(axis=1)] = 0.5
    Y[rng.random(Y.shape) < unannotated] = np.nan
    Y[0] = 1.0
    scores = SlidingKNN(k=k, window=window).fit(X[:15], Y[:15]).test_then_train(X[15:], Y[15:])
    Z = scaled(X, 15)
    expected = [brute_force(Z[:i], Y[:i], Z[i], k, window) for i in range(15, 45)]
    np.testing.assert_allclose(scores, expected, rtol=1e-9, atol=1e-12)


def test_a_twin_decides_alone():
    X, Y = np.array([[0.0], [0.5], [1.0]]), np.array([[0.0], [1.0], [0.0]])
    scores = SlidingKNN(k=3).fit(X, Y).decision_function(X)
    np.testing.assert_allclose(scores, Y, atol=1e-5)


def test_equally_near_labels_are_ranked_by_how_common_they_are():
    X = np.array([[0.0], [0.1], [1.0], [1.1]])
    Y = np.array([[0.0, 0.0], [0.0, 0.0], [0.0, 1.0], [0.0, 1.0]])
    scores = SlidingKNN(k=2).fit(X, Y).decision_function([[0.05]])
    assert 0.0 == scores[0, 0] < scores[0, 1] < 1e-5


@pytest.mark.parametrize("change", [{"k": 0}, {"k": 1.5}, {"window": 0}, {"window": "all"}])
def test_parameters_outside_their_range_are_named(change, stream):
    with pytest.raises(ParameterError, match=next(iter(change))):
        SlidingKNN(**change).fit(*stream)
