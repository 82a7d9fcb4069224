"""The last answer to each label."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from evolabel.baselines import NoChange

label_tables = arrays(np.float64, (12, 3), elements=st.sampled_from([0.0, 1.0, np.nan]))


def last(column):
    known = column[~np.isnan(column)]
    return known[-1] if len(known) else 0.0


@given(label_tables)
def test_scores_are_the_last_answers_so_far(Y):
    Y[0, 0] = 1.0
    X = np.ones((12, 1))
    scores = NoChange().fit(X[:4], Y[:4]).test_then_train(X[4:], Y[4:])
    np.testing.assert_array_equal(scores, [[last(column) for column in Y[:i].T] for i in range(4, 12)])


def test_a_label_that_appears_has_no_answer_before():
    learner = NoChange().fit(np.zeros((2, 1)), np.ones((2, 1)))
    scores = learner.test_then_train(np.zeros((3, 1)), np.array([[0, 1], [1, 0], [1, 1]]))
    np.testing.assert_array_equal(scores, [[1, 0], [0, 1], [1, 0]])
