"""When rules are compared and which pair costs least to unite; the triangle that is copied."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from paper_rule_bases import random_rules

from evolabel.kernels import reference_paper as naive
from evolabel.kernels import structure, symmetric
from evolabel.kernels.state import RULES

SEEDS = st.integers(0, 10_000)


@settings(max_examples=40, deadline=None)
@given(SEEDS, st.integers(1, 4), st.sampled_from([0, 1, 32]))
def test_has_grown(seed, rules, every):
    rng = np.random.default_rng(seed)
    base = random_rules(rng, 3, 2, 4)
    base.arrays.tally[RULES] = rules
    base.arrays.compared[1:5] = rng.integers(0, 30, size=4)
    options = base.settings._replace(merge_every=every)
    for slot in range(1, 5):
        expected = naive.has_grown(slot, base.arrays, options)
        assert structure.has_grown(slot, base.arrays, options) == expected


def test_a_rule_has_grown_at_the_very_number():
    base = random_rules(np.random.default_rng(0), 3, 2, 2)
    options = base.settings._replace(merge_every=32)
    base.arrays.k[1], base.arrays.compared[1] = 40.0, 8.0
    assert structure.has_grown(1, base.arrays, options)
    base.arrays.k[1] = 39.99
    assert not structure.has_grown(1, base.arrays, options)


@settings(max_examples=40, deadline=None)
@given(SEEDS, st.integers(2, 7), st.integers(1, 4))
def test_ward_pair(seed, rules, d):
    rng = np.random.default_rng(seed)
    c, variance, k = rng.normal(size=(rules, d)), rng.uniform(0.1, 2.0, (rules, d)), rng.uniform(0.5, 50.0, rules)
    found = structure.ward_pair(c, variance, k)
    cost = naive.ward(*found, c, variance, k)
    np.testing.assert_allclose(cost, naive.ward(*naive.ward_pair(c, variance, k), c, variance, k), rtol=1e-12)
    assert found[0] < found[1]


@settings(max_examples=20, deadline=None)
@given(SEEDS, st.integers(1, 9))
def test_mirror(seed, n):
    A = np.random.default_rng(seed).normal(size=(n, n))
    expected = naive.mirror(A)
    symmetric.mirror(A)
    np.testing.assert_array_equal(A, expected)
