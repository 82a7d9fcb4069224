"""The classifier of a learner is fitted anew: the learner continues, or raises an error of one line."""

import copy

import numpy as np
import pandas as pd
import pytest
from choices import pairs

from evolabel import EvolvingFuzzyClassifier
from evolabel.active import ActiveLearner
from evolabel.errors import DataError, StateError


def walked(learner, X, Y, answer=True):
    for i, (x, y) in enumerate(zip(X, Y, strict=True)):
        query = learner.query(x)
        if query.asked and i % 3 == 0:
            learner.mark_pending(query)
        else:
            learner.update(query, y if query.asked and answer else None)
    return learner


@pytest.fixture
def learner(classifier, stream, per):
    learner = walked(ActiveLearner(classifier, 0.5, per), stream[0][60:110], stream[1][60:110])
    assert learner.pending
    return learner


LABELS = {
    "same": lambda Y: Y,
    "other": lambda Y: 1.0 - Y[:, ::-1],
    "fewer": lambda Y: Y[:, :1],
    "more": lambda Y: np.column_stack([Y, Y[:, 0], 1.0 - Y[:, 0]]),
}


@pytest.mark.parametrize(("labels", "first"), pairs(LABELS, ["query", "next_query", "update", "save", "predict"]))
def test_the_learner_continues_with_the_new_model(learner, stream, tmp_path, labels, first):
    X, Y = stream[0], LABELS[labels](stream[1])
    counts = learner.bucket.seen, learner.bucket.asked
    before = learner.query(X[0])
    learner.classifier.fit(X[:70], Y[:70])
    if first == "save":
        learner.save(tmp_path / "learner.efc")
        learner = ActiveLearner.load(tmp_path / "learner.efc")
    elif first == "next_query":
        learner.next_query(X[70:72])
    elif first == "predict":
        assert learner.predict(X[70:72]).shape == (2, Y.shape[1])
    elif first == "update":
        if labels == "fewer":
            with pytest.raises(DataError, match="made for other features or labels"):
                learner.update(before)
        else:
            learner.update(before)
    assert learner.bucket.seen >= counts[0]
    assert learner.bucket.asked >= counts[1]
    walked(learner, X[70:], Y[70:])
    learner.save(tmp_path / "learner.efc")
    loaded = ActiveLearner.load(tmp_path / "learner.efc")
    assert [loaded.query(x).cost for x in X] == [learner.query(x).cost for x in X]


def test_the_state_of_the_former_model_is_dropped(learner, stream, per):
    X, Y = stream
    learner.classifier.fit(X[20:90], Y[20:90])
    fresh = ActiveLearner(copy.deepcopy(learner.classifier), 0.5, per)
    one, other = learner.query(X[100]), fresh.query(X[100])
    np.testing.assert_array_equal(one.values, other.values)
    assert {k: np.asarray(v).tolist() for k, v in one.scores.items()} == {
        k: np.asarray(v).tolist() for k, v in other.scores.items()
    }
    learner.update(one)
    fresh.update(other)
    for name, array in fresh.strategy.selector.arrays().items():
        np.testing.assert_array_equal(learner.strategy.selector.arrays()[name], array)


def test_a_query_of_a_classifier_fitted_anew_changes_nothing(learner, stream, frozen):
    learner.classifier.fit(stream[0][:70], stream[1][:70, :2])
    before = frozen(learner)
    learner.query(stream[0][70])
    learner.predict(stream[0][70:72])
    assert frozen(learner) == before


@pytest.mark.parametrize("call", ["query", "next_query", "update", "save"])
def test_other_features_need_a_new_learner(learner, stream, tmp_path, call):
    X, Y = stream
    query = learner.query(X[0])
    learner.classifier.fit(X[:70, :2], Y[:70])
    calls = {
        "query": lambda: learner.query(X[70, :2]),
        "next_query": lambda: learner.next_query(X[70:, :2]),
        "update": lambda: learner.update(query, Y[0]),
        "save": lambda: learner.save(tmp_path / "learner.efc"),
    }
    with pytest.raises(StateError, match="make a new ActiveLearner") as error:
        calls[call]()
    assert "\n" not in str(error.value)
    assert list(tmp_path.iterdir()) == []
    ActiveLearner(learner.classifier, 0.5).query(X[70, :2])


def test_features_of_other_names_need_a_new_learner(stream):
    X, Y = pd.DataFrame(stream[0], columns=list("abcd")), stream[1]
    learner = ActiveLearner(EvolvingFuzzyClassifier(max_rules=3).fit(X[:60], Y[:60]), 0.5)
    learner.update(learner.query(X[60:61]))
    learner.classifier.fit(X[:60], Y[:60])
    learner.update(learner.query(X[61:62]))
    X.columns = list("abcx")
    learner.classifier.fit(X[:60], Y[:60])
    with pytest.raises(StateError, match="make a new ActiveLearner"):
        learner.query(X[62:63])


def test_features_may_change_before_the_first_sample(classifier, stream):
    X, Y = stream
    learner = ActiveLearner(classifier, 0.5, "labels")
    learner.classifier.fit(X[:60, :2], Y[:60, :2])
    walked(learner, X[60:, :2], Y[60:, :2])


def test_questions_about_labels_that_are_gone_are_given_up(learner, stream):
    number, query = next(iter(learner.pending.items()))
    refused, waiting = learner.ledger.questions_refused, len(learner.pending)
    learner.classifier.fit(stream[0][:70], pd.DataFrame(stream[1][:70], columns=["up", "down", "left"]))
    with pytest.raises(StateError, match=f"sample {number} is not pending"):
        learner.update(query, stream[1][0])
    assert not learner.pending
    assert learner.ledger.questions_refused == refused + waiting


def test_questions_about_labels_that_stay_can_be_answered(learner, stream):
    waiting = list(learner.pending.values())
    learner.classifier.fit(stream[0][:70], LABELS["more"](stream[1][:70]))
    for query in waiting:
        learner.update(query, stream[1][0])
    assert not learner.pending


@pytest.mark.parametrize("labels", LABELS)
def test_long_blocks_of_the_former_model_do_not_hold_for_the_new_one(classifier, stream, labels):
    """Second moments take in more rows at a time, the more they have seen: a new model begins with short blocks."""
    learner = ActiveLearner(classifier, 0.01)
    rows = np.tile(stream[0], (4, 1))
    for _ in range(3):
        learner.next_query(rows)
    learner.classifier.fit(stream[0][:70], LABELS[labels](stream[1][:70]))
    twin = copy.deepcopy(learner)
    for x in rows[:200]:
        twin.update(twin.query(x))
    done = 0
    while done < 200:
        query, passed = learner.next_query(rows[done:200])
        done += passed + (query is not None)
        if query is not None:
            learner.update(query)
    for name, array in learner.strategy.unlabelled.arrays(4).items():
        np.testing.assert_allclose(array, twin.strategy.unlabelled.arrays(4)[name], rtol=1e-9, atol=1e-9)
