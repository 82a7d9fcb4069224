"""`TunedClassifier` is the best point of its search, and goes on learning."""

from inspect import signature

import numpy as np
import pytest
from sklearn.base import clone

from evolabel import EvolvingFuzzyClassifier
from evolabel.active import BudgetedLearner, RandomSelection
from evolabel.errors import NotTrainedError
from evolabel.evaluate import prequential
from evolabel.paper import PaperGridSearch, TunedClassifier

GRID = {"vigilance": [0.5, 1.0], "max_rules": [2, 5]}


@pytest.fixture
def tuned(stream):
    X, Y = stream
    return TunedClassifier(grid=GRID, cv=2).fit(X[:60], Y[:60])


def test_it_learns_as_the_best_point_does(tuned, stream):
    X, Y = stream
    best = EvolvingFuzzyClassifier(**tuned.search_.best_params_).fit(X[:60], Y[:60])
    np.testing.assert_array_equal(tuned.test_then_train(X[60:90], Y[60:90]), best.test_then_train(X[60:90], Y[60:90]))
    tuned.partial_fit(X[90:], Y[90:])
    best.partial_fit(X[90:], Y[90:])
    np.testing.assert_array_equal(tuned.decision_function(X), best.decision_function(X))
    np.testing.assert_array_equal(tuned.predict(X), best.predict(X))
    assert tuned.n_rules_ == best.n_rules_ == len(tuned.rules_)


@pytest.mark.parametrize("base", [{"threshold": 0.2}, {"optimise": "macro_f1"}], ids=str)
def test_it_is_judged_by_the_thresholds_it_predicts_with(stream, base):
    X, Y = stream
    tuned = TunedClassifier(EvolvingFuzzyClassifier(**base), GRID, cv=2).fit(X[:60], Y[:60])
    best = EvolvingFuzzyClassifier(**base, **tuned.search_.best_params_)
    summary = prequential({"tuned": tuned, "best": best}, (X, Y), initial=60, metrics=["macro_f1"]).summary
    assert summary["tuned"].metrics == summary["best"].metrics
    assert not np.array_equal(tuned.thresholds_, np.full(3, 0.5))
    np.testing.assert_array_equal(tuned.predict(X), tuned.decision_function(X) >= tuned.thresholds_)


def test_the_given_estimator_stays_as_it_is(stream):
    base = EvolvingFuzzyClassifier(max_rules=7)
    TunedClassifier(base, {"vigilance": [0.5, 1.0]}, cv=2).fit(stream[0][:40], stream[1][:40])
    assert base.get_params() == EvolvingFuzzyClassifier(max_rules=7).get_params()
    assert not base.__sklearn_is_fitted__()


def test_it_needs_a_batch_to_tune_on(stream):
    with pytest.raises(NotTrainedError, match="call fit first"):
        TunedClassifier().partial_fit(*stream)


def test_clones_have_learned_nothing(tuned, stream):
    with pytest.raises(NotTrainedError):
        clone(tuned).decision_function(stream[0])


@pytest.mark.parametrize("kind", [PaperGridSearch, TunedClassifier, BudgetedLearner, RandomSelection])
def test_the_target_is_called_y_as_in_scikit_learn(kind):
    assert list(signature(kind.fit).parameters) == ["self", "X", "y"]
