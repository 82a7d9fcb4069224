"""Recursive least squares is ridge regression, row by row."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evolabel.baselines import GlobalRLS
from evolabel.baselines.global_rls import MAX_VARIANCE_GROWTH
from evolabel.errors import ParameterError


def streams(seed, rows, features, labels):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(rows, features)), (rng.random((rows, labels)) < 0.4).astype(float)


def ridge_regression(X, Y, initial, ridge, forgetting):
    """The batch solution: the past counts less by a power of the forgetting factor, and so does the ridge."""
    low, high = X[:initial].min(axis=0), X[:initial].max(axis=0)
    R = np.column_stack([(X - low) / (high - low), np.ones(len(X))])
    weights = forgetting ** np.arange(len(X) - 1, -1, -1.0)
    H = (R.T * weights) @ R + ridge * forgetting ** len(X) * np.eye(R.shape[1])
    return R @ np.linalg.solve(H, (R.T * weights) @ Y)


@given(
    seed=st.integers(0, 1000),
    features=st.integers(1, 5),
    labels=st.integers(1, 3),
    ridge=st.floats(0.1, 10.0),
    forgetting=st.sampled_from([1.0, 0.99, 0.9]),
)
def test_equals_the_ridge_regression_of_all_rows(seed, features, labels, ridge, forgetting):
    X, Y = streams(seed, 40, features, labels)
    learner = GlobalRLS(ridge=ridge, forgetting=forgetting).fit(X[:15], Y[:15]).partial_fit(X[15:], Y[15:])
    expected = ridge_regression(X, Y, 15, ridge, forgetting)
    np.testing.assert_allclose(learner.decision_function(X), expected, rtol=1e-7, atol=1e-8)


@given(seed=st.integers(0, 1000), forgetting=st.sampled_from([1.0, 0.95]))
def test_annotated_labels_take_their_full_step_and_the_others_none(seed, forgetting):
    X, Y = streams(seed, 30, 3, 3)
    full, partly = (GlobalRLS(forgetting=forgetting).fit(X[:20], Y[:20]) for _ in range(2))
    before = partly.decision_function(X)
    row = Y[[20]].copy()
    row[0, 1] = np.nan
    after_full = full.partial_fit(X[[20]], Y[[20]]).decision_function(X)
    after = partly.partial_fit(X[[20]], row).decision_function(X)
    np.testing.assert_allclose(after[:, [0, 2]], after_full[:, [0, 2]], rtol=1e-12, atol=1e-12)
    np.testing.assert_array_equal(after[:, 1], before[:, 1])


def test_certainty_grows_by_the_share_of_labels_annotated():
    X, Y = streams(0, 30, 3, 2)
    learner = GlobalRLS().fit(X[:20], Y[:20])
    information = np.linalg.inv(learner._P)
    r = learner._regressors(X[[20]])
    learner.partial_fit(X[[20]], [[1.0, np.nan]])
    np.testing.assert_allclose(np.linalg.inv(learner._P), information + 0.5 * r.T @ r, rtol=1e-9)


def test_a_row_without_annotations_changes_nothing():
    X, Y = streams(0, 30, 3, 2)
    learner = GlobalRLS(forgetting=0.9).fit(X[:20], Y[:20])
    before = learner._P.copy(), learner._W.copy()
    learner.partial_fit(X[20:], np.full((10, 2), np.nan))
    np.testing.assert_array_equal(learner._P, before[0])
    np.testing.assert_array_equal(learner._W, before[1])


def test_a_new_label_is_learned_as_if_it_had_been_absent_so_far():
    X, Y = streams(1, 60, 3, 2)
    absent = np.column_stack([Y[:, 0], np.where(np.arange(60) < 30, 0.0, Y[:, 1])])
    grown = GlobalRLS().fit(X[:30], Y[:30, :1]).partial_fit(X[30:], absent[30:])
    known = GlobalRLS().fit(X[:30], absent[:30]).partial_fit(X[30:], absent[30:])
    np.testing.assert_allclose(grown.decision_function(X), known.decision_function(X), rtol=1e-12)


def test_directions_the_stream_never_excites_stay_bounded():
    X, Y = streams(2, 400, 2, 1)
    X[:, 1] = 0.0
    learner = GlobalRLS(forgetting=0.9, ridge=2.0).fit(X, Y)
    assert learner._P.diagonal().max() <= 1.0001 * MAX_VARIANCE_GROWTH / 2.0
    assert np.linalg.eigvalsh(learner._P).min() > 0.0
    assert np.isfinite(learner.decision_function(X)).all()


@pytest.mark.parametrize("change", [{"ridge": 0.0}, {"ridge": "1"}, {"forgetting": 0.0}, {"forgetting": 1.1}])
def test_parameters_outside_their_range_are_named(change, stream):
    with pytest.raises(ParameterError, match=next(iter(change))):
        GlobalRLS(**change).fit(*stream)
