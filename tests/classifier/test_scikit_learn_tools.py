"""The tools of scikit-learn work on the classifier."""

import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from evolabel import EvolvingFuzzyClassifier


def test_clone_keeps_parameters_and_forgets_what_was_learned(trained):
    twin = clone(trained)
    assert twin.get_params() == trained.get_params()
    with pytest.raises(NotFittedError):
        twin.predict(np.zeros((1, 4)))


def test_clone_of_a_clone_learns_the_same(trained, stream):
    X, Y = stream
    first, second = (clone(trained).fit(X, Y) for _ in range(2))
    assert np.array_equal(first.decision_function(X), second.decision_function(X))


def test_parameters_survive_a_round_trip():
    changed = EvolvingFuzzyClassifier(max_rules=7, temperature="sqrt", prune_after=50, threshold=0.4)
    assert EvolvingFuzzyClassifier().set_params(**changed.get_params()).get_params() == changed.get_params()


def test_set_params_takes_effect_at_the_next_fit(stream):
    X, Y = stream
    clf = EvolvingFuzzyClassifier(max_rules=5).fit(X, Y)
    assert clf.n_rules_ > 2
    clf.set_params(max_rules=2)
    assert clf.n_rules_ > 2
    assert clf.fit(X, Y).n_rules_ == 2


@pytest.mark.parametrize("stage", ["trained", "warming"])
def test_pickle_predicts_and_learns_on_with_the_same_bits(stage, request, stream, state_of, assert_same_state):
    X, Y = stream
    clf = request.getfixturevalue(stage)
    twin = pickle.loads(pickle.dumps(clf))
    assert np.array_equal(twin.decision_function(X), clf.decision_function(X))
    for model in (clf, twin):
        model.partial_fit(X[60:], Y[60:])
    assert_same_state(state_of(twin), state_of(clf))


def test_pipeline_with_a_scaler_predicts_like_the_parts(stream):
    X, Y = stream
    pipe = make_pipeline(StandardScaler(), EvolvingFuzzyClassifier(max_rules=4))
    pipe.fit(X, Y, evolvingfuzzyclassifier__sample_weight=np.linspace(0.5, 1.0, len(X)))
    Z = StandardScaler().fit_transform(X)
    alone = EvolvingFuzzyClassifier(max_rules=4).fit(Z, Y, sample_weight=np.linspace(0.5, 1.0, len(X)))
    assert np.array_equal(pipe.predict(X), alone.predict(Z))


def test_grid_search_over_rules_on_a_label_matrix(stream):
    X, Y = stream
    search = GridSearchCV(EvolvingFuzzyClassifier(), {"max_rules": [1, 4]}, cv=2, error_score="raise").fit(X, Y)
    assert search.best_params_["max_rules"] in (1, 4)
    assert search.predict(X).shape == Y.shape
    assert np.ptp(search.cv_results_["mean_test_score"]) > 0.0


def test_grid_search_over_rules_on_classes(blobs):
    X, y = blobs
    search = GridSearchCV(EvolvingFuzzyClassifier(), {"max_rules": [1, 4]}, cv=2, error_score="raise").fit(X, y)
    assert search.best_score_ > 0.85
    assert search.best_estimator_.n_rules_ <= search.best_params_["max_rules"]


def test_cross_val_score_on_classes(blobs):
    scores = cross_val_score(EvolvingFuzzyClassifier(max_rules=4), *blobs, cv=3, error_score="raise")
    assert scores.shape == (3,)
    assert scores.min() > 0.8


def test_cross_val_score_on_a_label_matrix(stream):
    scores = cross_val_score(EvolvingFuzzyClassifier(max_rules=4), *stream, cv=2, scoring="f1_macro")
    assert scores.min() > 0.4
