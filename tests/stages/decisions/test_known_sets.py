"""Decisions on whole label sets, against the same written down naively."""

import numpy as np
import pytest
from choices import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from naive.known_sets import NaiveSets

from evolabel.stages.decisions.loops import FIRST_SHARE, learn_sets

NONE, NO_TABLE = np.zeros(0), np.zeros((0, 0))


def rows_of(seed, n=80, K=4):
    """Labels that come together, and outputs that do not show it."""
    rng = np.random.default_rng(seed)
    both = rng.random((n, 1)) < 0.4
    Y = np.where(rng.random((n, K)) < 0.85, both, ~both).astype(float)
    F = np.clip(0.5 + 0.5 * (Y - 0.5) + rng.normal(0.0, 0.4, (n, K)), -0.2, 1.2)
    P = 1.0 / (1.0 + np.exp(-4.0 * (F - 0.5)))
    Y[rng.random((n, 1))[:, 0] < 0.1, 0] = np.nan
    return F, P, Y, rng


@settings(deadline=None, max_examples=examples(30))
@given(st.integers(0, 10_000), st.booleans(), st.sampled_from([2, 4, 16]), st.sampled_from([0.5, 0.3]))
def test_rows_are_decided_and_learned_as_the_naive_twin_does(seed, weighted, most, threshold):
    F, P, Y, rng = rows_of(seed)
    n, K = Y.shape
    weights, confidences = (rng.choice([0.0, 0.5, 1.0, 3.0, 20.0], n), rng.uniform(0.5, 1.0, (n, K)).round(1))
    sets, counts, on, outcomes = np.zeros((most, K), np.bool_), np.zeros(most), np.full(K, FIRST_SHARE), np.eye(3)[0]
    D, naive = np.full(Y.shape, np.nan), NaiveSets(K, most)
    given_weights = (weights, confidences) if weighted else (NONE, NO_TABLE)
    learn_sets(F, P, Y, *given_weights, threshold, sets, counts, on, outcomes, np.empty(K), D)
    for i in range(n):
        np.testing.assert_array_equal(naive.decide(F[i], P[i], threshold), D[i])
        naive.learn(F[i], P[i], Y[i], weights[i] * confidences[i].min() if weighted else 1.0, threshold)
    used = len(naive.counts)
    np.testing.assert_array_equal(sets[:used], list(naive.counts))
    np.testing.assert_allclose(counts, np.pad(list(naive.counts.values()), (0, most - used)))
    np.testing.assert_allclose(on, naive.on)
    np.testing.assert_allclose(outcomes, [naive.rows, naive.won, naive.apart], atol=1e-12)
    after, state = np.empty(Y.shape), (sets, counts, on, outcomes)
    before = [array.copy() for array in state]
    learn_sets(F, P, F, np.zeros(n), NO_TABLE, threshold, *state, np.empty(K), after)
    for array, former in zip(state, before, strict=True):
        np.testing.assert_array_equal(array, former)
    np.testing.assert_array_equal(after, [naive.decide(f, p, threshold) for f, p in zip(F, P, strict=True)])


def test_the_rarest_set_makes_room_for_a_new_one():
    Y = np.array([[0.0, 0.0], [0.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
    F, P = np.zeros(Y.shape), np.full(Y.shape, 0.5)
    sets, counts, on, outcomes = np.zeros((2, 2), np.bool_), np.zeros(2), np.full(2, FIRST_SHARE), np.eye(3)[0]
    learn_sets(F, P, Y, NONE, NO_TABLE, 0.5, sets, counts, on, outcomes, np.empty(2), NO_TABLE)
    assert sets.tolist() == [[False, False], [True, True]]
    assert counts.tolist() == [2.0, 1.0]
    assert on.tolist() == [1.5, 2.5]


@pytest.mark.parametrize("output", [np.nan, np.inf])
def test_outputs_that_are_not_finite_do_not_stop_it(output):
    F, P, Y, _ = rows_of(0)
    F[3] = output
    P[3] = np.nan
    sets, counts, on, outcomes = np.zeros((8, 4), np.bool_), np.zeros(8), np.full(4, FIRST_SHARE), np.eye(3)[0]
    D = np.empty(Y.shape)
    learn_sets(F, P, Y, NONE, NO_TABLE, 0.5, sets, counts, on, outcomes, np.empty(4), D)
    assert D[3].tolist() == (F[3] >= 0.5).tolist()
    assert np.isfinite(outcomes).all()
