"""Scores of the demonstration are those of scikit-learn, and their ranges hold them."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import accuracy_score, f1_score

from evolabel.demo.standing import standing


@given(st.integers(0, 10_000), st.floats(0.0, 0.5), st.integers(120, 700))
def test_scores_are_those_of_scikit_learn(seed, flipped, n):
    rng = np.random.default_rng(seed)
    Y = (rng.random((n, 3)) < [0.3, 0.1, 0.02]).astype(float)
    decided = (Y > 0.5) ^ (rng.random((n, 3)) < flipped)
    found = standing("any", decided, Y, seconds=n / 1000.0)
    assert np.isclose(found.macro_f1.value, f1_score(Y, decided, average="macro", zero_division=0.0), atol=1e-4)
    assert np.isclose(found.accuracy.value, accuracy_score(Y.ravel(), decided.ravel()), atol=1e-4)
    assert found.accuracy.low - 0.03 <= found.accuracy.value <= found.accuracy.high + 0.03
    assert found.ms_per_row == 1.0


def test_deciding_nothing_finds_no_fault():
    Y = np.zeros((300, 2))
    Y[::10, 0] = 1.0
    found = standing("none", np.zeros(Y.shape, bool), Y, 0.0)
    assert (found.macro_f1.value, found.accuracy.value) == (0.0, 0.95)
