"""Questions use the final outputs: those of the threshold rules where these are used."""

import copy

import numpy as np
import pytest

from evolabel import EvolvingFuzzyClassifier
from evolabel.active import ActiveLearner, Ambiguity
from evolabel.active.loops.scores import FLOOR

WAYS = {"in one call of a kernel": 1, "many rows at once": 300}


@pytest.fixture(scope="module")
def conjunction():
    """Rows and a label that two thresholds decide, and a classifier whose threshold rules are used."""
    X = np.random.default_rng(0).random((2600, 6))
    Y = ((X[:, 1] > 0.6) & (X[:, 4] < 0.5)).astype(float)[:, None]
    clf = EvolvingFuzzyClassifier().partial_fit(X[:2000], Y[:2000])
    assert clf.inner.any_model.trees.is_used
    return X, Y, clf


def ambiguity_of(outputs):
    """The score that `outputs` give, by its definition."""
    f = np.clip(outputs, 0.0, 1.0)
    return f * (1.0 - f) + FLOOR


@pytest.mark.compiled
@pytest.mark.parametrize("number", WAYS.values(), ids=WAYS)
def test_ambiguity_is_that_of_the_final_output(conjunction, number):
    X, _, clf = conjunction
    strategy = ActiveLearner(copy.deepcopy(clf), 0.1, "labels", criteria=Ambiguity(), error_feedback=False).strategy
    model, rows = clf.inner.any_model, X[2000 : 2000 + number]
    scores = strategy._score(model, rows, strategy.selector, None).scores
    final = clf.decision_function(rows)
    np.testing.assert_allclose(scores.table, ambiguity_of(final), rtol=0, atol=1e-12)


@pytest.mark.compiled
def test_labels_that_threshold_rules_have_settled_are_not_ambiguous(conjunction):
    """Where the members alone doubt, and the trees do not, the score is small."""
    X, _, clf = conjunction
    rows, members = X[2000:], copy.deepcopy(clf)
    members.inner.any_model.trees.arrays.gate[:] = 0.0
    doubted = np.abs(members.decision_function(rows)[:, 0] - 0.5) < 0.2
    assert doubted.sum() > 20
    learner = ActiveLearner(copy.deepcopy(clf), 0.1, "labels", criteria=Ambiguity())
    scores = np.array([learner.query(x).scores["ambiguity"][0] for x in rows[doubted]])
    assert np.mean(scores < 0.05) > 0.9


@pytest.mark.compiled
def test_a_rule_of_a_person_is_seen_by_ambiguity(conjunction):
    """Where people have written rules, the trees step back, and so does what they say about a question."""
    X, _, clf = conjunction
    edited = copy.deepcopy(clf)
    edited.rulebook.add(f"IF x1 BETWEEN 0.7 AND 0.9 THEN {edited.label_names_[0]} 50%")
    learner = ActiveLearner(edited, 0.1, "labels", criteria=Ambiguity(), error_feedback=False)
    inside = X[2000:][(X[2000:, 1] > 0.75) & (X[2000:, 1] < 0.85)][:20]
    assert (np.abs(edited.decision_function(inside) - clf.decision_function(inside)) > 0.05).any()
    for x in inside:
        query = learner.query(x)
        np.testing.assert_allclose(query.prediction, edited.decision_function(x[None])[0], rtol=0, atol=1e-12)
        np.testing.assert_allclose(query.scores["ambiguity"], ambiguity_of(query.prediction), rtol=0, atol=1e-12)


@pytest.mark.compiled
@pytest.mark.parametrize("seed", [3, 4, 5])
def test_a_label_that_a_tree_answers_is_followed_with_few_answers_when_it_becomes_its_opposite(seed):
    """The tree is sure, so hardly any answer is about this label; the first that contradicts it is confirmed."""
    X = np.random.default_rng(seed).random((4000, 6))
    Y = np.c_[(X[:, 1] > 0.6) & (X[:, 4] < 0.5), X[:, 0] + X[:, 2] > 1.0].astype(float)
    Y[2000:, 0] = 1.0 - Y[2000:, 0]
    classifier = EvolvingFuzzyClassifier().partial_fit(X[:500], Y[:500])
    learner, right = ActiveLearner(classifier, 0.1, "labels"), []
    for x, y in zip(X[500:], Y[500:], strict=True):
        query = learner.query(x)
        right.append((query.prediction[0] >= 0.5) == (y[0] > 0.5))
        learner.update(query, y if query.asked else None)
    assert np.mean(right[500:1500]) > 0.95
    assert np.mean(right[2000:]) > 0.9
    drifts = [event.sample for event in classifier.events_ if event.kind == "drift" and event.label == "label0"]
    assert len(drifts) == 1
    assert learner.bucket.asked <= learner.bucket.limit(2, 0)
