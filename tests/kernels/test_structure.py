"""When a sample is novel and when a rule has starved."""

import numpy as np
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from small_rule_bases import learned, make_settings, naive_of

from evolabel.kernels import reference, structure
from evolabel.kernels.state import SEEN

DISTANCES = st.floats(0.0, 100.0)


@settings(max_examples=40, deadline=None)
@given(hnp.arrays(np.float64, st.integers(1, 30), elements=DISTANCES), st.sampled_from([0.0, 190.0]))
def test_winner_distances_are_noted_as_mean_and_variance(D, already):
    strange = np.array([already, 3.0, 2.0])
    expected = strange.copy()
    for d in D:
        structure.note_winner_distance(d, strange)
        expected = reference.note_winner_distance(d, expected)
    np.testing.assert_allclose(strange, expected, rtol=1e-9, atol=1e-9)


def test_up_to_the_window_it_is_the_plain_mean_and_variance():
    D = np.random.default_rng(0).exponential(size=int(structure.STRANGE_WINDOW))
    strange = np.zeros(3)
    for d in D:
        structure.note_winner_distance(d, strange)
    np.testing.assert_allclose(strange, [len(D), D.mean(), D.var()], rtol=1e-12)


@settings(max_examples=50, deadline=None)
@given(
    DISTANCES,
    st.floats(0.01, 1000.0),
    st.integers(1, 5),
    st.sampled_from([1, 5, 9]),
    st.tuples(st.sampled_from([0.0, 50.0, 51.0, 400.0]), DISTANCES, DISTANCES),
)
def test_is_novel(d, support, C, max_rules, strange):
    assume(max_rules >= C)
    options, strange = make_settings(3, max_rules=max_rules, novel_z=2.0), np.array(strange)
    assert structure.is_novel(d, support, C, strange, options) == reference.is_novel(d, support, C, strange, options)


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


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 5), st.integers(0, 80), st.sampled_from([0, 10, 40]), st.sampled_from([0.0, 8.0, 1e9]))
def test_starving(seed, later, prune_after, min_support):
    base = learned(seed, rows=60, drift_every=20)
    base.arrays.tally[SEEN] += later
    options = base.settings._replace(prune_after=prune_after, min_support=min_support)
    twin = naive_of(base)
    twin.settings = options
    assert structure.any_starved(base.arrays, options) == reference.any_starved(twin)
    for a, rule in enumerate(twin.rules, start=1):
        assert structure.is_starved(a, base.arrays, options) == reference.is_starved(rule, twin.seen, options)
