"""The small kernels of the two loops, and the loops themselves on states of any history."""

import copy

import numpy as np
import pytest
from callable_kernels import CallableKernels
from choices import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from naive import learn as naive
from small_rule_bases import (
    NO_ROWS,
    NOTHING,
    assert_close,
    assert_same_rules,
    empty_twin,
    learned,
    make_settings,
    make_stream,
    naive_of,
    with_gaps,
)

from evolabel.core.rows import Batch
from evolabel.stages.rules.arrays import DONE, DUE, INACTIVE, NOVEL
from evolabel.stages.rules.loops import consequents as consequents_module
from evolabel.stages.rules.loops import learn as learn_module
from evolabel.stages.rules.stage import RuleBase

consequents, learn = CallableKernels(consequents_module), CallableKernels(learn_module)

NUMBERS = st.floats(-5.0, 5.0, allow_subnormal=False)


@settings(max_examples=examples(40), deadline=None)
@given(
    hnp.arrays(np.float64, 4, elements=st.sampled_from([0.0, 1.0, np.nan])),
    hnp.arrays(np.float64, 4, elements=st.floats(0.0, 1.0)) | st.just(np.empty(0)),
)
def test_confidence_of_row(y, given_confidence):
    confidence = np.full(4, np.nan)
    share = learn.confidence_of_row(y, given_confidence, confidence)
    expected, mean = naive.confidence_of_row(y, given_confidence)
    np.testing.assert_array_equal(confidence, expected)
    assert share == pytest.approx(mean, rel=1e-15)


@settings(max_examples=examples(25), deadline=None)
@given(st.integers(0, 5), st.integers(1, 40), hnp.arrays(np.float64, 5, elements=NUMBERS))
def test_add_global_output(seed, rows, v):
    arrays = learned(seed, rows).arrays
    f, t = np.ones(3), np.empty(5)
    expected = naive.add_global_output(v, arrays.P[0], arrays.pending_P[0], int(arrays.n_pending[0]), arrays.G[0], f)
    consequents.add_global_output(v, arrays.P[0], arrays.pending_P[0], int(arrays.n_pending[0]), arrays.G[0], t, f)
    np.testing.assert_allclose(f, expected, rtol=1e-11, atol=1e-12)


@settings(max_examples=examples(25), deadline=None)
@given(
    st.floats(0.0, 1.0), hnp.arrays(np.float64, (4, 3), elements=NUMBERS), hnp.arrays(np.float64, 4, elements=NUMBERS)
)
def test_add_rule_output(psi, A, f):
    u, v, gamma = A[0], A[1], np.abs(A[2])
    expected_v, expected_f = naive.add_rule_output(psi, u, A, gamma, v, f)
    v, f = v.copy(), f.copy()
    consequents.add_rule_output(psi, u, A, gamma, v, f)
    np.testing.assert_allclose(v, expected_v, rtol=1e-12, atol=1e-13)
    np.testing.assert_allclose(f, expected_f, rtol=1e-12, atol=1e-12)


@settings(max_examples=examples(25), deadline=None)
@given(st.integers(0, 5), st.integers(1, 60), st.integers(0, 60))
def test_any_due(seed, rows, upkeep_every):
    base = learned(seed, rows)
    active = np.arange(base.n_rules + 1)
    twin = naive_of(base)
    due = naive.any_due([twin.whole, *twin.rules], upkeep_every)
    assert consequents.any_due(base.n_rules, active, base.arrays.age, upkeep_every) == due


@settings(max_examples=examples(25), deadline=None)
@given(st.integers(0, 20), st.integers(1, 120), hnp.arrays(np.float64, (3, 4), elements=NUMBERS), st.data())
def test_answers_of_any_state(seed, rows, Z, data):
    base = learned(seed, rows, min_activation=data.draw(st.sampled_from([0.0, 0.03, 0.3])))
    gaps = data.draw(hnp.arrays(np.bool_, (3, 4)))
    Z[gaps & ~gaps.all(axis=1)[:, None]] = np.nan
    twin, before = naive_of(base), copy.deepcopy(base.arrays)
    psi, far = base.memberships(Z)
    expected_psi, expected_far = naive.membership_rows(Z, twin)
    np.testing.assert_allclose(far, expected_far, rtol=1e-11)
    np.testing.assert_allclose(psi, expected_psi, rtol=1e-9, atol=1e-14)
    assert_close(base.outputs(Z), naive.output_rows(Z, twin), 1e-10)
    for name, array in before._asdict().items():
        np.testing.assert_array_equal(getattr(base.arrays, name), array, err_msg=name)


@settings(max_examples=examples(25), deadline=None)
@given(
    st.integers(0, 1000),
    st.sampled_from([0.0, 0.2]),
    st.sampled_from([0.0, 0.2]),
    st.integers(2, 12),
    st.sampled_from([np.inf, 3.0]),
)
def test_learning_short_streams(seed, features, labels, upkeep_every, most):
    Z, Y = with_gaps(*make_stream(seed, rows=25, drift_every=6), seed, features, labels)
    rare = {"max_rules": 3, "upkeep_every": upkeep_every, "prune_after": 5, "most_count": most}
    options = make_settings(4, radius=0.2, **rare)
    base, out = RuleBase(4, 3, options), np.empty(Y.shape)
    twin = empty_twin(base)
    base.learn(Batch(Z, Y, outputs=out))
    assert_close(out, naive.learn_rows(Z, Y, NOTHING, NO_ROWS, twin), 1e-9)
    assert_same_rules(base, twin, 1e-9)


def test_why_the_loop_comes_back():
    Z, Y = make_stream(0, rows=40)
    base = learned(0, rows=40, upkeep_every=7)

    def go(settings, rows=1):
        tried = copy.deepcopy(base)
        tried.settings = settings
        flags = {"structure": True, "consequents": True, "born": False}
        return learn_module.learn_alone(
            tried.packed, Z[:rows], Y[:rows], NOTHING, NO_ROWS, 1.0, *flags.values(), NO_ROWS
        )

    calm = base.settings._replace(radius=1e9, upkeep_every=10**6, max_rules=30)
    assert go(calm, 40) == (40, DONE)
    assert go(calm._replace(radius=0.0)) == (0, NOVEL)
    assert go(calm._replace(upkeep_every=1)) == (1, DUE)
    assert go(calm._replace(prune_after=1, min_support=1e9), 40) == (1, INACTIVE)
