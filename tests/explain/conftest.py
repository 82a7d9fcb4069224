"""Trained classifiers that no test changes."""

import pytest

from evolabel import EvolvingFuzzyClassifier


@pytest.fixture(scope="session")
def six_rules(stream):
    """A classifier with six axis-parallel rules, for reading only."""
    X, Y = stream
    return EvolvingFuzzyClassifier(max_rules=6).fit(X[:60], Y[:60]).partial_fit(X[60:], Y[60:])


@pytest.fixture(scope="session")
def rotated_rules(stream):
    """A classifier of the paper's profile, for reading only."""
    return EvolvingFuzzyClassifier.paper(vigilance=0.5, scaling="standard").fit(*stream)
