"""Trained classifiers that no test changes."""

import pytest
from pump_stream import FEATURES, LABELS, pump_rows

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


@pytest.fixture(scope="session")
def pump():
    """A classifier with threshold rules for one label of two, where the pressure is sometimes missing; to be read."""
    X, Y = pump_rows(missing=0.04)
    return EvolvingFuzzyClassifier().partial_fit(X, Y).name_columns(FEATURES, LABELS)
