"""Answers by label, against a sum written down naively."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from naive import bounds as naive

from evolabel.engine.values import count_answers, count_seen, widen_ranges
from evolabel.model.seen_ranges import no_ranges

ROWS, LABELS = 7, 3
labels = arrays(float, (ROWS, LABELS), elements=st.sampled_from([0.0, 1.0, np.nan]))
weights = arrays(float, ROWS, elements=st.sampled_from([0.0, 0.5, 2.0]))


@settings(deadline=None)
@given(labels, weights)
@pytest.mark.parametrize("weighted", [False, True])
def test_answers_of_rows_that_are_learned_are_counted(weighted, Y, w):
    a, given_weights = np.array([5.0, 0.0, 1.0]), w if weighted else np.empty(0)
    count_answers(Y, given_weights, a)
    np.testing.assert_array_equal(a - [5.0, 0.0, 1.0], naive.count_answers(Y, given_weights))


@settings(deadline=None)
@given(labels, weights)
def test_answers_are_counted_and_ranges_widened_at_once(X, w):
    (a, ranges), (both, all_ranges) = ((np.zeros(LABELS), no_ranges(LABELS)) for _ in range(2))
    count_seen(X, X, w, both, all_ranges)
    count_answers(X, w, a)
    widen_ranges(X, ranges)
    np.testing.assert_array_equal(both, a)
    np.testing.assert_array_equal(all_ranges, ranges)
