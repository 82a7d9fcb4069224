"""A query changes nothing and shows what is asked, at what price and why."""

import copy

import numpy as np
import pandas as pd
import pytest

from active.conftest import every_selection
from active.delayed_answers import run
from evolabel import EvolvingFuzzyClassifier
from evolabel.active import ActiveLearner, AnnotatorPool
from evolabel.errors import DataError


@every_selection
def test_a_query_changes_neither_classifier_nor_learner(classifier, stream, selection, per, frozen):
    learner = ActiveLearner(classifier, 0.3, per, **selection)
    run(learner, stream[0][60:80], stream[1][60:80])
    learner.query(stream[0][79])  # sets what only saves time
    before = frozen(learner)
    asked = [learner.query(x).asked for x in stream[0][80:]]
    assert frozen(learner) == before
    assert asked == [learner.query(x).asked for x in stream[0][80:]]


def test_labels_cost_what_is_asked_and_samples_one(classifier):
    x = [9.0, 0.0, 0.0, 0.0]
    by_label = ActiveLearner(classifier, 1.0, "labels", criteria="every_label", selection="first_come")
    assert by_label.query([0.495, 0.0, 0.0, 0.0]).labels.tolist() == [False, True, True]
    assert by_label.query([0.495, 0.0, 0.0, 0.0]).cost == 2
    assert ActiveLearner(classifier, 1.0, criteria="every_label", selection="first_come").query(x).cost == 1
    whole = ActiveLearner(classifier, 1.0, "labels", criteria="first_feature", selection="first_come").query(x)
    assert (whole.cost, whole.labels.all(), whole.reasons) == (3, True, ("first_feature",))


@pytest.mark.parametrize("criterion", ["every_label", "ambiguity"])
@pytest.mark.parametrize("selector", ["quantile", "first_come"])
def test_label_questions_are_bundled(classifier, stream, criterion, selector):
    learner = ActiveLearner(classifier, 0.3, "labels", criteria=criterion, selection=selector, min_labels=2)
    costs = []
    for x in stream[0][60:]:
        query = learner.query(x)
        learner.update(query)
        costs.append(query.cost)
    assert set(costs) - {0} <= {2, 3}
    assert max(costs) > 0


def test_reasons_are_the_criteria_above_their_thresholds(classifier, stream):
    learner = ActiveLearner(classifier, 1.0, criteria=("first_feature", "ambiguity"), selection="first_come")
    query = learner.query([0.1, 0.0, 0.0, 0.0])
    band = np.abs(query.prediction - 0.5) < 0.1
    assert query.reasons == (("ambiguity",) if band.any() else ())
    np.testing.assert_array_equal(query.prediction, classifier.decision_function([[0.1, 0.0, 0.0, 0.0]])[0])
    assert query.scores["first_feature"] == 0.1
    ranked = ActiveLearner(classifier, 1.0, criteria="first_feature").query([0.1, 0.0, 0.0, 0.0])
    assert ranked.reasons == ("ranking",)


def test_a_classifier_that_grew_elsewhere_is_asked_about_all_its_labels(classifier, stream, per):
    learner = ActiveLearner(classifier, 0.5, per)
    learner.update(learner.query(stream[0][70]))
    classifier.partial_fit(stream[0][71:72], [[0, 1, 0, 1]])
    query = learner.query(stream[0][72])
    learner.update(query)
    assert len(query.labels) == len(query.prediction) == 4


def test_whole_samples_are_asked_about_while_there_is_no_model(stream, per):
    X, Y = stream
    clf = EvolvingFuzzyClassifier(warm_up=8, max_rules=3).partial_fit(X[:1], Y[:1])
    learner = ActiveLearner(clf, 0.5, per)
    asked = run(learner, X[1:30], Y[1:30], delay=0)
    assert asked[:7] == [1, 3, 5, 7, 9, 11, 13]
    assert learner.ledger.reasons["warm_up"] == 7
    assert clf.n_rules_ > 0


def test_rows_of_frames_are_asked_about_as_arrays_are(stream):
    X, Y = stream
    found_by_kind = []
    for rows in (X, pd.DataFrame(X, columns=list("abcd"))):
        classifier = EvolvingFuzzyClassifier(max_rules=3).fit(rows[:60], Y[:60])
        learner = ActiveLearner(classifier, 0.1, criteria="ambiguity")
        query = learner.query(rows[70:71])
        learner.update(query, Y[70])
        found, passed = learner.next_query(rows[71:])
        found_by_kind.append((query.prediction.tolist(), found.labels.tolist(), passed))
    assert found_by_kind[0] == found_by_kind[1]


def test_a_classifier_fitted_anew_starts_with_moments_of_its_own(classifier, stream):
    X, Y = stream
    learner = ActiveLearner(classifier, 0.1)
    for x in X[60:100]:
        learner.update(learner.query(x), None)
    classifier.fit(X[20:90], Y[20:90])
    fresh = ActiveLearner(copy.deepcopy(classifier), 0.1)
    scores, expected = (one.query(X[100]).scores["variance_reduction"] for one in (learner, fresh))
    np.testing.assert_array_equal(scores, expected)


def test_learners_and_pools_are_written_in_one_line(classifier):
    text = repr(ActiveLearner(classifier, 0.2, "labels"))
    assert text == (
        "ActiveLearner(EvolvingFuzzyClassifier(max_rules=4), budget=0.2, per='labels', "
        "criteria=('ambiguity', 'leverage'), selection=QuantileSelector(tau=5.0))"
    )
    assert (repr(AnnotatorPool()), repr(AnnotatorPool({"anna": 1}))) == (
        "AnnotatorPool()",
        "AnnotatorPool(anna: weight 1.00, set by hand)",
    )


@pytest.mark.parametrize("kind", [np.float64, np.float32, list])
def test_rows_without_the_names_of_the_features_give_one_warning(stream, kind):
    X, Y = stream
    frame = pd.DataFrame(X[:60], columns=list("abcd"))
    named, nameless = (
        ActiveLearner(EvolvingFuzzyClassifier(max_rules=3).fit(known, Y[:60])) for known in (frame, X[:60])
    )
    rows = [x.tolist() if kind is list else x.astype(kind) for x in X[60:70]]
    with pytest.warns(UserWarning, match="does not have valid feature names"):
        first = named.query(rows[0])
    for query, x in zip((first, *map(named.query, rows[1:])), rows, strict=True):  # warnings are errors from here on
        np.testing.assert_array_equal(query.prediction, nameless.query(x).prediction)
    for wrong in (X[60, :3], X[60:60], np.full(4, np.inf)):
        with pytest.raises(DataError):
            nameless.query(wrong)
