"""Errors that repeat, followed answer by answer, against sums over all answers."""

import copy

import numpy as np
import pytest
from callable_kernels import callable_kernel
from hypothesis import given, settings
from hypothesis import strategies as st
from naive import feedback as naive

from evolabel.stages.feedback.arrays import no_recent_errors
from evolabel.stages.feedback.loops import (
    ANSWERS,
    EMPTY,
    ERROR_DECAY,
    FADING,
    N_RECENT,
    REPEAT,
    SHRINK,
    all_slopes,
    follow_errors,
    mean_errors,
    shift_rows,
    shrinkage,
    shrunk_slopes,
    similarity,
)

similarity, mean_errors, shrunk_slopes, all_slopes, shrinkage = (
    callable_kernel(kernel) for kernel in (similarity, mean_errors, shrunk_slopes, all_slopes, shrinkage)
)


class State:
    """All that is remembered of K labels and p features, and room to work in."""

    def __init__(self, p, K, rates=None):
        self.answered = no_recent_errors(p, K)
        self.rates = np.full(K, np.nan) if rates is None else rates
        self.E, self.S = np.zeros((2, 5, K)), np.zeros((2, K))

    def follow(self, X, f, Y, confidence, number=1, shifted=False):
        known = *self.answered, self.rates, self.E, self.S
        scratch = np.empty(N_RECENT), *np.empty((3, Y.shape[1]))
        return follow_errors(X, number, f, Y, confidence, shifted, *known, scratch)

    def mean(self, x, number):
        m = np.empty(len(self.rates))
        mean_errors(x, number, *self.answered, np.empty(N_RECENT), m)
        return m

    def shift(self, X, numbers):
        out, logged, K = np.empty((len(X), len(self.rates))), np.empty(len(X)), len(self.rates)
        shift_rows(X, numbers, *self.answered, self.rates, self.S, np.empty(N_RECENT), np.empty(K), out, logged)
        return out, logged

    def arrays(self):
        return *self.answered, self.E, self.S


@st.composite
def answers(draw, most=12):
    """Features, outputs and answers of some rows; labels that nobody answered and missing features are NaN."""
    n, K, p = draw(st.integers(0, most)), draw(st.integers(1, 3)), draw(st.integers(0, 3))

    def table(columns, values):
        return np.array(draw(st.lists(values, min_size=n * columns, max_size=n * columns)), float).reshape(n, columns)

    X = table(p, st.one_of(st.floats(-3.0, 3.0), st.just(np.nan)))
    confidence = table(K, st.sampled_from([0.2, 0.6, 1.0]))
    rates = np.array(draw(st.lists(st.sampled_from([0.1, 0.5, 0.8, np.nan]), min_size=K, max_size=K)))
    return X, table(K, st.floats(-0.5, 1.5)), table(K, st.sampled_from([0.0, 1.0, np.nan])), confidence, rates


@settings(deadline=None)  # the first example compiles
@given(rows=answers())
def test_following_answers_gives_the_sums_over_all_of_them(rows):
    X, f, Y, u, rates = rows
    state, shifted = State(X.shape[1], Y.shape[1], rates), f.copy()
    factor = state.follow(X, shifted, Y, u, shifted=True)
    assert factor == shrinkage(state.E[REPEAT])
    out, E, S = naive.followed(X, f, Y, u, rates)
    np.testing.assert_allclose(shifted, out, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(state.E, E, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(state.S, S, rtol=1e-9, atol=1e-12)


def test_no_rows_give_the_slopes_of_the_sums():
    state, nothing = State(1, 2, np.array([0.5, np.nan])), np.empty((0, 2))
    state.E[:] = np.array([5.0, 10.0, 20.0, 100.0, 0.2])[:, None]
    expected, before = np.zeros((2, 2)), state.E.copy()
    all_slopes(state.E, state.rates, expected)
    factor = state.follow(np.empty((0, 1)), nothing, nothing, nothing)
    assert factor == shrinkage(before[REPEAT]) > 0.0
    np.testing.assert_array_equal(state.S, expected)
    np.testing.assert_array_equal(state.E, before)


def course_of_events(n=120, seed=0):
    """Features, outputs, answers that repeat their errors, and how far they are believed."""
    rng = np.random.default_rng(seed)
    wave = np.sin(np.arange(n) / 10.0)[:, None]
    Y = (wave + 0.4 * rng.normal(size=(n, 2)) > 0.0).astype(float)
    Y[rng.random(Y.shape) < 0.2] = np.nan
    return rng.normal(size=(n, 3)), rng.uniform(-0.3, 1.3, size=(n, 2)), Y, np.ones((n, 2))


@pytest.mark.parametrize("rates", [[0.5, 0.4], [np.nan, 0.4]])
def test_a_long_course_of_events_gives_the_sums_as_well(rates):
    """Longer than the memory, with both slopes at work."""
    X, f, Y, u = course_of_events()
    state, shifted = State(3, 2, np.array(rates)), f.copy()
    state.follow(X, shifted, Y, u, shifted=True)
    out, E, S = naive.followed(X, f, Y, u, np.array(rates))
    np.testing.assert_allclose(shifted, out, rtol=1e-9)
    np.testing.assert_allclose(state.E, E, rtol=1e-9)
    np.testing.assert_allclose(state.S, S, rtol=1e-9)
    assert S[REPEAT].min() > 0.2
    assert S[SHRINK, 1] > 0.2
    assert S[SHRINK, 0] == 0.0 or not np.isnan(rates[0])


@settings(deadline=None)
@given(rows=answers(), cut=st.integers(0, 12))
def test_rows_may_come_in_pieces(rows, cut):
    X, f, Y, u, rates = rows
    whole, pieces = (State(X.shape[1], Y.shape[1], rates) for _ in range(2))
    whole.follow(X, f.copy(), Y, u)
    cut = min(cut, len(Y))
    pieces.follow(X[:cut], f[:cut].copy(), Y[:cut], u[:cut])
    pieces.follow(X[cut:], f[cut:].copy(), Y[cut:], u[cut:], number=1 + cut)
    for one, other in zip(whole.arrays(), pieces.arrays(), strict=True):
        np.testing.assert_array_equal(one, other)


@settings(deadline=None)
@given(rows=answers(), before=st.integers(0, 100))
def test_shifts_are_those_that_following_makes(rows, before):
    X, f, Y, u, rates = rows
    p, K = X.shape[1], Y.shape[1]
    state = State(p, K, rates)
    past = [part[:before] for part in course_of_events()]
    state.follow(np.resize(past[0], (before, p)), *(np.resize(part, (before, K)) for part in past[1:]))
    for i in range(len(Y)):
        number = before + 1 + i
        (shift,), (logged,) = state.shift(X[[i]], np.array([number]))
        expected = (1.0 - state.S[SHRINK]) * f[i] + shift
        shifted, ages = f[[i]].copy(), number - state.answered.at
        likened = np.array([naive.similarity(X[i], z) for z in state.answered.Z])
        w = np.where(state.answered.at == EMPTY, 0.0, ERROR_DECAY**ages * likened)
        np.testing.assert_allclose(logged, w.sum(), rtol=1e-9)
        state.follow(X[[i]], shifted, Y[[i]], u[[i]], number, shifted=True)
        np.testing.assert_allclose(shifted[0], expected, rtol=1e-9, atol=1e-12)


@given(p=st.integers(0, 5), seed=st.integers(0, 100))
@settings(deadline=None)
def test_likeness_is_that_of_arrays(p, seed):
    rng = np.random.default_rng(seed)
    x, z = rng.normal(size=(2, p))
    x[rng.random(p) < 0.2] = np.nan
    assert similarity(x, z) == pytest.approx(naive.similarity(x, z), rel=1e-12)
    assert similarity(z, z) == 1.0


def test_similar_samples_tell_more():
    state = State(2, 1)
    X, Y = np.array([[0.0, 0.0], [3.0, 3.0]]), np.array([[1.0], [0.0]])
    state.follow(X, np.full((2, 1), 0.5), Y, np.ones((2, 1)))
    assert state.mean(X[0], 3) > 0.1
    assert state.mean(X[1], 3) < -0.1
    assert abs(state.mean(np.full(2, np.nan), 3)) < 0.05


@pytest.mark.parametrize("late", [1, 7, 30])
def test_an_answer_that_comes_late_is_remembered_but_no_evidence(late):
    X, f, Y, u = course_of_events(40)
    Y = np.nan_to_num(Y)
    at_once, other = State(3, 2), State(3, 2)
    at_once.follow(X, f.copy(), Y, u)
    order = [i for i in range(40) if i != 40 - late - 1] + [40 - late - 1]
    for i in order:
        before = other.E.copy()
        other.follow(X[[i]], f[[i]].copy(), Y[[i]], u[[i]], number=i + 1)
    np.testing.assert_array_equal(other.E, before)
    np.testing.assert_allclose(other.mean(X[0], 41), at_once.mean(X[0], 41), rtol=1e-9)


def test_evidence_fades_with_every_sample_between_two_answers():
    state, x, u = State(0, 1), np.empty((1, 0)), np.ones((1, 1))
    for number in (3, 13):
        state.follow(x, np.full((1, 1), 0.5), np.ones((1, 1)), u, number)
    np.testing.assert_allclose(state.E[REPEAT, ANSWERS], FADING**10 + 1.0, rtol=1e-12)


def test_errors_tell_of_samples_before_as_of_those_after():
    state = State(0, 1)
    state.follow(np.empty((1, 0)), np.full((1, 1), 0.5), np.ones((1, 1)), np.ones((1, 1)), number=10)
    np.testing.assert_array_equal(state.mean(np.empty(0), 7), state.mean(np.empty(0), 13))


def test_a_sample_older_than_all_that_is_remembered_is_forgotten():
    X, f, Y, u = course_of_events(N_RECENT + 10)
    state = State(3, 2)
    state.follow(X[10:], f[10:].copy(), Y[10:], u[10:], number=11)
    before = copy.deepcopy(state.arrays())
    state.follow(X[:1], f[:1].copy(), Y[:1], u[:1])
    for one, other in zip(before, state.arrays(), strict=True):
        np.testing.assert_array_equal(one, other)


def test_further_answers_to_a_sample_are_added_to_those_it_has():
    state, x, u = State(1, 2), np.zeros((1, 1)), np.ones((1, 2))
    state.follow(x, np.full((1, 2), 0.5), np.array([[1.0, np.nan]]), u, number=5)
    state.follow(x, np.full((1, 2), 0.5), np.array([[np.nan, 0.0]]), u, number=5)
    place = list(state.answered.at).index(5)
    np.testing.assert_array_equal(state.answered.r[place], [0.5, -0.5])
    assert (state.answered.at == EMPTY).sum() == N_RECENT - 1


def test_outputs_of_a_model_that_fails_do_no_lasting_harm():
    state = State(0, 4, np.full(4, 0.5))
    f, Y = np.array([[1e300, -np.inf, 0.5, np.nan]]), np.ones((1, 4))
    state.follow(np.empty((1, 0)), f, Y, np.ones((1, 4)))
    assert np.isfinite(state.E).all()
    np.testing.assert_array_equal(state.answered.r.max(axis=0) + state.answered.r.min(axis=0), [-1.0, 2.0, 0.5, 0.0])


def test_outputs_are_drawn_back_as_far_as_errors_are_believed_to_repeat():
    E, S, before = np.zeros((2, 5, 2)), np.ones((2, 2)), np.zeros(2)
    E[SHRINK] = np.array([5.0, 10.0, 20.0, 100.0, 1.0])[:, None]
    all_slopes(E, np.array([0.5, 0.5]), S)
    np.testing.assert_array_equal(S, 0.0)
    for products in (1.0, 1.2, 2.0, 5.0):
        E[REPEAT] = np.array([products, 10.0, 20.0, 100.0, 0.2])[:, None]
        all_slopes(E, np.array([0.5, np.nan]), S)
        assert S[REPEAT].min() > before[0]
        assert S[SHRINK, 0] > before[1]
        assert S[SHRINK, 1] == 0.0
        before = S[[REPEAT, SHRINK], 0].copy()
    shrunk_slopes(E[SHRINK], S[SHRINK])
    assert before[1] > 0.9 * S[SHRINK, 0]
