"""A rule about the edge of the stream can be written down and read again, whatever was added before."""

import numpy as np
import pytest

from evolabel import EvolvingFuzzyClassifier
from evolabel.errors import DataError


@pytest.fixture
def book():
    rng = np.random.default_rng(3)
    X = rng.gamma(4.0, 1.2, size=(400, 3))
    Y = np.column_stack([X[:, 0] < 2.0, X[:, 1] > 6.0]).astype(float)
    return EvolvingFuzzyClassifier(threshold_rules=False).fit(X, Y).rulebook, float(np.quantile(X[:, 0], 0.02)), X


def test_an_open_range_near_the_edge_is_read_back(book):
    rules, edge, _ = book
    rules.add(f'IF x0 BELOW {edge:.3f} THEN label0 95%, label1 5% WEIGHT 60 CALLED "dry"')
    for _ in range(3):
        rules.edit("dry", str(rules.form("dry")))
    rules.add(f"IF x0 BELOW {edge:.3f} THEN label0 95%, label1 5%")


def test_an_open_range_outside_of_the_stream_is_still_refused(book):
    rules, _, X = book
    with pytest.raises(DataError, match="outside of the stream"):
        rules.add(f"IF x0 ABOVE {10 * X[:, 0].max():.3f} THEN label0 95%, label1 5%")
