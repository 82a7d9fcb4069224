"""The default classifier keeps its accuracy on the paper's data sets, benchmark protocol, seed 0."""

import accuracy
import pytest
from choices import all_but
from shared import datasets


@pytest.mark.data
@pytest.mark.compiled
@pytest.mark.parametrize("name", all_but(datasets.NAMES, "mediamill-5k"))
def test_defaults_keep_the_floor(name):
    result = accuracy.score(name, seed=0)
    pa, ap = accuracy.FLOOR[name]
    assert result["pa"] > pa - 0.002
    assert result["ap"] > ap - 0.004
    assert result["rules"] <= 30
