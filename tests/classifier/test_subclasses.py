"""Subclasses of the classifier, as users of scikit-learn write them."""

import copy
import pickle

import numpy as np
from sklearn.base import clone

from evolabel import EvolvingFuzzyClassifier


class FewRules(EvolvingFuzzyClassifier):
    """A classifier whose `__init__` sets its parameters and calls no other."""

    def __init__(self, max_rules=5, threshold=0.5):
        for name, value in EvolvingFuzzyClassifier().get_params().items():
            setattr(self, name, value)
        self.max_rules, self.threshold = max_rules, threshold


def test_an_init_of_its_own_learns_and_is_copied(stream):
    X, Y = stream
    made = clone(FewRules(max_rules=4)).fit(X[:100], Y[:100])
    twins = [copy.copy(made), copy.deepcopy(made), pickle.loads(pickle.dumps(made))]
    for twin in twins:
        np.testing.assert_array_equal(twin.decision_function(X), made.decision_function(X))
    before = made.decision_function(X)
    twins[1].partial_fit(X[100:], Y[100:])
    np.testing.assert_array_equal(made.decision_function(X), before)
