"""Answers of rows: what learning a row would bring is what learning it brings, and answering changes nothing."""

import copy

import numpy as np
import pytest
from choices import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from paper_rule_bases import paper_learned
from small_rule_bases import assert_close, learned, make_stream, with_gaps

from evolabel.active.loops import scores
from evolabel.active.scoring.row_statistics import criterion_scores
from evolabel.active.scoring.second_moments import labelled_moments
from evolabel.core.rows import Batch
from evolabel.stages.rules.weights import NO_WEIGHTS, VarianceTerms, weights_of_all

P, K = 4, 3
NO_MOMENTS = np.empty((0, 0, 0)), np.empty((0, 0, 0)), np.empty(0, np.int64)


@st.composite
def bases(draw):
    """A rule base of either profile after any number of samples, and some rows, complete or not."""
    seed, rows = draw(st.integers(0, 30)), draw(st.integers(2, 90))
    if draw(st.booleans()):
        base = learned(seed, rows, min_activation=draw(st.sampled_from([0.0, 0.03, 0.3])))
    else:
        base = paper_learned(seed, rows, prox_steps=draw(st.integers(0, 1)))
    Z, Y = make_stream(seed + 100, rows=4)
    Z *= draw(st.sampled_from([0.5, 1.0, 3.0]))
    return base, with_gaps(Z, Y, seed, features=draw(st.sampled_from([0.0, 0.3])))[0]


def answered(base, Z, moments=NO_MOMENTS, W=NO_WEIGHTS):
    """Outputs, psi, D, q, s, t of the kernel."""
    shape = len(Z), base.n_rules
    found, terms = (np.empty((len(Z), K)), np.empty(shape), np.empty(shape)), tuple(np.zeros((3, *shape)))
    base.loops.answer_rows(Z, W, moments, found, terms)
    return *found, *terms


def after_learning(base, z):
    """A copy that has learned the row with all its labels; rules stay where they are."""
    copied = copy.deepcopy(base)
    copied.learn(Batch(z[None], np.ones((1, K))), structure=False)
    return copied


def removed(base, z):
    """What learning the row takes off every P, by updating a copy."""
    later = after_learning(base, z)
    return [base.inverse(slot) - later.inverse(slot) for slot in range(1, base.n_rules + 1)]


def regressors(base, z):
    return [base.regressor(z, slot) for slot in range(1, base.n_rules + 1)]


@settings(max_examples=examples(30), deadline=None)
@given(bases())
def test_answer_rows_gives_the_outputs_and_the_quadratic_forms(case):
    base, Z = case
    before = copy.deepcopy(base.arrays)
    out, psi, D, q, s, _ = answered(base, Z)
    np.testing.assert_array_equal(out, base.outputs(Z))
    expected_psi, expected_D = base.memberships(Z)
    np.testing.assert_array_equal(psi, expected_psi)
    np.testing.assert_array_equal(D, expected_D)
    for i, z in enumerate(Z):
        u = np.array([base.inverse(slot + 1) @ r for slot, r in enumerate(regressors(base, z))])
        assert_close(q[i], (psi[i] > 0) * np.sum(u * regressors(base, z), axis=1), 1e-8)
        assert_close(s[i], (psi[i] > 0) * np.sum(u * u, axis=1), 1e-8)
    for name, array in before._asdict().items():
        np.testing.assert_array_equal(getattr(base.arrays, name), array, err_msg=name)


@settings(max_examples=examples(30), deadline=None)
@given(bases(), st.booleans())
def test_blocks_of_rows_find_the_same(case, moments):
    base, Z = case
    given, W = labelled_moments(base) if moments else NO_MOMENTS, weights_of_all(base)
    out, psi, _, *known = answered(base, Z, given)
    by_block, found = np.empty(out.shape), np.zeros((3, *psi.shape))
    rows = len(Z)
    scratch = np.empty((rows, P + 1)), np.empty((rows, base.n_labels)), np.empty(rows, np.int64)
    base.loops.answer_block(Z, psi, W, scratch, by_block)
    base.loops.variance_block(Z, psi, given, tuple(found))
    again = np.zeros((3, *psi.shape))
    base.loops.variance_rows(Z, psi, given, tuple(again))
    np.testing.assert_array_equal(again, known)
    assert_close(by_block, out, 1e-9)
    formed = answered(base, Z, given, W)
    np.testing.assert_array_equal(formed[0], by_block)
    for one, other in zip(formed[1:], answered(base, Z, given)[1:], strict=True):
        np.testing.assert_array_equal(one, other)
    for name, one, other in zip("qst", found, known, strict=True):
        assert_close(one, other, 1e-8, name)


@settings(max_examples=examples(30), deadline=None)
@given(bases())
def test_trace_drop_is_the_drop_of_an_actual_update(case):
    base, Z = case
    _, psi, _, q, s, _ = answered(base, Z)
    out = np.empty(len(Z))
    scores.trace_drop_rows(base.packed, psi, q, s, np.zeros(base.n_rules), out)
    traces = [np.trace(base.inverse(slot)) for slot in range(1, base.n_rules + 1)]
    expected = [max(np.trace(gone) / trace for gone, trace in zip(removed(base, z), traces, strict=True)) for z in Z]
    np.testing.assert_allclose(out, expected, rtol=1e-6, atol=1e-9)
    assert (out >= 0.0).all()
    assert (out < 1.0).all()


@settings(max_examples=examples(30), deadline=None)
@given(bases())
def test_leverage_is_the_share_of_variance_an_actual_update_removes(case):
    base, Z = case
    f, psi, _, *terms = answered(base, Z)
    out = criterion_scores(scores.LEVERAGE, f, psi, VarianceTerms(*terms))[:, 0]
    for i, z in enumerate(Z):
        rows = zip(regressors(base, z), removed(base, z), psi[i], strict=True)
        shares = [own * (r @ gone @ r) / (r @ base.inverse(a + 1) @ r) for a, (r, gone, own) in enumerate(rows)]
        assert out[i] == pytest.approx(sum(shares), rel=1e-6, abs=1e-9)
    assert (out >= 0.0).all()
    assert (out < 1.0).all()


@settings(max_examples=examples(30), deadline=None)
@given(bases(), st.integers(0, 3))
def test_variance_reduction_is_what_an_actual_update_brings_to_the_rows_of_the_moments(case, waiting):
    base, Z = case
    rng, slots = np.random.default_rng(waiting), base.n_rules + 1
    roots, pending_M = rng.normal(size=(slots, 9, P + 1)), rng.normal(size=(slots, 3, P + 1))
    M = np.array([root.T @ root for root in roots])
    full = [A + rows[:waiting].T @ rows[:waiting] for A, rows in zip(M, pending_M, strict=True)]
    n_pending = np.full(slots, waiting)
    f, psi, _, *terms = answered(base, Z, (np.tril(M), pending_M, n_pending))
    out = criterion_scores(scores.VARIANCE_REDUCTION, f, psi, VarianceTerms(*terms))[:, 0]
    for i, z in enumerate(Z):
        expected = sum(np.sum(gone * A) for gone, A in zip(removed(base, z), full[1:], strict=True))
        assert out[i] == pytest.approx(expected, rel=1e-6, abs=1e-8)


@settings(max_examples=examples(30), deadline=None)
@given(bases(), st.floats(0.5, 4.0), st.integers(1, 5))
def test_moments_are_the_batch_formula_however_many_rows_wait(case, weight, block):
    base, Z = case
    slots, q = base.n_rules + 1, P + 1
    M, pending_M, n_pending = np.zeros((slots, q, q)), np.zeros((slots, block, q)), np.zeros(slots, np.int64)
    before = copy.deepcopy(base.arrays)
    psi, _ = base.memberships(Z)
    base.loops.add_moments(Z, psi, weight, (M, pending_M, n_pending))
    whole = np.column_stack([np.where(np.isnan(Z), base.arrays.c[0, :P], Z), np.ones(len(Z))])
    rows = np.array([[r, *regressors(base, z)] for r, z in zip(whole, Z, strict=True)])
    shares = np.column_stack([np.ones(len(Z)), psi])
    for slot in range(slots):
        expected = weight * np.einsum("i,ij,ik->jk", shares[:, slot], rows[:, slot], rows[:, slot])
        waiting = pending_M[slot, : n_pending[slot]]
        assert_close(np.tril(M[slot] + waiting.T @ waiting), np.tril(expected), 1e-12)
    for name, array in before._asdict().items():
        np.testing.assert_array_equal(getattr(base.arrays, name), array, err_msg=name)


def novelty(base, Z):
    out = np.empty(len(Z))
    scores.novelty_rows(base.novelty_bounds, base.memberships(Z)[1], out)
    return out


@pytest.mark.parametrize("rows", [5, 30, 200])
@pytest.mark.parametrize("profile", [learned, lambda seed, rows: paper_learned(seed, rows, space="input")])
def test_novelty_above_one_means_that_learning_starts_a_rule(profile, rows):
    base = profile(3, rows)
    Z, Y = make_stream(7, rows=60)
    Z = np.concatenate([Z, 4.0 * Z])
    for z, y, value in zip(Z, np.concatenate([Y, Y]), novelty(base, Z), strict=True):
        later = copy.deepcopy(base)
        later.learn(Batch(z[None], y[None]))
        births = sum(event.kind == "birth" for event in later.events)
        assert (value > 1.0) == (births > sum(event.kind == "birth" for event in base.events))


def test_novelty_grows_with_the_distance_even_where_no_rule_can_be_born():
    base = learned(0, 60, max_rules=1)
    away = base.arrays.c[1] + np.linspace(0.0, 50.0, 20)[:, None] * np.ones(P)
    values = novelty(base, away)
    assert (np.diff(values) > 0.0).all()
    assert values[-1] < 1.0


def test_a_radius_of_zero_makes_everything_novel_but_the_centre():
    base = learned(0, 60, radius=0.0, max_rules=100)
    centre = base.arrays.c[1:2].copy()
    assert novelty(base, centre)[0] == 0.0
    assert novelty(base, centre + 1e-6)[0] > 1.0
