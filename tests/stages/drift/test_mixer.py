"""The kernels of the mixer against their plain twin."""

import numpy as np
import pytest
from callable_kernels import CallableKernels
from choices import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from naive import members as naive
from small_members import small_members

from evolabel.engine.packed_state import pack
from evolabel.stages.drift.arrays import FAST, FINAL, LINEAR, SLOW
from evolabel.stages.drift.loops import members as mixer_module

mixer = CallableKernels(mixer_module)

LOSSES = hnp.arrays(np.float64, (3, 4), elements=st.floats(0.0, 1.0))


def twin_of(losses):
    twin = naive.NaiveMixer()
    twin.losses = list(losses)
    return twin


@settings(max_examples=examples(60))
@given(LOSSES, st.booleans())
def test_weights_are_those_of_the_twin(L, has_fast):
    w = np.full((3, 4), np.nan)
    mixer.mixer_weights(L, has_fast, False, w)
    for b in range(4):
        np.testing.assert_allclose(w[:, b], twin_of(L[:, b]).weights(has_fast), rtol=1e-12, atol=1e-15)
    np.testing.assert_allclose(w.sum(axis=0), 1.0, rtol=1e-14)
    assert has_fast or not w[FAST].any()


@settings(max_examples=examples(20))
@given(LOSSES, st.booleans())
def test_classes_have_the_weights_of_their_mean_losses(L, has_fast):
    w = np.full((3, 4), np.nan)
    mixer.mixer_weights(L, has_fast, True, w)
    expected = twin_of(L.mean(axis=1)).weights(has_fast)
    np.testing.assert_allclose(w, np.tile(np.array(expected)[:, None], 4), rtol=1e-9, atol=1e-12)


def test_the_slow_member_answers_nearly_alone_where_all_are_as_good():
    w = np.empty((3, 1))
    mixer.mixer_weights(np.full((3, 1), 0.1), True, False, w)
    assert w[SLOW, 0] > 0.95
    mixer.mixer_weights(np.array([[0.1], [0.05], [0.1]]), True, False, w)
    assert w[FAST, 0] > 0.999


@settings(max_examples=examples(20))
@given(st.integers(0, 10_000), st.sampled_from([1.0, 0.1]), st.integers(1, 400))
def test_losses_are_those_of_the_twin(seed, least_weight, answers):
    rng = np.random.default_rng(seed)
    members = small_members(1, 2, rng)
    packed, twins = pack(members), [naive.NaiveMixer() for _ in range(2)]
    for _ in range(answers):
        members.F[:] = rng.normal(0.5, 0.5, members.F.shape)
        for b in np.flatnonzero(rng.random(2) < 0.7).tolist():
            y, g = float(rng.random() < 0.5), rng.uniform(least_weight, 2.0 - least_weight)
            mixer.learn_losses(b, y, g, packed)
            twins[b].learn(members.F[:3, b], y, g)
    np.testing.assert_allclose(members.arrays.losses.T, [twin.losses for twin in twins], rtol=1e-10)
    np.testing.assert_allclose(members.arrays.n_losses, [twin.n for twin in twins], rtol=1e-12)


@settings(max_examples=examples(30))
@given(st.integers(0, 10_000), st.booleans())
def test_many_rows_are_mixed_as_one_row_is(seed, has_fast):
    rng = np.random.default_rng(seed)
    members = small_members(3, 2, rng, has_fast=has_fast)
    members.arrays.W[:], members.arrays.mean[:], members.arrays.variance[:] = (
        rng.normal(size=(2, 4)),
        rng.normal(size=3),
        rng.uniform(1, 2, 3),
    )
    members.arrays.losses[:] = rng.uniform(0.05, 0.15, (3, 2))
    slow, fast, X = rng.random((5, 2)), rng.random((5, 2)), rng.normal(size=(5, 3))
    X[1, 2] = np.nan
    out, formed = slow.copy(), np.empty((5, 2))
    mixer.mix_rows(pack(members), X, fast, False, out)
    w = members.w.copy()
    part = w[FAST] / (w[SLOW] + w[FAST])
    formed[:] = (1.0 - part) * slow + part * fast
    mixer.mix_rows(pack(members), X, np.empty((0, 0)), True, formed)
    for i in range(5):
        linear = 1.0 / (
            1.0 + np.exp(-members.arrays.W @ naive.standard_scores(X[i], members.arrays.mean, members.arrays.variance))
        )
        for b in range(2):
            weights = twin_of(members.arrays.losses[:, b]).weights(has_fast)
            expected = weights[0] * slow[i, b] + weights[1] * fast[i, b] + weights[2] * linear[b]
            assert out[i, b] == pytest.approx(expected, rel=1e-12)
            assert formed[i, b] == pytest.approx(expected, rel=1e-12)
    F = np.array(
        [
            slow[0],
            fast[0] if has_fast else np.zeros(2),
            1.0 / (1.0 + np.exp(-members.arrays.W @ members.s)),
            np.zeros(2),
        ]
    )
    members.F[:] = F
    mixer.mix(w, members.F)
    np.testing.assert_allclose(members.F[FINAL], (w * F[: LINEAR + 1]).sum(axis=0), rtol=1e-14)
