"""The ridge strength: exact leave-one-out without refitting."""

import numpy as np
import pytest
from scipy.signal import lfilter

from evolabel.model.start.ridge import (
    FALLBACK,
    GRID,
    MOST_STEPS,
    STRETCHES,
    _left_out,
    neighbours_agree,
    press_ridge,
    stretches_left_out,
)


def brute_force(Z, Y, ridge, parts=None):
    """Leave out each row, or part, in turn, fit the rest with an unpenalised intercept, and look at the error."""
    errors = []
    for left_out in np.array_split(np.arange(len(Z)), parts or len(Z)):
        rest = np.delete(np.arange(len(Z)), left_out)
        A = np.column_stack([Z[rest], np.ones(len(rest))])
        D = np.diag(np.append(np.full(Z.shape[1], ridge), 0.0))
        W = np.linalg.solve(A.T @ A + D, A.T @ Y[rest])
        errors.extend((np.column_stack([Z[left_out], np.ones(len(left_out))]) @ W - Y[left_out]) ** 2)
    return np.mean(errors)


def problem(noise, n=40, p=5, seed=0):
    rng = np.random.default_rng(seed)
    Z = rng.normal(size=(n, p))
    return Z, (Z[:, :2] + noise * rng.normal(size=(n, 2)) > 0.3).astype(float)


@pytest.mark.parametrize("noise", [0.01, 0.5, 3.0, 10.0])
@pytest.mark.parametrize("shape", [(40, 5), (12, 20)], ids=["tall", "wide"])
def test_press_is_leave_one_out(noise, shape):
    Z, Y = problem(noise, *shape)
    U, s, _ = np.linalg.svd(Z - Z.mean(axis=0), full_matrices=False)
    errors = [brute_force(Z, Y, ridge) for ridge in GRID]
    left_out = _left_out(U, s**2, Y - Y.mean(axis=0), GRID)
    np.testing.assert_allclose([(row**2).mean() for row in left_out], errors, rtol=1e-9)
    assert press_ridge(Z, Y) == GRID[int(np.argmin(errors))]


def test_noisier_labels_ask_for_more_ridge():
    strengths = [press_ridge(*problem(noise, n=100)) for noise in (0.01, 1.0, 5.0)]
    assert strengths[0] < strengths[1] < strengths[2]


def test_gaps_count_as_average():
    Z, Y = problem(0.5)
    Z[::7, 1], Y[::5, 0] = np.nan, np.nan
    filled_Y = Y.copy()
    filled_Y[::5, 0] = np.nanmean(Y[:, 0])
    assert press_ridge(Z, Y) == press_ridge(np.nan_to_num(Z), filled_Y)


def test_nothing_to_learn_from_falls_back():
    Z, Y = problem(0.5)
    assert press_ridge(Z[:3], Y[:3]) == FALLBACK
    assert press_ridge(Z, np.ones(Y.shape)) == FALLBACK
    assert press_ridge(np.full(Z.shape, 2.0), Y) == FALLBACK
    assert press_ridge(Z, np.full(Y.shape, np.nan)) == FALLBACK


def course_of_events(n=400, seed=0):
    """Labels that follow a wave nobody measures, besides their features; features follow it a little, too."""
    rng = np.random.default_rng(seed)
    wave = np.sin(np.arange(n) / 15.0)[:, None]
    Z = rng.normal(size=(n, 5)) + 0.5 * wave
    return Z, (Z[:, :2] + 1.5 * wave + 0.5 * rng.normal(size=(n, 2)) > 0.3).astype(float)


@pytest.mark.parametrize("shape", [(40, 5), (12, 20)], ids=["tall", "wide"])
def test_stretches_left_out_are_not_learned(shape):
    Z, Y = problem(0.5, *shape)
    errors = [brute_force(Z, Y, ridge, STRETCHES) for ridge in GRID]
    np.testing.assert_allclose(stretches_left_out(Z, Y, GRID) / Y.size, errors, rtol=1e-9)


@pytest.mark.parametrize("seed", range(5))
def test_a_course_of_events_may_ask_for_more_than_its_rows_in_disorder(seed):
    Z, Y = course_of_events(seed=seed)
    disorder = np.random.default_rng(seed).permutation(len(Z))
    alone = int(np.argmin(np.abs(GRID - press_ridge(Z[disorder], Y[disorder]))))
    errors = [brute_force(Z, Y, ridge, STRETCHES) for ridge in GRID]
    assert press_ridge(Z, Y) == GRID[alone + int(np.argmin(errors[alone : alone + 1 + MOST_STEPS]))]


def test_a_batch_sorted_by_its_labels_has_a_ridge_near_that_of_its_rows_in_disorder():
    rng = np.random.default_rng(0)
    Y = np.repeat(np.eye(4), 50, axis=0)
    Z = 2.0 * Y @ rng.normal(size=(4, 6)) + rng.normal(size=(200, 6))
    disorder = rng.permutation(200)
    assert press_ridge(Z, Y) <= press_ridge(Z[disorder], Y[disorder]) * 10 ** (0.25 * MOST_STEPS) * 1.001


def test_neighbours_agree_only_beyond_chance():
    rng = np.random.default_rng(0)
    noise = rng.normal(size=(400, 3))
    assert not neighbours_agree(noise)
    assert not neighbours_agree(noise * np.repeat([1.0, 8.0], 200)[:, None])  # louder later, but no likeness
    assert neighbours_agree(noise + np.sin(np.arange(400) / 10.0)[:, None])
    assert not neighbours_agree(noise + np.where(np.arange(400) % 2, 1.0, -1.0)[:, None])  # they contradict each other


@pytest.mark.parametrize("seed", [0, 2, 18])
def test_labels_that_nobody_gave_agree_with_nobody(seed):
    """Features move slowly, errors are independent. A label that was filled in errs like the one before it."""
    rng = np.random.default_rng(seed)
    Z = lfilter([0.31], [1.0, -0.95], rng.normal(size=(600, 5)), axis=0)
    Y = (rng.random((600, 4)) < np.clip(0.5 + 0.25 * Z[:, :4], 0.0, 1.0)).astype(float)
    Y[np.repeat(rng.random((12, 4)) < 0.5, 50, axis=0)] = np.nan
    disorder = rng.permutation(600)
    assert press_ridge(Z, Y) == press_ridge(Z[disorder], Y[disorder])
