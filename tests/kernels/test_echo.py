"""Errors that repeat, followed answer by answer, against sums over all answers."""

import copy

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evolabel.kernels.echo import CAUTION, DOUBT, MEMORY, PATIENCE, SPREAD, follow_errors, gains

WEIGHTS = [[0.5], [1.0, 0.2], [0.3, 0.9, 0.6, 1.0]]


@st.composite
def answers(draw):
    """Outputs and answers of some rows; labels that nobody answered are NaN."""
    n, K = draw(st.integers(0, 12)), draw(st.integers(1, 3))
    weights = draw(st.sampled_from([None, *WEIGHTS]))
    outputs = draw(st.lists(st.floats(-0.5, 1.5), min_size=n * K, max_size=n * K))
    told = draw(st.lists(st.sampled_from([0.0, 1.0, np.nan]), min_size=n * K, max_size=n * K))
    believed = np.empty((0, 0)) if weights is None else np.resize(weights, (n, K))
    return np.array(outputs).reshape(n, K), np.array(told).reshape(n, K), believed


def nothing_known(K):
    """Sums of errors, their factors, evidence and gains of K labels."""
    return [np.zeros(K), np.zeros(K), np.zeros((5, K)), np.zeros(K)]


def slopes(evidence):
    """The gains, by whole arrays."""
    products, squares, errors, answers, agreement = evidence.sum(axis=1)
    if agreement <= 0.0 or products / np.sqrt(agreement) <= CAUTION:
        return np.zeros(evidence.shape[1])
    prior = errors / answers / SPREAD**2
    drawn = (evidence[0] + products / squares * prior) / (evidence[1] + prior)
    return np.clip((1.0 - CAUTION**2 * agreement / products**2) * drawn, 0.0, 1.0)


def mean_error(r, w, times, label, now):
    """Mean of the label's errors before a moment, each faded by its age, with errors of 0 beside them."""
    known = [i for i in range(len(times)) if times[i] < now and not np.isnan(r[i, label])]
    faded = MEMORY ** (now - times[known]) * w[known, label]
    return (faded * r[known, label]).sum() / (faded.sum() + DOUBT)


@settings(deadline=None)  # the first example compiles
@given(rows=answers(), gap=st.integers(1, 5))
def test_following_answers_gives_the_sums_over_all_of_them(rows, gap):
    f, Y, weights = rows
    n, K = Y.shape
    e, c, evidence, g = nothing_known(K)
    follow_errors(f, Y, weights, gap, False, e, c, evidence, g)
    r, times, w = Y - f, gap * np.arange(1, n + 1), weights if len(weights) else np.ones(Y.shape)
    expected = np.zeros((5, K))
    for i in range(n):
        told = [j for j in range(K) if not np.isnan(r[i, j])]
        m = {j: mean_error(r, w, times, j, times[i]) for j in told}
        q = sum(w[i, j] * r[i, j] * m[j] for j in told)
        for j in told:
            faded = w[i, j] * PATIENCE ** (times[-1] - times[i])
            expected[:, j] += faded * np.array([r[i, j] * m[j], m[j] ** 2, r[i, j] ** 2, 1.0, r[i, j] * m[j] * q])
    np.testing.assert_allclose(evidence, expected, rtol=1e-9, atol=1e-12)
    ages = MEMORY ** (gap * n - times)
    np.testing.assert_allclose(e, (ages[:, None] * w * np.nan_to_num(r)).sum(axis=0), rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(c, (ages[:, None] * w * ~np.isnan(r)).sum(axis=0), rtol=1e-9, atol=1e-12)


@settings(deadline=None)
@given(rows=answers(), cut=st.integers(0, 12))
def test_rows_may_come_in_pieces(rows, cut):
    f, Y, weights = rows
    whole, pieces = (nothing_known(Y.shape[1]) for _ in range(2))
    follow_errors(f, Y, weights, 1, False, *whole)
    follow_errors(f[:cut], Y[:cut], weights[:cut], 1, False, *pieces)
    follow_errors(f[cut:], Y[cut:], weights[cut:], 1, False, *pieces)
    for one, other in zip(whole, pieces, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12)


@settings(deadline=None)
@given(rows=answers(), before=answers())
def test_each_row_is_shifted_by_what_was_known_before_it(rows, before):
    f, Y, weights = rows
    known, past, _ = before
    K = min(Y.shape[1], past.shape[1])
    f, Y, weights = f[:, :K].copy(), Y[:, :K].copy(), weights[:, :K].copy()
    state = nothing_known(K)
    state[2] += np.array([5.0, 2.0, 1.0, 10.0, 0.5])[:, None]
    gains(state[2], state[3])
    follow_errors(known[:, :K].copy(), past[:, :K].copy(), np.empty((0, 0)), 1, False, *state)
    at_once, by_row = copy.deepcopy(state), state
    shifted = f.copy()
    follow_errors(shifted, Y, weights, 1, True, *at_once)
    for i in range(len(Y)):
        e, c, evidence, _ = by_row
        expected = f[i] + slopes(evidence) * MEMORY * e / (MEMORY * c + DOUBT)
        np.testing.assert_allclose(shifted[i], expected, rtol=1e-9, atol=1e-12)
        follow_errors(f[[i]], Y[[i]], weights[[i]] if len(weights) else weights, 1, False, *by_row)
    for one, other in zip(at_once, by_row, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-12)


def test_outputs_of_a_model_that_fails_do_no_lasting_harm():
    f, Y = np.array([[1e300, -np.inf, 0.5, np.nan]]), np.ones((1, 4))
    e, c, evidence, g = nothing_known(4)
    follow_errors(f, Y, np.empty((0, 0)), 1, False, e, c, evidence, g)
    assert np.isfinite(evidence).all()
    np.testing.assert_array_equal(e[:3], [-1.0, 2.0, 0.5])
    assert np.abs(e).max() <= 2.0


def test_labels_that_repeat_their_errors_have_the_larger_gain():
    rng = np.random.default_rng(0)
    wave = (np.sin(np.arange(300) / 10.0) > 0.0).astype(float)
    Y = np.column_stack([wave, (rng.random(300) < 0.5).astype(float)])
    e, c, evidence, g = nothing_known(2)
    follow_errors(np.full(Y.shape, 0.5), Y, np.empty((0, 0)), 1, False, e, c, evidence, g)
    np.testing.assert_allclose(g, slopes(evidence), rtol=1e-12)
    assert g[0] > 0.8
    assert g[1] < 0.4


def test_one_label_that_repeats_its_errors_by_chance_is_not_enough():
    evidence = np.array([[3.0, -8.0], [10.0, 10.0], [40.0, 40.0], [200.0, 200.0], [2.0, 2.0]])
    g = np.ones(2)
    gains(evidence, g)
    np.testing.assert_array_equal(g, 0.0)


@pytest.mark.parametrize("K", [1, 5])
def test_gains_grow_from_nothing_without_a_leap(K):
    """Evidence that is just enough is worth next to nothing, for a single label as for many."""
    evidence, g = np.tile([[0.0], [4.0], [20.0], [100.0], [0.8]], K), np.zeros(K)
    enough = CAUTION * np.sqrt(evidence[4].sum()) / K
    for more, most in ((-1e-6, 0.0), (1e-6, 1e-4)):
        evidence[0] = enough + more
        gains(evidence, g)
        assert g.max() <= most
    evidence[0] = 2.0 * enough
    gains(evidence, g)
    assert g.min() > 0.1


def test_labels_that_are_copies_of_each_other_are_no_further_evidence():
    """Counted one by one, 40 copies of a label would show by chance what they do not."""
    alarms = 0
    for seed in range(40):
        Y = np.tile((np.random.default_rng(seed).random((150, 1)) < 0.5).astype(float), 40)
        e, c, evidence, g = nothing_known(40)
        follow_errors(np.full(Y.shape, 0.5), Y, np.empty((0, 0)), 1, False, e, c, evidence, g)
        alarms += g.any()
    assert alarms <= 6
