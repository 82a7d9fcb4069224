"""The same stream gives the same bits, however its rows lie in memory."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evolabel import EvolvingFuzzyClassifier
from evolabel.streams import DriftingStream


@settings(max_examples=5, deadline=None)
@given(seed=st.integers(0, 10_000), scaling=st.sampled_from(["quantile", "standard", "minmax", "none"]))
def test_the_same_stream_twice_gives_the_same_bits(seed, scaling, state_of, assert_same_state):
    X, Y = DriftingStream(n_features=3, n_labels=2, drift_every=50, seed=seed).take(100)
    one, two = (EvolvingFuzzyClassifier(scaling=scaling, max_rules=4, warm_up=40).partial_fit(X, Y) for _ in range(2))
    assert_same_state(state_of(one), state_of(two))


@pytest.mark.parametrize(
    "laid_out",
    [np.asfortranarray, lambda a: a[::-1][::-1], lambda a: a.astype(">f8"), lambda a: a.tolist(), np.matrix.view],
    ids=["column major", "strided", "big endian", "lists", "view"],
)
def test_the_layout_of_the_data_makes_no_difference(stream, laid_out, state_of, assert_same_state):
    X, Y = stream
    plain = EvolvingFuzzyClassifier(max_rules=4, warm_up=40).partial_fit(X, Y)
    other = EvolvingFuzzyClassifier(max_rules=4, warm_up=40).partial_fit(laid_out(X), laid_out(Y))
    assert_same_state(state_of(other), state_of(plain))


@pytest.mark.parametrize("kind", [bool, np.int8, np.float32, object])
def test_the_type_of_the_labels_makes_no_difference(stream, kind, state_of, assert_same_state):
    X, Y = stream
    plain = EvolvingFuzzyClassifier(max_rules=4).fit(X, Y)
    other = EvolvingFuzzyClassifier(max_rules=4).fit(X, Y.astype(kind))
    assert_same_state(state_of(other), state_of(plain))
