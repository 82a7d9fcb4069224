"""`score` counts what is known, and equals scikit-learn's where everything is."""

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import accuracy_score
from sklearn.model_selection import KFold, cross_val_score

from evolabel import EvolvingFuzzyClassifier
from evolabel.errors import DataError

SETTINGS = {"max_rules": 4, "warm_up": 40}


@pytest.fixture
def trained(stream):
    return EvolvingFuzzyClassifier(**SETTINGS).fit(*stream)


def test_full_labels_give_the_subset_accuracy_of_scikit_learn(trained, stream):
    X, Y = stream
    weights = np.arange(len(X)) % 3
    assert trained.score(X, Y) == pytest.approx(accuracy_score(Y, trained.predict(X)))
    assert trained.score(X, Y, weights) == pytest.approx(accuracy_score(Y, trained.predict(X), sample_weight=weights))


def test_unknown_labels_do_not_count(trained, stream):
    X, Y = stream
    right = (trained.predict(X) == Y).all(axis=1)
    wrong = np.flatnonzero(~right)[0]
    gaps = Y.copy()
    gaps[wrong] = np.where(trained.predict(X)[wrong] == Y[wrong], Y[wrong], np.nan)  # what was wrong is not known
    assert trained.score(X, gaps) == pytest.approx((right.sum() + 1) / len(X))
    gaps[wrong] = np.nan
    assert trained.score(X, gaps) == pytest.approx(right.sum() / (len(X) - 1))
    with pytest.raises(DataError, match="no sample of y has a known label"):
        trained.score(X, np.full(Y.shape, np.nan))


def test_labels_are_taken_by_name_and_new_ones_are_not_predicted(stream):
    X, Y = stream
    clf = EvolvingFuzzyClassifier(**SETTINGS).fit(X, pd.DataFrame(Y, columns=["on", "hot", "wet"]))
    other_order = pd.DataFrame(Y[:, ::-1], columns=["wet", "hot", "on"])
    assert clf.score(X, other_order) == pytest.approx(accuracy_score(Y, clf.predict(X)))
    assert clf.score(X, other_order.assign(new=1.0)) == 0.0


def test_samples_without_a_class_are_left_out(stream):
    X, kinds = stream[0], np.where(stream[0][:, 0] > 0.0, "high", "low").astype(object)
    clf = EvolvingFuzzyClassifier(**SETTINGS).fit(X, kinds)
    assert clf.score(X, kinds) == pytest.approx(accuracy_score(kinds.tolist(), clf.predict(X)))
    gaps = kinds.copy()
    gaps[clf.predict(X) != kinds] = None
    gaps[:20] = None
    assert clf.score(X, gaps) == 1.0


def test_cross_validation_takes_unknown_labels_with_folds_that_do_not_look_at_them(stream):
    X, Y = stream
    gaps = np.where(np.random.default_rng(0).random(Y.shape) < 0.2, np.nan, Y)
    found = cross_val_score(EvolvingFuzzyClassifier(**SETTINGS), X, gaps, cv=KFold(3))
    assert found.shape == (3,)
    assert (found > 0.0).all()
