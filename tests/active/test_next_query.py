"""`next_query` of many rows is `query` row by row, and cached scores are never out of date."""

import copy

import numpy as np
import pytest

from active.conftest import every_selection
from active.delayed_answers import run
from evolabel.active import ActiveLearner
from evolabel.stages.written_rules.edits import rule_edits
from evolabel.stages.written_rules.edits.journal import undo


def assert_same_up_to_rounding(one, other, frozen):
    """Two learners have the same state, except for the last digits of the scores in their selectors."""
    kept = one.strategy.selector.arrays()
    for name, array in other.strategy.selector.arrays().items():
        np.testing.assert_allclose(array, kept[name], rtol=1e-12, atol=1e-12, err_msg=name)
    other.strategy.selector.restore(kept, other.bucket.earning)
    assert frozen(one) == frozen(other)


@every_selection
def test_next_query_is_query_row_by_row(classifier, stream, selection, per, frozen):
    X, Y = stream[0][60:], stream[1][60:]
    one, other = (ActiveLearner(copy.deepcopy(classifier), 0.3, per, **selection) for _ in range(2))
    asked = run(one, X, Y, delay=0)
    found, at = [], 0
    while at < len(X):
        query, passed = other.next_query(X[at:])
        at += passed
        if query is not None:
            found.append(at)
            other.mark_pending(query)
            other.update(query, np.where(query.labels, Y[at], np.nan))
            at += 1
    assert found == asked
    assert asked
    assert_same_up_to_rounding(one, other, frozen)


def test_next_query_is_query_row_by_row_where_nothing_is_learned(classifier, stream, frozen):
    X = np.tile(stream[0][60:], (5, 1))
    X += 0.01 * np.random.default_rng(0).normal(size=X.shape)  # rounding could turn a draw into a win
    one, other = (ActiveLearner(copy.deepcopy(classifier), 0.01) for _ in range(2))
    before = classifier.decision_function(X[:5])
    found, passed = other.next_query(X)
    for x in X[:passed]:
        one.update(one.query(x))
    assert found is not None
    assert passed >= 99
    for learner in (one, other):
        learner.query(X[0])  # sets what only saves time
    assert_same_up_to_rounding(one, other, frozen)
    assert (one.classifier.decision_function(X[:5]) == before).all()


@pytest.fixture
def unchanged(classifier, stream):
    """A learner whose model has not changed for so many rows that weights are cached, and further rows."""
    learner = ActiveLearner(classifier, 1e-6, criteria="ambiguity")
    learner.next_query(np.tile(stream[0][60:], (3, 1)))
    assert learner.strategy._weight_cache._weights is not None
    return learner, stream[0][:20]


CHANGES = {
    "answer": lambda learner, X, Y: learner.update(learner.query(X[0]), Y[0]),
    "partial_fit": lambda learner, X, Y: learner.classifier.partial_fit(X[:3], Y[:3]),
    "labels": lambda learner, X, Y: learner.classifier.partial_fit(X[:3], np.hstack([Y[:3], Y[:3, :1]])),
    "fit": lambda learner, X, Y: learner.classifier.fit(X[::-1], 1.0 - Y[::-1]),
    "edit": lambda learner, X, Y: rule_edits.delete_rule(
        learner.classifier.inner.any_model, int(rules_of(learner).arrays.identity[1])
    ),
    "undo": lambda learner, X, Y: undo(learner.classifier.inner.any_model),
}


def rules_of(learner):
    return learner.classifier.inner.any_model.trained()


@pytest.mark.parametrize("change", CHANGES)
def test_rows_are_scored_by_the_present_model(unchanged, stream, change):
    """Cached weights are never out of date: a learner without them gives the same outputs."""
    learner, rows = unchanged
    X, Y = stream
    if change == "undo":
        CHANGES["edit"](learner, X, Y)
        learner.next_query(np.tile(X[60:], (3, 1)))
    before = learner.classifier.decision_function(rows)
    CHANGES[change](learner, X, Y)
    fresh = learner.classifier.decision_function(rows)
    assert before.shape != fresh.shape or (before != fresh).any()
    scored, _ = learner.strategy._scored_ahead(learner.classifier.inner.any_model, rows)
    np.testing.assert_allclose(scored.outputs, fresh, rtol=1e-12, atol=1e-12)
    np.testing.assert_array_equal([learner.query(x).prediction for x in rows], fresh)


def test_rows_that_were_overwritten_are_scored_again(classifier, stream):
    learner = ActiveLearner(classifier, 0.5, criteria="first_feature", selection="first_come")
    rows = np.zeros((12, 4))
    rows[5:, 0] = 9.0
    query, passed = learner.next_query(rows)
    learner.mark_pending(query)
    rows[6:, 0] = 0.0
    assert passed == 5
    assert learner.next_query(rows[6:]) == (None, 6)
