"""No answer knows a label that has not arrived yet; every label that has arrived is used."""

import numpy as np
import pytest
from choices import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from prequential_helpers import MeanLearner, OnePassLearner

from evolabel import EvolvingFuzzyClassifier
from evolabel.evaluate.prequential import prequential
from evolabel.streams import DriftingStream

ROWS, INITIAL = 24, 4
SOME = settings(max_examples=examples(40), deadline=None)


def scores(learner, X, Y, **options):
    """Scores of the rows after the initial batch."""
    return prequential({"it": learner}, (X, Y), initial=INITIAL, every=5, keep_scores=True, **options).scores["it"]


def flipped(Y, rows):
    """The labels with some rows inverted."""
    Y = Y.copy()
    Y[rows] = 1.0 - Y[rows]
    return Y


@SOME
@given(st.sampled_from([MeanLearner, OnePassLearner]), st.integers(0, 6), st.integers(INITIAL, ROWS - 1))
def test_an_answer_does_not_know_the_labels_that_are_still_on_their_way(kind, delay, row):
    X, Y = DriftingStream(seed=2).take(ROWS)
    on_their_way = np.arange(max(INITIAL, row - delay), ROWS)
    before, after = (scores(kind(), X, labels, delay=delay) for labels in (Y, flipped(Y, on_their_way)))
    np.testing.assert_array_equal(before[: row - INITIAL + 1], after[: row - INITIAL + 1])


@SOME
@given(st.sampled_from([MeanLearner, OnePassLearner]), st.integers(0, 6), st.integers(INITIAL, ROWS - 8))
def test_labels_are_used_from_the_first_row_after_their_delay(kind, delay, row):
    X, Y = DriftingStream(seed=2).take(ROWS)
    before, after = (scores(kind(), X, labels, delay=delay) for labels in (Y, flipped(Y, [row])))
    changed = np.flatnonzero((before != after).any(axis=1)) + INITIAL
    assert changed[0] == row + delay + 1


@SOME
@given(seed=st.integers(0, 20), row=st.integers(INITIAL, ROWS - 1))
def test_with_random_delays_labels_are_never_used_too_early(seed, row):
    X, Y = DriftingStream(seed=2).take(ROWS)
    delays = np.random.default_rng((seed, 1)).integers(2, 5, ROWS - INITIAL, endpoint=True)
    before, after = (scores(MeanLearner(), X, labels, delay=(2, 5), seed=seed) for labels in (Y, flipped(Y, [row])))
    known_from = row + delays[row - INITIAL] + 1
    np.testing.assert_array_equal(before[: known_from - INITIAL], after[: known_from - INITIAL])
    if known_from < ROWS:
        assert (before[known_from - INITIAL] != after[known_from - INITIAL]).any()


@SOME
@given(seed=st.integers(0, 20))
def test_labels_that_are_not_shown_change_nothing(seed):
    X, Y = DriftingStream(seed=2).take(ROWS)
    hidden = np.random.default_rng((seed, 0)).random((ROWS - INITIAL, Y.shape[1])) >= 0.4
    other = Y.copy()
    other[INITIAL:][hidden] = 1.0 - other[INITIAL:][hidden]
    options = {"annotated": 0.4, "seed": seed}
    np.testing.assert_array_equal(scores(MeanLearner(), X, Y, **options), scores(MeanLearner(), X, other, **options))


@pytest.mark.parametrize("delay", [0, 3])
def test_the_classifier_does_not_know_what_it_is_asked(delay):
    X, Y = DriftingStream(seed=2).take(60)
    make = {"warm_up": 10, "max_rules": 4}
    before = scores(EvolvingFuzzyClassifier(**make), X, Y, delay=delay)
    after = scores(EvolvingFuzzyClassifier(**make), X, flipped(Y, [30]), delay=delay)
    assert np.flatnonzero((before != after).any(axis=1))[0] + INITIAL == 30 + delay + 1
