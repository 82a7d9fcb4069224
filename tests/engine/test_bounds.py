"""Checks of raw rows against whole-array formulas."""

import numpy as np
from choices import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from naive import bounds as naive

from evolabel.engine import values as bounds

SHAPES = st.tuples(st.integers(0, 4), st.integers(1, 3))
SAMPLES = hnp.arrays(np.float64, SHAPES, elements=st.sampled_from([0.0, 1e300, np.nan, np.nan, np.inf, -np.inf]))
LABELS = hnp.arrays(np.float64, SHAPES, elements=st.sampled_from([0.0, 1.0, 1.0, np.nan, 0.5, np.inf, -1.0]))


@settings(max_examples=examples(50), deadline=None)
@given(SAMPLES)
def test_first_bad_sample(X):
    assert bounds.first_bad_sample(X) == naive.first_bad_sample(X)


@settings(max_examples=examples(50), deadline=None)
@given(LABELS)
def test_first_bad_label(Y):
    assert bounds.first_bad_label(Y) == naive.first_bad_label(Y)


@settings(max_examples=examples(50), deadline=None)
@given(SAMPLES, LABELS)
def test_rows_are_usable_if_nothing_is_bad(X, Y):
    assert bounds.are_usable(X, Y) == (naive.first_bad_sample(X)[0] < 0 and naive.first_bad_label(Y)[0] < 0)


def test_what_counts_as_bad():
    assert bounds.first_bad_sample(np.array([[1.0, np.nan], [np.nan, -np.inf]])) == (1, 1)
    assert bounds.first_bad_sample(np.array([[1.0, np.nan], [np.nan, np.nan], [np.inf, 0.0]])) == (1, -1)
    assert bounds.first_bad_sample(np.array([[1.0, np.nan]])) == (-1, -1)
    assert bounds.first_bad_label(np.array([[1.0, np.nan], [0.0, 2.0]])) == (1, 1)
    assert bounds.first_bad_label(np.array([[1.0, np.nan, 0.0]])) == (-1, -1)
