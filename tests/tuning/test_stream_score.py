"""`stream_score` is what a run measures: every row is predicted before it is learned."""

import numpy as np
import pytest
from sklearn.model_selection import GridSearchCV, TimeSeriesSplit

from evolabel import EvolvingFuzzyClassifier
from evolabel.core.options import Options
from evolabel.evaluate import prequential
from evolabel.tuning import stream_score
from evolabel.tuning.stream_scorer import MEASURES


def test_every_value_of_optimise_has_a_measure():
    allowed = Options.__dataclass_fields__["optimise"].metadata["allowed"].values
    assert tuple(MEASURES) == tuple(allowed)


@pytest.mark.parametrize(("optimise", "measure"), MEASURES.items())
def test_the_score_is_that_of_a_run(gappy_stream, optimise, measure):
    X, Y = gappy_stream
    clf = EvolvingFuzzyClassifier(optimise=optimise)
    run = prequential({"it": clf}, (X, Y), initial=60, metrics=[measure])
    assert stream_score(clf.fit(X[:60], Y[:60]), X[60:], Y[60:]) == run.summary["it"].metrics[measure]


def test_the_estimator_is_not_changed(stream, state_of, assert_same_state):
    X, Y = stream
    clf = EvolvingFuzzyClassifier().fit(X[:60], Y[:60])
    before = state_of(clf)
    stream_score(clf, X[60:], Y[60:])
    assert_same_state(state_of(clf), before)


def test_a_class_that_comes_later_counts(blobs):
    X, y = blobs
    known = y != y[-1]
    clf = EvolvingFuzzyClassifier().fit(X[known], y[known])
    decided = EvolvingFuzzyClassifier().fit(X[known], y[known]).answer_then_train(X[~known], y[~known]).decisions
    errors = 1.0 - decided[:, -1].mean()
    assert 0.0 < errors < 1.0
    assert stream_score(clf, X[~known], y[~known]) == pytest.approx(1.0 - 2.0 * errors / decided.shape[1])


def test_rows_without_any_known_label_have_no_score(stream):
    X, Y = stream
    clf = EvolvingFuzzyClassifier().fit(X[:60], Y[:60])
    assert np.isnan(stream_score(clf, X[60:70], np.full((10, Y.shape[1]), np.nan)))


def test_a_search_of_scikit_learn_uses_it_on_labels_with_gaps(gappy_stream):
    clf, cv = EvolvingFuzzyClassifier(optimise="macro_f1"), TimeSeriesSplit(2)
    search = GridSearchCV(clf, [{}, {"max_rules": [1]}], scoring=stream_score, cv=cv, error_score="raise")
    search.fit(*gappy_stream)
    assert search.cv_results_["params"] == [{}, {"max_rules": 1}]
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()
