"""Running moments against the moments of whole sets of samples."""

import numpy as np
from callable_kernels import CallableKernels
from choices import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from naive import moments as naive
from small_rule_bases import make_settings, slot_of

from evolabel.engine.compile import interpreted
from evolabel.stages.rules.arrays import SEEN
from evolabel.stages.rules.loops import antecedents as moments_module
from evolabel.stages.rules.stage import RuleBase

moments = CallableKernels(moments_module)

NUMBERS = st.floats(-100.0, 100.0, allow_subnormal=False)
MASSES = st.just(0.0) | st.floats(1e-3, 1e3)
MISSING = NUMBERS | st.just(np.nan)


def vector(p, elements):
    return hnp.arrays(np.float64, p, elements=elements)


@st.composite
def rule_bases(draw):
    """Two slots with any centres, scatters and counts."""
    p = draw(st.integers(1, 5))
    base = RuleBase(p, 2, make_settings(p, metric=np.stack([np.linspace(0.5, 2.0, p), np.linspace(0.4, 1.6, p)])))
    for slot in (1, 2):
        base.arrays.c[slot] = draw(vector(p, NUMBERS))
        base.arrays.n[slot] = draw(vector(p, MASSES))
        base.arrays.M[slot] = draw(vector(p, MASSES)) * (base.arrays.n[slot] > 0.0)
        base.arrays.k[slot] = draw(MASSES)
    base.arrays.counters[SEEN] = 17
    return base


@settings(max_examples=examples(50), deadline=None)
@given(MASSES, MASSES, st.floats(0.1, 100.0), st.floats(0.01, 100.0))
def test_inverse_variance(n, M, nu0, S0):
    np.testing.assert_allclose(
        moments.inverse_variance(n, M, nu0, S0), naive.inverse_variance(n, M, nu0, S0), rtol=1e-13
    )


@settings(max_examples=examples(100), deadline=None)
@given(st.data(), st.just(np.inf) | st.floats(1.0, 100.0))
def test_absorb_moves_one_slot_by_one_sample(data, most):
    base = data.draw(rule_bases())
    base.settings = base.settings._replace(most_count=most)
    z, weight = data.draw(vector(base.arrays.c.shape[1], MISSING)), data.draw(st.floats(1e-3, 1e3))
    other, expected = slot_of(base.arrays, 2), slot_of(base.arrays, 1)
    naive.update_moments(expected, z, weight, 17, most)
    interpreted(moments_module.update_moments)(1, z, weight, base.arrays, base.settings)
    got = slot_of(base.arrays, 1)
    for name in ("c", "n", "k", "last_won"):
        np.testing.assert_allclose(getattr(got, name), getattr(expected, name), rtol=1e-11, atol=1e-11, err_msg=name)
    np.testing.assert_allclose(got.M, expected.M, rtol=1e-9, atol=1e-9)
    inv = naive.derive_inverse_variance(got, base.settings)
    np.testing.assert_allclose(base.arrays.inv[1], inv, rtol=1e-12)
    np.testing.assert_array_equal(slot_of(base.arrays, 2).c, other.c)


@settings(max_examples=examples(50), deadline=None)
@given(rule_bases())
def test_pooled_moments_are_those_of_both_sets(base):
    expected, other = slot_of(base.arrays, 1), slot_of(base.arrays, 2)
    naive.pool_moments(expected, other)
    moments.pool_moments(1, 2, base.arrays)
    moments.derive_inverse_variance(1, base.arrays, base.settings)
    got = slot_of(base.arrays, 1)
    for name in ("c", "n", "k"):
        np.testing.assert_allclose(getattr(got, name), getattr(expected, name), rtol=1e-11, atol=1e-11, err_msg=name)
    np.testing.assert_allclose(got.M, expected.M, rtol=1e-9, atol=1e-9)
    inv = naive.derive_inverse_variance(got, base.settings)
    np.testing.assert_allclose(base.arrays.inv[1], inv, rtol=1e-12)


@settings(max_examples=examples(50), deadline=None)
@given(rule_bases(), st.floats(1.0, 100.0))
def test_bounded_counts_keep_the_variance(base, most):
    expected, before = slot_of(base.arrays, 1), slot_of(base.arrays, 1)
    naive.bound_counts(expected, np.full(len(expected.n), most))
    moments_module.bound_counts(1, base.arrays, most)
    got = slot_of(base.arrays, 1)
    np.testing.assert_allclose(got.n, expected.n, rtol=1e-13)
    np.testing.assert_allclose(got.M, expected.M, rtol=1e-13)
    np.testing.assert_allclose(got.M * before.n, before.M * got.n, rtol=1e-13)
    assert (got.n <= most).all()


def test_a_centre_follows_samples_that_move_where_counts_are_bounded():
    settings = make_settings(1)
    bases = [RuleBase(1, 1, settings._replace(most_count=most)) for most in (np.inf, 50.0)]
    for base in bases:
        for i in range(1000):
            z = np.array([0.0 if i < 800 else 3.0])
            interpreted(moments_module.update_moments)(1, z, 1.0, base.arrays, base.settings)
    held, following = (float(base.arrays.c[1, 0]) for base in bases)
    assert held < 0.7
    assert following > 2.9


@settings(max_examples=examples(25), deadline=None)
@given(hnp.arrays(np.float64, (7, 3), elements=NUMBERS), hnp.arrays(np.float64, 7, elements=st.floats(0.1, 10.0)))
def test_absorbing_samples_gives_their_weighted_mean_and_scatter(Z, weights):
    base = RuleBase(3, 1, make_settings(3))
    for z, weight in zip(Z, weights, strict=True):
        interpreted(moments_module.update_moments)(1, z, weight, base.arrays, base.settings)
    mean = np.average(Z, axis=0, weights=weights)
    np.testing.assert_allclose(base.arrays.c[1], mean, rtol=1e-12, atol=1e-11)
    np.testing.assert_allclose(base.arrays.M[1], weights @ (Z - mean) ** 2, rtol=1e-10, atol=1e-8)
    np.testing.assert_allclose(base.arrays.k[1], weights.sum(), rtol=1e-13)
