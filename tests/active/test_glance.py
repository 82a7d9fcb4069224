"""A sample that comes alone is judged by kernels, and just as many samples are: criterion by criterion."""

import copy
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evolabel.active import (
    ActiveLearner,
    Ambiguity,
    Leverage,
    Novelty,
    QuantileFilter,
    SoftCount,
    VarianceReduction,
)
from evolabel.active.filters import Purse
from evolabel.active.glance import Glance
from evolabel.core import acts

CRITERIA = [
    Ambiguity(),
    Ambiguity(weight=0.5),
    SoftCount(),
    SoftCount(width=0.3, weight=2.0),
    Leverage(weight=0.1),
    VarianceReduction(),
]


def chosen(draw):
    """Some of the criteria, each name once."""
    picked = draw(st.lists(st.sampled_from(CRITERIA), min_size=1, max_size=4, unique_by=lambda c: c.name))
    return tuple(picked)


def by_numpy(learner, x):
    """The query as rows that come together get theirs."""
    learner = copy.deepcopy(learner)
    learner._scout._glance = None
    return learner.query(x)


def assert_same(one, other):
    assert one.cost == other.cost
    assert one.reasons == other.reasons
    np.testing.assert_array_equal(one.labels, other.labels)
    np.testing.assert_allclose(one.prediction, other.prediction, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(one.arrived.part, other.arrived.part, rtol=1e-8, atol=1e-12)
    assert list(one.scores) == list(other.scores)
    for name, score in one.scores.items():
        assert np.shape(score) == np.shape(other.scores[name])
        np.testing.assert_allclose(score, other.scores[name], rtol=1e-8, atol=1e-12, err_msg=name)


@settings(deadline=None, max_examples=40)  # the first example compiles
@given(data=st.data(), per=st.sampled_from(["samples", "labels"]), passed=st.sampled_from([3, 20, 70]))
def test_one_row_is_judged_as_many_are(trained, stream, data, per, passed):
    X = np.tile(stream[0], (3, 1))
    budget, criteria = data.draw(st.sampled_from([0.1, 0.5])), chosen(data.draw)
    learner = ActiveLearner(copy.deepcopy(trained), budget, per, criteria=criteria, selection="quantile")
    for x in X[:passed]:  # from 64 rows on, answers come from formed weights
        learner.update(learner.query(x), None)
    x = X[passed].copy()
    x[data.draw(st.lists(st.integers(0, 3), max_size=2))] = np.nan
    assert learner._scout._glance is not None
    assert_same(learner.query(x), by_numpy(learner, x))


def changed(learner, how, stream):
    """Something happens to the model."""
    clf = learner.classifier
    if how == "learned":
        clf.partial_fit(stream[0][:5], stream[1][:5])
    elif how == "labels":
        clf.partial_fit(stream[0][:5], np.column_stack([stream[1][:5], [0, 1, 0, 1, 1]]))
    elif how == "fitted":
        clf.fit(stream[0][:80], stream[1][:80])
    elif how == "locked":
        acts.lock_rule(clf._model.rules, int(clf._model.rules.arrays.identity[1]))


@pytest.mark.parametrize("how", ["learned", "labels", "fitted", "locked"])
@pytest.mark.parametrize("passed", [5, 70])
def test_a_glance_never_sees_a_model_of_the_past(classifier, stream, how, passed, per):
    learner = ActiveLearner(classifier, 0.2, per)
    for x in np.tile(stream[0], (3, 1))[:passed]:
        learner.update(learner.query(x), None)
    changed(learner, how, stream)
    for x in stream[0][90:95]:
        assert_same(learner.query(x), by_numpy(learner, x))


def test_predictions_of_earlier_queries_stay_as_they_were(classifier, stream):
    learner = ActiveLearner(classifier, 0.2)
    first = learner.query(stream[0][60])
    kept = first.prediction.copy(), first.arrived.part.copy(), copy.deepcopy(first.scores)
    learner.query(stream[0][61])
    np.testing.assert_array_equal(first.prediction, kept[0])
    np.testing.assert_array_equal(first.arrived.part, kept[1])
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

    def score(self, look):
        return 2.0 * super().score(look)


def test_what_is_derived_from_a_criterion_is_asked_itself(classifier, stream):
    assert not Glance.can_judge_by([Twice()])
    assert not Glance.can_judge_by([Ambiguity(), Novelty()])
    own = ActiveLearner(copy.deepcopy(classifier), criteria=Twice()).query(stream[0][60])
    plain = ActiveLearner(classifier, criteria="ambiguity").query(stream[0][60])
    np.testing.assert_allclose(own.scores["twice"], 2.0 * plain.scores["ambiguity"], rtol=1e-9)


@settings(deadline=None)  # the first example compiles
@given(data=st.data(), width=st.sampled_from([1, 3]), tok=st.floats(0, 8), least=st.integers(1, 3))
def test_a_row_is_chosen_as_the_first_of_many_is(data, width, tok, least):
    criteria = tuple(data.draw(st.permutations([Ambiguity(weight=0.5), SoftCount(), Leverage(weight=0.1)])))
    chooser = QuantileFilter(tau=2.0)
    chooser.begin(criteria, 0.1, width, least)
    numbers = st.floats(0.01, 2.0)
    for part in data.draw(st.lists(st.lists(numbers, min_size=width, max_size=width), max_size=20)):
        chooser.note(np.array(part), 0, asked=False)
    sizes = [1 if criterion.whole else 3 for criterion in criteria]
    scores = [np.array(data.draw(st.lists(numbers, min_size=size, max_size=size))) for size in sizes]
    columns = [column if len(column) == 1 else column[None] for column in scores]
    worth = data.draw(st.floats(0.01, 1.0))
    parts = chooser.weighed(chooser.parts(columns), np.array([worth]))
    purse = Purse(np.array([tok]), np.array([int(tok)]))
    at, mask = chooser.walk(parts, purse, commit=False)
    part, labels = chooser.decide(np.concatenate(scores)[None], worth, 3, tok, int(tok))
    np.testing.assert_allclose(part, parts[0], rtol=1e-12)
    assert (labels is not None) == (at == 0)
    if labels is not None:
        np.testing.assert_array_equal(labels, mask)
