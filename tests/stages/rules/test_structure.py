"""When a sample is novel, when a rule has starved or grown, and which pair costs least to unite."""

import numpy as np
from callable_kernels import CallableKernels
from choices import examples
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from naive import structure as naive
from small_rule_bases import learned, make_settings, naive_of

from evolabel.stages.rules.arrays import SEEN
from evolabel.stages.rules.loops import antecedents as structure_module

structure = CallableKernels(structure_module)

SEEDS = st.integers(0, 10_000)
DISTANCES = st.floats(0.0, 100.0)


@settings(max_examples=examples(40), deadline=None)
@given(hnp.arrays(np.float64, st.integers(1, 30), elements=DISTANCES), st.sampled_from([0.0, 190.0]))
def test_winner_distances_are_noted_as_mean_and_variance(D, already):
    winner_stats = np.array([already, 3.0, 2.0])
    expected = winner_stats.copy()
    for d in D:
        structure.update_winner_stats(d, winner_stats)
        expected = naive.update_winner_stats(d, expected)
    np.testing.assert_allclose(winner_stats, expected, rtol=1e-9, atol=1e-9)


def test_up_to_the_window_it_is_the_plain_mean_and_variance():
    D = np.random.default_rng(0).exponential(size=int(structure.WINNER_WINDOW))
    winner_stats = np.zeros(3)
    for d in D:
        structure.update_winner_stats(d, winner_stats)
    np.testing.assert_allclose(winner_stats, [len(D), D.mean(), D.var()], rtol=1e-12)


@settings(max_examples=examples(100), deadline=None)
@given(
    st.sampled_from([0.0, 0.5, 0.95, 1.05, 1.15, 3.0]),
    st.floats(0.01, 1000.0),
    st.integers(1, 5),
    st.sampled_from([1, 5, 9]),
    st.tuples(st.sampled_from([0.0, 50.0, 51.0, 400.0]), DISTANCES, DISTANCES),
)
def test_is_novel(share, support, C, max_rules, winner_stats):
    """Distances on either side of the bound, so that another bound is noticed."""
    assume(max_rules >= C)
    options, winner_stats = make_settings(3, max_rules=max_rules, novel_z=2.0), np.array(winner_stats)
    bound = structure.novelty_bound(support, C, winner_stats, options)
    d = share * bound if np.isfinite(bound) else share
    given = d, support, C, winner_stats, options
    assert structure.is_novel(*given) == naive.is_novel(*given) == (share > 1.0 and bool(np.isfinite(bound)))


def test_the_edges_of_novelty():
    calm, room = np.array([60.0, 1.0, 0.25]), make_settings(3, max_rules=9)
    radius = 0.5 * 1.5**4
    assert structure.is_novel(radius * 1.001, 2.0, 5, calm, room)
    assert not structure.is_novel(radius * 0.999, 2.0, 5, calm, room)
    full = make_settings(3, max_rules=5)
    assert structure.is_novel(4.01, 2.0, 5, calm, full)  # 1 + 6 * 0.5
    assert not structure.is_novel(3.99, 2.0, 5, calm, full)
    assert not structure.is_novel(1e9, 2.0, 5, np.array([50.0, 1.0, 0.25]), full)
    assert not structure.is_novel(1e9, 2.0, 1, calm, make_settings(3, max_rules=1))


@settings(max_examples=examples(30), deadline=None)
@given(st.integers(0, 5), st.integers(0, 80), st.sampled_from([0, 10, 40]), st.sampled_from([0.0, 8.0, 1e9]))
def test_starving(seed, later, prune_after, min_support):
    base = learned(seed, rows=60, drift_every=20)
    base.arrays.counters[SEEN] += later
    options = base.settings._replace(prune_after=prune_after, min_support=min_support)
    twin = naive_of(base)
    twin.settings = options
    assert structure.any_inactive(base.arrays, options) == naive.any_inactive(twin)
    for a, rule in enumerate(twin.rules, start=1):
        assert structure.is_inactive(a, base.arrays, options) == naive.is_inactive(rule, twin.seen, options)


@settings(max_examples=examples(40), deadline=None)
@given(SEEDS, st.integers(2, 7), st.integers(1, 4))
def test_ward_pair(seed, rules, d):
    rng = np.random.default_rng(seed)
    c, variance, k = rng.normal(size=(rules, d)), rng.uniform(0.1, 2.0, (rules, d)), rng.uniform(0.5, 50.0, rules)
    found = structure.ward_pair(c, variance, k)
    cost = naive.ward(*found, c, variance, k)
    np.testing.assert_allclose(cost, naive.ward(*naive.ward_pair(c, variance, k), c, variance, k), rtol=1e-12)
    assert found[0] < found[1]
