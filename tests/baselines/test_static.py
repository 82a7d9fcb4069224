"""A static classifier learns its initial batch and nothing else."""

import numpy as np
import pytest

from evolabel import EvolvingFuzzyClassifier
from evolabel.baselines import GlobalRLS, StaticClassifier
from evolabel.errors import ParameterError


@pytest.mark.parametrize("base", [None, EvolvingFuzzyClassifier(max_rules=3), GlobalRLS()])
def test_answers_as_after_the_initial_batch_for_ever(base, stream):
    X, Y = stream
    learner = StaticClassifier(base).fit(X[:60], Y[:60])
    expected = (EvolvingFuzzyClassifier() if base is None else base).fit(X[:60], Y[:60]).decision_function(X)
    np.testing.assert_array_equal(learner.decision_function(X), expected)
    np.testing.assert_array_equal(learner.test_then_train(X, Y), expected)
    np.testing.assert_array_equal(learner.partial_fit(X, Y).decision_function(X), expected)


def test_labels_that_appear_score_zero(stream):
    X, Y = stream
    learner = StaticClassifier().fit(X[:60], Y[:60, :1])
    scores = learner.partial_fit(X, Y[:, :2]).partial_fit(X, Y).decision_function(X)
    assert scores.shape == Y.shape
    np.testing.assert_array_equal(scores[:, 1:], 0.0)


def test_counts_the_rules_it_has(stream):
    assert StaticClassifier().fit(*stream).n_rules_ > 0
    assert not hasattr(StaticClassifier(GlobalRLS()).fit(*stream), "n_rules_")


def test_needs_a_learner(stream):
    with pytest.raises(ParameterError, match="use an estimator with fit"):
        StaticClassifier("forest").fit(*stream)
