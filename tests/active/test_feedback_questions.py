"""Where errors repeat, questions are asked earlier and avoid samples that recent answers cover."""

import numpy as np
import pytest

from active.ordered_streams import trained, walked
from evolabel.active import ActiveLearner, query_context
from evolabel.active.scoring.scored_rows import ScoreTable


def test_a_query_changes_nothing_where_errors_repeat(events, frozen):
    X, Y = events
    learner = walked(ActiveLearner(trained(X, Y), 0.3, "labels"), X[200:260], Y[200:260])
    before = frozen(learner)
    for x in X[260:280]:
        learner.query(x)
    learner.decision_function(X[260:280])
    assert frozen(learner) == before


@pytest.mark.parametrize("per", ["samples", "labels"])
def test_next_query_is_query_row_by_row_where_errors_repeat(events, per):
    X, Y = events
    one, other = (ActiveLearner(trained(X, Y), 0.3, per) for _ in range(2))
    walked(one, X[200:350], Y[200:350])
    at = 200
    while at < 350:
        query, passed = other.next_query(X[at:350])
        at += passed
        if query is not None:
            other.update(query, Y[at])
            at += 1
    assert one.bucket.asked == other.bucket.asked > 20
    np.testing.assert_allclose(one.decision_function(X[350:355]), other.decision_function(X[350:355]), rtol=1e-9)


def test_samples_that_recent_answers_cover_have_a_smaller_weight(events):
    X, Y = events
    weights = {}
    for per in ("samples", "labels"):
        learner = ActiveLearner(trained(X, Y), 0.5, per)
        before = learner.strategy.context.of_next(learner.classifier.inner.any_model, X[200:202]).novelty_weight
        query = learner.query(X[200])
        learner.update(query, Y[200])
        weights[per] = (
            before,
            learner.strategy.context.of_next(learner.classifier.inner.any_model, X[[200, 201]]).novelty_weight,
        )
    before, (same, other) = weights["samples"]
    np.testing.assert_array_equal(before, 1.0)
    assert same < other < 1.0
    assert weights["labels"] == (None, None)


def test_the_novelty_weight_changes_the_values_of_the_default_selector_only(events):
    X, Y = events
    parts = {}
    for selection in (None, "tokens"):
        for asked in (False, True):
            learner = ActiveLearner(trained(X, Y), 0.5, selection=selection)
            if asked:
                learner.update(learner.query(X[200]), Y[200])
            weight = learner.strategy.context.of_next(learner.classifier.inner.any_model, X[201:203]).novelty_weight
            query = learner.query(X[201])
            scores = [np.array(score).reshape(1, -1)[:, 0] for score in query.scores.values()]
            plain = learner.strategy.selector.values(ScoreTable.of(scores))
            parts[selection, asked] = query.values, plain[0], weight[0]
    for asked in (False, True):
        part, plain, weight = parts[None, asked]
        np.testing.assert_allclose(part, weight * plain, rtol=1e-9)
        np.testing.assert_allclose(parts["tokens", asked][0], parts["tokens", asked][1], rtol=1e-9)
    assert parts[None, True][2] < 1.0


def test_questions_are_urgent_where_errors_repeat_and_only_there(events, shuffled):
    found = {}
    for name, (X, Y) in {"events": events, "shuffled": shuffled}.items():
        for error_feedback in (True, False):
            learner = ActiveLearner(trained(X, Y), 0.1, error_feedback=error_feedback)
            _, passed = learner.next_query(X[200:])
            found[name, error_feedback] = learner.strategy.context.urgency(learner.classifier.inner.any_model), passed
    assert found["shuffled", True] == found["shuffled", False]
    assert found["events", False][0] == 1.0
    assert found["events", True][0] > 4.0
    assert found["events", True][1] <= found["events", False][1]


@pytest.mark.parametrize("by_row", [False, True])
def test_urgency_shortens_the_time_between_questions(events, monkeypatch, by_row):
    """Fewer samples of a stream pass while a question could be paid."""
    X, Y = events

    def waited():
        learner, waits = ActiveLearner(trained(X, Y), 0.1), 0
        for x, y in zip(X[200:], Y[200:], strict=True):
            payable = learner.bucket.affordable(3) >= 1
            query = learner.query(x) if by_row else learner.next_query(x[None])[0]
            if query is not None:
                learner.update(query, y if query.asked else None)
            waits += payable and (query is None or not query.asked)
        return waits

    urgent = waited()
    monkeypatch.setattr(query_context, "_URGENCY_PER_GAIN", 0.0)
    assert urgent < 0.8 * waited()
