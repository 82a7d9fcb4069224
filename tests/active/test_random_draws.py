"""Random questions: exactly as many as the budget earns, and none before it is earned."""

import copy

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from shared.random_draws import drawn, learned, matched_budget

from evolabel import EvolvingFuzzyClassifier
from evolabel.active import RandomSelection, TokenBucket
from evolabel.active.selection.random import _BLOCK, random_moments

BASE = EvolvingFuzzyClassifier(max_rules=4)


@given(budget=st.floats(0.001, 1.0), seed=st.integers(0, 9), first=st.integers(1, 3 * _BLOCK))
def test_every_token_has_a_moment_of_its_own_once_it_is_earned(budget, seed, first):
    moments = random_moments(budget, seed, first, first + 50)
    assert (np.diff(moments) > 0).all()
    bucket = TokenBucket(budget, burst=None)
    for token, moment in enumerate(moments.tolist(), start=first):
        assert bucket.limit(1, ahead=moment) == token


def test_moments_do_not_depend_on_how_they_are_asked_for():
    whole = random_moments(0.1, 5, 1, 3 * _BLOCK)
    parts = [random_moments(0.1, 5, token, token + 99) for token in range(1, 3 * _BLOCK - 99, 100)]
    np.testing.assert_array_equal(np.concatenate(parts), whole[: 100 * len(parts)])
    assert not np.array_equal(whole, random_moments(0.1, 6, 1, 3 * _BLOCK))


@given(data=st.data(), rows=st.integers(1, 400), K=st.integers(1, 7), draw=st.integers(0, 99))
def test_matched_draws_ask_exactly_as_many_questions(data, rows, K, draw):
    per = data.draw(st.sampled_from(["samples", "labels"]))
    questions = data.draw(st.integers(0, rows * (K if per == "labels" else 1)))
    asked = drawn((rows, K), per, questions, draw)
    assert asked.sum() == questions * (1 if per == "labels" else K)


@pytest.mark.parametrize(("per", "questions"), [("samples", 17), ("labels", 61)])
def test_the_quick_way_is_random_selection(stream, per, questions):
    X, Y = stream
    units = (len(X) - 60) * (Y.shape[1] if per == "labels" else 1)
    slow = RandomSelection(BASE, matched_budget(units, questions), per, seed=4).fit(X[:60], Y[:60])
    expected = slow.test_then_train(X[60:], Y[60:])
    assert slow.learner_.bucket.asked == questions
    asked = drawn(Y[60:].shape, per, questions, 4)
    classifier = copy.deepcopy(BASE).fit(X[:60], Y[:60])
    np.testing.assert_array_equal(learned(classifier, X[60:], Y[60:], asked), expected)
