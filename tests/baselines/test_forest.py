"""A forest refitted along the stream, against forests trained by hand."""

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier

from evolabel.baselines import RefittedForest
from evolabel.errors import ParameterError


def by_hand(X, Y, rows):
    forest = RandomForestClassifier(5, random_state=0).fit(X, Y)
    return np.column_stack([shares[:, 1] for shares in forest.predict_proba(rows)])


def test_answers_by_the_forest_of_the_last_refit(stream):
    X, Y = stream
    scores = RefittedForest(n_trees=5).fit(X[:50], Y[:50]).test_then_train(X[50:], Y[50:])
    for start in (50, 70, 90, 110):
        piece = slice(start, min(start + 20, len(X)))
        np.testing.assert_array_equal(scores[start - 50 : piece.stop - 50], by_hand(X[:start], Y[:start], X[piece]))


def test_missing_annotations_are_trained_as_the_more_common_value(stream):
    X, Y = stream
    gappy = Y.copy()
    gappy[:40:2, 0] = np.nan
    gappy[7] = np.nan
    filled = np.where(np.isnan(gappy), np.nanmean(gappy, axis=0) >= 0.5, gappy)
    kept = np.arange(len(X)) != 7
    scores = RefittedForest(n_trees=5).fit(X, gappy).decision_function(X)
    np.testing.assert_array_equal(scores, by_hand(X[kept], filled[kept], X))


def test_a_label_that_never_varied_scores_what_it_was(stream):
    X, Y = stream
    constant = np.column_stack([Y[:, 0], np.zeros(len(X)), np.ones(len(X))])
    scores = RefittedForest(n_trees=5).fit(X, constant).decision_function(X)
    np.testing.assert_array_equal(scores[:, 1:], constant[:, 1:])
    alone = RefittedForest(n_trees=5).fit(X, Y[:, :1]).decision_function(X)
    assert alone.shape == (len(X), 1)
    assert len(np.unique(alone)) > 2


@pytest.mark.parametrize("change", [{"refit_every": 0.0}, {"n_trees": 0}, {"seed": -1}])
def test_parameters_outside_their_range_are_named(change, stream):
    with pytest.raises(ParameterError, match=next(iter(change))):
        RefittedForest(**change).fit(*stream)
