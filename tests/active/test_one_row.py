"""One row alone gets the same scores as among others, bit for bit, and always by the present model."""

import copy
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest
from choices import examples
from hypothesis import given, settings
from hypothesis import strategies as st

from evolabel.active import ActiveLearner, Ambiguity, Leverage, QuantileSelector, SoftCount, VarianceReduction
from evolabel.active.scoring import criteria as criteria_module
from evolabel.active.scoring.scored_rows import ScoreTable
from evolabel.stages.written_rules.edits import rule_edits

CRITERIA = [
    Ambiguity(),
    Ambiguity(weight=0.5),
    SoftCount(),
    SoftCount(width=0.3, weight=2.0),
    Leverage(weight=0.1),
    VarianceReduction(),
]


def assert_same(one, other):
    """Two queries are the same, bit for bit."""
    assert one.cost == other.cost
    assert one.reasons == other.reasons
    np.testing.assert_array_equal(one.labels, other.labels)
    np.testing.assert_array_equal(one.prediction, other.prediction)
    np.testing.assert_array_equal(one.values, other.values)
    assert list(one.scores) == list(other.scores)
    for name, score in one.scores.items():
        np.testing.assert_array_equal(score, other.scores[name], err_msg=name)


@settings(deadline=None, max_examples=examples(40))
@given(data=st.data(), per=st.sampled_from(["samples", "labels"]), passed=st.sampled_from([3, 20, 70]))
def test_one_row_has_the_scores_it_has_among_others(trained, stream, data, per, passed):
    X = np.tile(stream[0], (3, 1))
    picked = data.draw(st.lists(st.sampled_from(CRITERIA), min_size=1, max_size=4, unique_by=lambda c: c.name))
    learner = ActiveLearner(copy.deepcopy(trained), 0.3, per, criteria=picked, selection="quantile")
    for x in X[:passed]:  # from 64 rows on, outputs come from cached weights
        learner.update(learner.query(x), None)
    rows = X[passed : passed + 9].copy()
    rows[::2, data.draw(st.lists(st.integers(0, 3), max_size=2))] = np.nan
    strategy, model = learner.strategy, learner.classifier.inner.any_model
    weights = strategy._weight_cache.weights(strategy._version(model))
    _, outputs, scores, values = strategy._score(model, rows, strategy.selector, weights)
    alone = learner.query(rows[0])
    np.testing.assert_array_equal(alone.prediction, outputs[0])
    np.testing.assert_array_equal(alone.values, values[0])
    for score, column in zip(alone.scores.values(), scores, strict=True):
        np.testing.assert_array_equal(score, column[0])


def change(learner, how, stream):
    """Change the model."""
    clf = learner.classifier
    if how == "learned":
        clf.partial_fit(stream[0][:5], stream[1][:5])
    elif how == "labels":
        clf.partial_fit(stream[0][:5], np.column_stack([stream[1][:5], [0, 1, 0, 1, 1]]))
    elif how == "locked":
        rule_edits.lock_rule(clf.inner.any_model, int(clf.inner.any_model.rules.arrays.identity[1]))


@pytest.mark.parametrize("how", ["learned", "labels", "locked"])
@pytest.mark.parametrize("passed", [5, 70])
def test_a_query_is_answered_by_the_model_as_it_is(classifier, stream, how, passed, per):
    learner = ActiveLearner(classifier, 0.2, per)
    for x in np.tile(stream[0], (3, 1))[:passed]:
        learner.update(learner.query(x), None)
    change(learner, how, stream)
    for x in stream[0][90:95]:
        plain = learner.classifier.decision_function(x[None])[0]
        np.testing.assert_allclose(learner.query(x).prediction, plain, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("passed", [5, 70])
def test_a_written_rule_answers_questions_as_it_answers_rows(classifier, stream, passed, per):
    x, label = stream[0][np.argmax(stream[0][:, 0])], classifier.label_names_[0]
    before = classifier.decision_function(x[None])[0, 0]
    classifier.rulebook.add(f"IF x0 ABOVE {x[0] - 0.01} THEN {label} {10 if before > 0.5 else 90}%")
    learner = ActiveLearner(classifier, 0.2, per)
    for row in np.tile(stream[0], (3, 1))[:passed]:  # from 64 rows on, outputs come from cached weights
        learner.update(learner.query(row), None)
    asked = learner.query(x)
    assert (asked.prediction[0] > 0.5) != (before > 0.5)
    np.testing.assert_allclose(asked.prediction, classifier.decision_function(x[None])[0], rtol=0, atol=1e-12)
    if passed < 64:
        np.testing.assert_array_equal(asked.prediction, classifier.decision_function(x[None])[0])


def test_an_interrupted_query_leaves_a_usable_learner(classifier, stream, monkeypatch):
    learner = ActiveLearner(classifier, 0.2)
    expected = copy.deepcopy(learner).query(stream[0][60])

    def interrupted(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(criteria_module, "_layout", interrupted)
        with pytest.raises(KeyboardInterrupt):
            learner.query(stream[0][60])
    assert_same(learner.query(stream[0][60]), expected)


def test_predictions_of_earlier_queries_stay_as_they_were(classifier, stream):
    learner = ActiveLearner(classifier, 0.2)
    first = learner.query(stream[0][60])
    kept = first.prediction.copy(), first.values.copy(), copy.deepcopy(first.scores)
    learner.query(stream[0][61])
    np.testing.assert_array_equal(first.prediction, kept[0])
    np.testing.assert_array_equal(first.values, kept[1])
    assert first.scores == kept[2]


WHOLE_NUMBERS = [
    ("quantile", (Ambiguity(weight=2), SoftCount(width=1, weight=1)), (Ambiguity(weight=2.0), SoftCount(width=1.0))),
    ("tokens", (Ambiguity(weight=2), SoftCount(weight=1)), (Ambiguity(weight=2.0), SoftCount())),
]


@pytest.mark.parametrize(("selection", "whole", "real"), WHOLE_NUMBERS)
def test_whole_numbers_weigh_as_real_ones_do(classifier, stream, selection, whole, real):
    """Kernels are compiled for float64 and would read other numbers as other bits."""
    one, other = (
        ActiveLearner(copy.deepcopy(classifier), 0.3, criteria=criteria, selection=selection)
        for criteria in (real, whole)
    )
    for x, y in zip(stream[0][60:], stream[1][60:], strict=True):
        queries = one.query(x), other.query(x)
        assert_same(*queries)
        for learner, query in zip((one, other), queries, strict=True):
            learner.update(query, y if query.asked else None)


@dataclass(frozen=True)
class Twice(Ambiguity):
    """Ambiguity that counts twice."""

    name: ClassVar[str] = "twice"

    def score(self, rows):
        return 2.0 * super().score(rows)


def test_the_score_of_a_derived_criterion_is_its_own(classifier, stream):
    own = ActiveLearner(copy.deepcopy(classifier), criteria=Twice()).query(stream[0][60])
    plain = ActiveLearner(classifier, criteria="ambiguity").query(stream[0][60])
    np.testing.assert_array_equal(own.scores["twice"], 2.0 * plain.scores["ambiguity"])


@given(data=st.data(), width=st.sampled_from([1, 3]), n=st.integers(1, 5))
def test_values_are_products_of_the_scores_to_their_powers(data, width, n):
    criteria = tuple(data.draw(st.permutations([Ambiguity(weight=0.5), SoftCount(), Leverage(weight=0.1)])))
    selector = QuantileSelector(tau=2.0)
    selector.reset(criteria, 0.1, width, 1)
    rng = np.random.default_rng(data.draw(st.integers(0, 1000)))
    scores = [rng.uniform(0.01, 2.0, n if criterion.whole else (n, 3)) for criterion in criteria]
    expected = np.ones((n, width))
    for criterion, column in zip(criteria, scores, strict=True):
        table = column.reshape(n, -1)
        expected *= (table if table.shape[1] == width else table.max(axis=1, keepdims=True)) ** criterion.weight
    np.testing.assert_allclose(selector.values(ScoreTable.of(scores)), expected, rtol=1e-12)
