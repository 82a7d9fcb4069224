"""One evolving classifier per label is that many classifiers apart."""

import numpy as np
import pytest

from evolabel import EvolvingFuzzyClassifier
from evolabel.baselines import GlobalRLS
from evolabel.errors import ParameterError
from evolabel.paper import EvolvingOneVsRest

INITIAL = 60
BASES = {
    "default": lambda: EvolvingFuzzyClassifier(max_rules=6, memory=None),
    "paper": lambda: EvolvingFuzzyClassifier.paper(alpha=0.0, beta=0.0, prox_steps=0),
}


@pytest.mark.parametrize("base", BASES.values(), ids=BASES.keys())
def test_equals_separate_classifiers(base, stream):
    X, Y = stream
    together = EvolvingOneVsRest(base()).fit(X[:INITIAL], Y[:INITIAL])
    scores = together.test_then_train(X[INITIAL:], Y[INITIAL:])
    apart = [base().fit(X[:INITIAL], Y[:INITIAL, [k]]) for k in range(3)]
    expected = [one.test_then_train(X[INITIAL:], Y[INITIAL:, [k]]) for k, one in enumerate(apart)]
    np.testing.assert_array_equal(scores, np.hstack(expected))
    assert together.n_rules_ == sum(one.n_rules_ for one in apart)


def test_rows_at_once_are_scored_as_one_by_one_where_answers_persist():
    Y = np.repeat(np.arange(20) % 2.0, 15)[:, None]
    X = np.random.default_rng(0).normal(size=(300, 2))
    whole, single = (EvolvingOneVsRest().fit(X[:150], Y[:150]) for _ in range(2))
    scores = whole.test_then_train(X[150:], Y[150:])
    for i in range(150, 300):
        np.testing.assert_array_equal(single.decision_function(X[[i]])[0], scores[i - 150])
        single.partial_fit(X[[i]], Y[[i]])


def test_a_label_skips_the_rows_without_its_annotation(gappy_stream):
    X, Y = gappy_stream
    learner = EvolvingOneVsRest().fit(X[:INITIAL], Y[:INITIAL]).partial_fit(X[INITIAL:], Y[INITIAL:])
    for k in range(3):
        known = ~np.isnan(Y[:, k])
        first, rest = known & (np.arange(len(X)) < INITIAL), known & (np.arange(len(X)) >= INITIAL)
        one = EvolvingFuzzyClassifier().fit(X[first], Y[first][:, [k]]).partial_fit(X[rest], Y[rest][:, [k]])
        np.testing.assert_array_equal(learner.decision_function(X)[:, [k]], one.decision_function(X))


def test_a_label_unknown_in_the_initial_batch_starts_cold(stream):
    X, Y = stream
    unknown = Y.copy()
    unknown[:INITIAL, 2] = np.nan
    base = EvolvingFuzzyClassifier(warm_up=20)
    learner = EvolvingOneVsRest(base).fit(X[:INITIAL], unknown[:INITIAL])
    np.testing.assert_array_equal(learner.decision_function(X)[:, 2], 0.0)
    rules = learner.n_rules_
    scores = learner.test_then_train(X[INITIAL:], unknown[INITIAL:])
    cold = EvolvingFuzzyClassifier(warm_up=20).test_then_train(X[INITIAL:], Y[INITIAL:, [2]])
    np.testing.assert_array_equal(scores[:, [2]], cold)
    assert learner.n_rules_ > rules


def test_the_base_itself_learns_nothing(stream):
    base = EvolvingFuzzyClassifier(max_rules=3)
    learner = EvolvingOneVsRest(base).fit(*stream)
    assert learner.base is base
    assert not hasattr(base, "n_features_in_")


def test_only_evolving_classifiers_can_be_the_base(stream):
    with pytest.raises(ParameterError, match="use an EvolvingFuzzyClassifier"):
        EvolvingOneVsRest(GlobalRLS()).fit(*stream)
