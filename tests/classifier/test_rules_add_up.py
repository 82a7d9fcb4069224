"""Every sample is shared out among the rules: their statistics add up to those of the whole stream, merges included."""

import numpy as np
import pytest

from evolabel import EvolvingFuzzyClassifier


def assert_rules_add_up(clf):
    rules = clf.inner.any_model.rules
    slots = range(1, rules.n_rules + 1)
    np.testing.assert_allclose(sum(rules.hessian(slot) for slot in slots), rules.hessian(0), atol=1e-8)
    np.testing.assert_allclose(sum(rules.arrays.G[slot] for slot in slots), rules.arrays.G[0], atol=1e-8)
    np.testing.assert_allclose(sum(rules.arrays.k[slot] for slot in slots), rules.arrays.k[0], atol=1e-8)


@pytest.mark.parametrize("max_rules", [1, 3, 20])
def test_rules_add_up_to_the_stream(stream, max_rules):
    X, Y = stream
    assert_rules_add_up(EvolvingFuzzyClassifier(max_rules=max_rules).fit(X[:60], Y[:60]).partial_fit(X[60:], Y[60:]))


def test_rules_add_up_after_a_full_rule_base_made_room(stream):
    X, Y = stream[0].copy(), stream[1]
    X[100:] += 40.0
    clf = EvolvingFuzzyClassifier(max_rules=3, scaling="none").fit(X[:90], Y[:90]).partial_fit(X[90:], Y[90:])
    assert "merge" in {event.kind for event in clf.events_}
    assert_rules_add_up(clf)


def test_rules_add_up_after_uniting_two_classifiers(trained, stream):
    trained.merge(trained.sibling().partial_fit(*stream))
    assert "merge" in {event.kind for event in trained.events_}
    assert_rules_add_up(trained)
