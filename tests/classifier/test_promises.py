"""Promises that are easy to break: no half-trained models, no mixed kinds, right dates, names that stay apart."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from profiles import PLAIN, classifier_of
from sklearn.model_selection import cross_val_predict, cross_val_score

from evolabel import EvolvingFuzzyClassifier
from evolabel.core.options import Options
from evolabel.errors import DataError, DataTypeError, DivergenceError, ParameterError, StateError
from evolabel.paper import PaperClassifier
from evolabel.paper.options import PaperOptions
from evolabel.streams import DriftingStream


@pytest.fixture(scope="module")
def rows():
    return DriftingStream(n_features=4, n_labels=3, drift_every=0, seed=1).take(160)


def test_the_estimators_defaults_are_those_of_the_method():
    assert EvolvingFuzzyClassifier().inner.options() == Options()
    assert PaperClassifier().inner.options() == PaperOptions()


def test_a_batch_phase_that_diverges_leaves_the_warm_up_as_it_was(rows):
    X, Y = rows
    clf = EvolvingFuzzyClassifier.paper(lipschitz="paper", beta=0.1, warm_up=40).partial_fit(X[:39], Y[:39])
    before = clf.predict_proba(X[:5])
    with pytest.raises(DivergenceError, match="batch phase"):
        clf.partial_fit(X[39:41], Y[39:41])
    assert np.array_equal(clf.predict_proba(X[:5]), before)
    assert clf.n_samples_seen_ == 39


def test_a_stream_that_diverged_does_not_answer_until_it_is_fitted_again(rows):
    X, Y = rows
    clf = EvolvingFuzzyClassifier.paper(vigilance=1e6).fit(X[:60], Y[:60])
    rules = clf.inner.any_model.trained()
    rules.paper = rules.paper._replace(literal_step=True)
    with pytest.raises(DivergenceError, match="at sample"):
        clf.partial_fit(X[60:], Y[60:])
    for call in (clf.predict, clf.decision_function, lambda x: clf.partial_fit(x, Y[:1])):
        with pytest.raises(StateError, match="call fit again"):
            call(X[:1])
    assert np.isfinite(clf.fit(X, Y).decision_function(X)).all()


@pytest.mark.parametrize("other", [{"covariance": "full"}, {"space": "product"}, {"beta": 1.0}])
def test_classifiers_of_different_kinds_are_not_merged(rows, other):
    clf = PaperClassifier(**{**PLAIN, "max_rules": 4}).fit(*rows)
    with pytest.raises(DataError, match="differ in kind"):
        clf.merge(classifier_of(max_rules=4, **other).fit(*rows))


def test_one_that_follows_drift_is_not_merged_with_one_that_does_not(rows):
    clf = EvolvingFuzzyClassifier(max_rules=4).fit(*rows)
    with pytest.raises(DataError, match="differ in kind"):
        clf.merge(EvolvingFuzzyClassifier(max_rules=4, follow_drift=False).fit(*rows))


def test_a_classifier_of_the_paper_is_not_merged_with_another(rows):
    alone = EvolvingFuzzyClassifier(max_rules=4, follow_drift=False, threshold_rules=False).fit(*rows)
    paper = PaperClassifier(**{**PLAIN, "max_rules": 4}).fit(*rows)
    with pytest.raises(DataError, match="are an EvolvingFuzzyClassifier and a PaperClassifier; merge only"):
        alone.merge(paper)


def test_a_feature_that_is_seldom_seen_keeps_its_spread():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 3))
    X[rng.random(600) < 0.9, 2] = np.nan
    clf = classifier_of(covariance="full", max_rules=1, scaling="standard").fit(X, rng.random((600, 1)) < 0.5)
    rules = clf.inner.any_model.trained()
    F = np.tril(rules.own.F[1])
    variance = np.diag(F @ F.T) / (rules.settings.prior_count + rules.arrays.k[1] - 1.0)
    np.testing.assert_allclose(variance, 1.0, atol=0.2)


@pytest.mark.parametrize("scaling", ["quantile", "standard", "minmax", "none"])
def test_values_are_used_up_to_a_limit_and_refused_beyond(rows, scaling):
    X, Y = rows
    clf = EvolvingFuzzyClassifier(scaling=scaling, max_rules=3).fit(X * 1e98, Y)
    assert np.isfinite(clf.decision_function(X * 1e98)).all()
    with pytest.raises(DataError, match="at most 1e"):
        clf.predict(X * 1e101)
    with pytest.raises(DataError, match="sample_weight"):
        clf.partial_fit(X, Y, sample_weight=np.full(len(X), 1e200))


def test_dates_count_the_samples_nobody_annotated_during_the_warm_up(rows):
    X, Y = rows
    silent = Y.copy()
    silent[:120] = np.nan
    clf = EvolvingFuzzyClassifier(warm_up=40, max_rules=4, prune_after=50).partial_fit(X, silent)
    assert clf.events_[0].sample == 121
    assert min(rule.born for rule in clf.rules_) >= 121
    assert max(rule.last_won for rule in clf.rules_) == clf.n_samples_seen_ == 160


def test_merging_keeps_the_time_rules_have_been_idle(rows):
    X, Y = rows
    one, two = EvolvingFuzzyClassifier(max_rules=3).fit(X[:80], Y[:80]), None
    two = one.sibling().partial_fit(X[80:], Y[80:])
    idle = sorted(c.n_samples_seen_ - rule.last_won for c in (one, two) for rule in c.rules_)
    one.max_rules = 6
    one.inner.any_model.trained().settings = one.inner.any_model.trained().settings._replace(max_rules=6)
    one.merge(two)
    assert sorted(one.n_samples_seen_ - rule.last_won for rule in one.rules_) == idle


def test_generated_names_stay_apart_from_given_ones(rows):
    X, Y = rows
    clf = EvolvingFuzzyClassifier(max_rules=3).fit(X, pd.DataFrame(Y[:, :2], columns=["label2", "b"]))
    clf.partial_fit(X[:5], Y[:5])
    assert len(set(clf.label_names_)) == 3


def test_labels_without_names_take_those_of_a_frame(rows):
    X, Y = rows
    clf = EvolvingFuzzyClassifier(max_rules=3).fit(X, Y)
    with pytest.raises(DataError, match="named columns"):
        clf.partial_fit(X[:5], pd.DataFrame(Y[:5, :2], columns=["a", "b"]))
    clf.partial_fit(X[:5], pd.DataFrame(Y[:5], columns=["a", "b", "c"]))
    assert clf.label_names_.tolist() == ["a", "b", "c"]


def test_lazy_frames_are_asked_to_be_collected(rows):
    X, Y = rows
    with pytest.raises(DataTypeError, match="collect"):
        EvolvingFuzzyClassifier().fit(pl.DataFrame(X).lazy(), Y)


def test_threshold_is_checked_when_it_is_used(rows):
    clf = EvolvingFuzzyClassifier(max_rules=3).fit(*rows)
    few = clf.set_params(threshold=0.9).predict(rows[0]).mean()
    assert few < clf.set_params(threshold=0.1).predict(rows[0]).mean()
    with pytest.raises(ParameterError, match="threshold"):
        clf.set_params(threshold="abc").predict(rows[0])


def test_a_classifier_with_bad_parameters_is_not_saved(rows, tmp_path):
    clf = EvolvingFuzzyClassifier(max_rules=3).fit(*rows).set_params(ridge=float("nan"))
    with pytest.raises(ParameterError, match="ridge"):
        clf.save(tmp_path / "model")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("labels", [1, 2, 3])
def test_scikit_learn_scores_and_predicts_label_matrices(rows, labels):
    X, Y = rows[0], rows[1][:, :labels].astype(int)
    clf = EvolvingFuzzyClassifier(max_rules=3)
    assert cross_val_predict(clf, X, Y, cv=2, method="predict_proba").shape == Y.shape
    assert cross_val_score(clf, X, Y, cv=2, scoring="roc_auc").mean() > 0.6


def test_settings_hold_plain_numbers():
    clf = PaperClassifier(novelty="paper", vigilance=np.float32(0.4), rls=np.bool_(True))
    X, Y = DriftingStream(seed=0).take(30)
    settings = clf.fit(X, Y).inner.any_model.trained().settings
    assert {type(value) for value in settings} <= {float, int, bool, np.ndarray}


def test_what_is_masked_is_missing(stream, blobs):
    X, Y = (np.ma.masked_array(array[:60].copy(), np.zeros((60, array.shape[1]), bool)) for array in stream)
    X[3, 1] = X[7, 0] = Y[5, 2] = np.ma.masked
    masked = EvolvingFuzzyClassifier(max_rules=3).fit(X, Y)
    plain = EvolvingFuzzyClassifier(max_rules=3).fit(X.filled(np.nan), Y.filled(np.nan))
    assert np.array_equal(masked.decision_function(X), plain.decision_function(X.filled(np.nan)))
    X, y = blobs
    hidden = np.arange(len(y)) == 4
    masked = EvolvingFuzzyClassifier(max_rules=3).fit(X, np.ma.masked_array(y, hidden))
    plain = EvolvingFuzzyClassifier(max_rules=3).fit(X, np.where(hidden, np.nan, y))
    assert np.array_equal(masked.predict(X), plain.predict(X))
