"""Distances and memberships against direct formulas."""

import numpy as np
from callable_kernels import CallableKernels
from choices import examples
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from naive import memberships as naive

from evolabel.stages.rules.loops import antecedents as memberships_module

memberships = CallableKernels(memberships_module)

NUMBERS = st.floats(-100.0, 100.0, allow_subnormal=False)


@st.composite
def samples(draw):
    """A row with missing features, and rules."""
    p, C = draw(st.integers(1, 6)), draw(st.integers(1, 6))
    z = draw(hnp.arrays(np.float64, p, elements=NUMBERS | st.just(np.nan)))
    assume(not np.isnan(z).all())
    c = draw(hnp.arrays(np.float64, (C + 1, p), elements=NUMBERS))
    inv = draw(hnp.arrays(np.float64, (C + 1, p), elements=st.floats(0.01, 100.0)))
    lam = draw(st.just(np.ones(p)) | hnp.arrays(np.float64, p, elements=st.floats(0.1, 4.0)))
    return z, C, c, inv, lam / lam.mean()


def spread(D, tau, min_activation):
    """The kernel's memberships as one entry per rule."""
    C = len(D) - 1
    psi, active = np.full(C + 1, np.nan), np.full(C + 1, -1)
    m = memberships.memberships(D, C, tau, min_activation, psi, active)
    full = np.zeros(C)
    full[active[:m] - 1] = psi[:m]
    return full


@settings(max_examples=examples(50), deadline=None)
@given(samples())
def test_distances_leave_missing_features_out(sample):
    z, C, c, inv, lam = sample
    D = np.full(C + 1, np.nan)
    memberships.distances(z, C, c, inv, lam, D)
    np.testing.assert_allclose(D[1:], naive.distances(z, c[1:], inv[1:], lam), rtol=1e-12)
    np.testing.assert_allclose(memberships.observed_weight(z, lam), naive.observed_weight(z, lam), rtol=1e-12)
    assert memberships.observed_features(z) == naive.observed_features(z)


@settings(max_examples=examples(50), deadline=None)
@given(hnp.arrays(np.float64, st.integers(2, 8), elements=st.floats(0.0, 1e4)))
def test_nearest_takes_the_first_of_the_smallest(D):
    assert memberships.nearest(D, len(D) - 1) == 1 + naive.nearest(D[1:])


def test_without_rules_nothing_is_nearest_and_nothing_active():
    D, psi, active = np.zeros(1), np.zeros(1), np.zeros(1, np.int64)
    assert memberships.nearest(D, 0) == 0
    assert memberships.memberships(D, 0, 0.1, 0.03, psi, active) == 0


@settings(max_examples=examples(50), deadline=None)
@given(
    hnp.arrays(np.float64, st.integers(2, 8), elements=st.floats(0.0, 3.0)),
    st.floats(0.01, 10.0),
    st.sampled_from([0.0, 0.031, 0.213, 1.0]),
)
def test_memberships_are_a_softmax_of_the_active_rules(D, tau, min_activation):
    share = naive.memberships(D[1:], tau, 0.0)
    assume((np.abs(share - min_activation) > 1e-9).all() or len(share) == 1)
    psi = spread(D, tau, min_activation)
    np.testing.assert_allclose(psi, naive.memberships(D[1:], tau, min_activation), rtol=1e-11, atol=1e-300)
    assert abs(psi.sum() - 1.0) < 1e-14 * len(D)


@settings(max_examples=examples(25), deadline=None)
@given(hnp.arrays(np.float64, 5, elements=st.floats(0.0, 1e12)))
def test_memberships_sum_to_one_however_far_the_sample(D):
    psi = spread(D, 0.1, 0.03)
    assert abs(psi.sum() - 1.0) < 1e-14
    assert psi[np.argmin(D[1:])] == psi.max()
