"""Nothing is known before its time: every answer depends on the initial batch and on the rows before it, no more."""

from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evolabel.evaluate import prequential
from evolabel.learners import LEARNERS, make_learner
from evolabel.streams import DriftingStream

INITIAL, ROWS = 60, 80
SLOW = ("tuned", "forest")  # in `make check`
NAMES = [name for name in LEARNERS if name != "paper-tuned"]  # the same as tuned, but slower
LEARNED = [pytest.param(name, marks=pytest.mark.slow) if name in SLOW else name for name in NAMES]
X, Y = DriftingStream(n_features=4, n_labels=3, seed=5).take(ROWS)


def scores(name, X, Y):
    run = prequential({name: make_learner(name)}, (X, Y), initial=INITIAL, every=7, metrics=("pa",), keep_scores=True)
    return run.scores[name]


@pytest.fixture(scope="module")
def answers():
    """Scores on the stream as it is, by learner, computed when they are needed."""
    return cache(lambda name: scores(name, X, Y))


@pytest.mark.parametrize("name", LEARNED)
@settings(max_examples=5, deadline=None)
@given(row=st.integers(INITIAL, ROWS - 1))
def test_the_labels_of_a_row_and_later_rows_do_not_change_its_answer(answers, name, row):
    rows, labels = X.copy(), Y.copy()
    rows[row + 1 :] = 1e3 - 7.0 * rows[row + 1 :]
    labels[row:] = 1.0 - labels[row:]
    seen = row - INITIAL + 1
    np.testing.assert_array_equal(scores(name, rows, labels)[:seen], answers(name)[:seen])


def test_labels_do_matter_afterwards(answers):
    changed = Y.copy()
    changed[INITIAL] = 1.0 - changed[INITIAL]
    assert (scores("evolabel", X, changed)[1] != answers("evolabel")[1]).any()


@pytest.mark.parametrize("name", ["evolabel", "paper"])
def test_scaling_ridge_and_threshold_come_from_the_initial_batch(name):
    learner = make_learner(name).fit(X[:INITIAL], Y[:INITIAL])
    before = learner.inner.any_model.scaler, learner.inner.any_model.ridge, learner.threshold
    knots = learner.inner.any_model.scaler.x.copy(), learner.inner.any_model.scaler.z.copy()
    learner.test_then_train(1e3 * X[INITIAL:], 1.0 - Y[INITIAL:])
    assert (learner.inner.any_model.scaler, learner.inner.any_model.ridge, learner.threshold) == before
    np.testing.assert_array_equal(learner.inner.any_model.scaler.x, knots[0])
    np.testing.assert_array_equal(learner.inner.any_model.scaler.z, knots[1])
