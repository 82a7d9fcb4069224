"""The share of each label so far."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from evolabel.baselines import RunningPrior

label_tables = arrays(np.float64, (12, 3), elements=st.sampled_from([0.0, 1.0, np.nan]))


def share(column):
    known = column[~np.isnan(column)]
    return known.mean() if len(known) else 0.0


@given(label_tables)
def test_scores_are_the_shares_among_annotations_so_far(Y):
    Y[0, 0] = 1.0
    X = np.ones((12, 1))
    scores = RunningPrior().fit(X[:4], Y[:4]).test_then_train(X[4:], Y[4:])
    np.testing.assert_allclose(scores, [[share(column) for column in Y[:i].T] for i in range(4, 12)])


def test_features_do_not_matter(stream):
    X, Y = stream
    one, other = RunningPrior().fit(X, Y), RunningPrior().fit(-3.0 * X, Y)
    np.testing.assert_array_equal(one.decision_function(X), other.decision_function(X))
