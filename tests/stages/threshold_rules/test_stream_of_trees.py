"""Whole streams of threshold rules: against the plain twin, and cut into batches anywhere."""

import copy
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from naive.threshold_rules import NaiveThresholds
from refining import answered, refine
from small_thresholds import assert_same_state

from evolabel.core.rows import Batch
from evolabel.stages.threshold_rules.stage import ThresholdRules

SEEDS = st.integers(0, 10_000)


def stream(seed, n, p, K, *, exclusive=False, moved=0, gaps=0.05, rare=False):
    """Rows whose labels are conjunctions of two features, with outputs of members that know little, and weights.

    The last feature has few values. From row `moved` on the labels are inverted. A sixth of the rows repeat.
    """
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    X[:, -1] = np.round(2.0 * X[:, -1])
    X[n // 3 : n // 2] = X[: n // 2 - n // 3]
    low = 0.1 + 0.1 * np.arange(K) + (1.2 if rare else 0.0)
    Y = (X[:, np.arange(K) % p] > low) & (X[:, (np.arange(K) + 1) % p] < 0.8)
    Y ^= (np.arange(n) >= (moved or n))[:, None]
    if exclusive:
        Y = np.eye(K)[np.where(Y.any(axis=1), Y.argmax(axis=1), K - 1)]
    Y = np.where(rng.random((n, 1)) < 0.03, rng.permutation(Y), Y).astype(float)
    F = np.clip(0.3 + 0.1 * Y + rng.normal(0.0, 0.3, Y.shape), -1.5, 2.5)
    X[rng.random(X.shape) < gaps] = np.nan
    Y[rng.random(Y.shape) < 2.0 * gaps] = np.nan
    Y[rng.random(n) < gaps] = np.nan
    weights, sure = rng.uniform(0.2, 3.0, n) * (rng.random(n) > gaps), rng.uniform(0.5, 1.0, Y.shape)
    return Batch(X, Y, weights, sure), F


def both(batch, F, *, exclusive=False):
    """Refiner and twin after the same stream, whose outputs must agree."""
    p, K = batch.X.shape[1], batch.Y.shape[1]
    refiner, twin, out = ThresholdRules(p, K, exclusive=exclusive), NaiveThresholds(p, K, exclusive=exclusive), F.copy()
    refine(refiner, batch, out)
    weights = batch.weights[:, None] * batch.confidences
    expected = [twin.learn(*row) for row in zip(batch.X, batch.Y, weights, F, strict=True)]
    np.testing.assert_allclose(out, expected, atol=1e-8)
    assert_same_state(refiner.arrays, twin)
    return refiner, twin


@settings(max_examples=12)
@given(SEEDS, st.integers(1, 4), st.integers(1, 3), st.booleans(), st.integers(1, 400))
def test_a_stream_is_learned_as_by_the_twin(seed, p, K, exclusive, n):
    both(*stream(seed, n, p, K, exclusive=exclusive), exclusive=exclusive)


@settings(max_examples=6)
@given(SEEDS, st.sampled_from([1.0, -0.5]), st.integers(0, 300))
def test_counters_are_left_out_as_by_the_twin(seed, step, falls_at):
    batch, F = stream(seed, 400, 3, 1)
    counter = step * np.arange(400.0)
    counter[falls_at] = counter[falls_at - 1] if falls_at < 150 else 3.0 * step  # now and then it is no counter
    batch.X[:, 1] = np.where(np.isnan(batch.X[:, 1]), np.nan, counter)
    refiner, twin = both(batch._replace(X=batch.X), F)
    assert refiner.left_out.tolist() == [len(bins) == 0 and twin.is_counter(j) for j, bins in enumerate(twin.bins)]


@pytest.mark.compiled
@pytest.mark.parametrize(
    ("K", "options"),
    [
        (1, {"moved": 500}),  # a drift
        pytest.param(2, {"rare": True}, marks=pytest.mark.slow),  # rare positives stay longer than the ring
        (2, {"exclusive": True}),
        pytest.param(4, {"exclusive": True}, marks=pytest.mark.slow),
    ],
)
def test_long_streams_are_learned_as_by_the_twin(K, options):
    n = 2350 if options.get("rare") else 900
    _, twin = both(*stream(3, n, 3, K, **options), exclusive=options.get("exclusive", False))
    assert any(label.gate.is_open for label in twin.labels)
    assert (max(label.since for label in twin.labels) > 0) == ("moved" in options)
    assert all((label.root.children == ()) == (k < twin.first) for k, label in enumerate(twin.labels))
    if "moved" in options:
        assert twin.labels[0].turned
    if "rare" in options:
        assert len(twin.rows) > 2000
        assert any(twin.rows_of(k, label.root).w.max() > 3.0 for k, label in enumerate(twin.labels))


def assert_same_arrays(one, other):
    """Two refiners have the same state, bit for bit."""
    for name, array in one.arrays._asdict().items():
        np.testing.assert_array_equal(array, getattr(other.arrays, name), err_msg=name)


@settings(max_examples=10)
@given(SEEDS, st.integers(1, 3), st.booleans(), st.lists(st.integers(0, 320), max_size=6))
def test_batches_cut_anywhere_give_the_same_bits(seed, K, exclusive, cuts):
    batch, F = stream(seed, 320, 3, K, exclusive=exclusive)
    at_once, cut, out = ThresholdRules(3, K, exclusive=exclusive), ThresholdRules(3, K, exclusive=exclusive), F.copy()
    refine(at_once, batch, out)
    parts, again = [0, *sorted(cuts), 320], F.copy()
    for begin, end in pairwise(parts):
        refine(cut, batch.rows(slice(begin, end)), again[begin:end])
    np.testing.assert_array_equal(out, again)
    assert_same_arrays(at_once, cut)


def test_row_by_row_gives_the_same_bits():
    batch, F = stream(1, 330, 3, 2)
    at_once, by_row, out, again = ThresholdRules(3, 2), ThresholdRules(3, 2), F.copy(), F.copy()
    refine(at_once, batch, out)
    for i in range(330):
        refine(by_row, batch.rows(slice(i, i + 1)), again[i : i + 1])
    np.testing.assert_array_equal(out, again)
    assert_same_arrays(at_once, by_row)


@pytest.mark.parametrize("n", [0, 100, 120])
@pytest.mark.parametrize("unlabelled", ["labels", "weights"])
def test_unlabelled_rows_change_nothing(n, unlabelled):
    """Also right after a turn of maintenance that has not renewed the bins of all features."""
    rng = np.random.default_rng(0)
    X, Y, F = rng.normal(size=(n + 60, 210)), (rng.random((n + 60, 1)) < 0.5).astype(float), np.full((n + 60, 1), 0.4)
    refiner = ThresholdRules(210, 1)
    refine(refiner, Batch(X[:n], Y[:n]), F[:n].copy())
    before = copy.deepcopy(refiner)
    if unlabelled == "labels":
        refine(refiner, Batch(X[n:], np.full((60, 1), np.nan)), F[n:].copy())
    else:
        refine(refiner, Batch(X[n:], Y[n:], np.zeros(60)), F[n:].copy())
    assert_same_arrays(refiner, before)


def test_refining_changes_no_state_and_a_row_is_refined_before_it_is_learned():
    batch, F = stream(2, 400, 3, 2, gaps=0.0)
    refiner = ThresholdRules(3, 2)
    refine(refiner, batch.rows(slice(0, 380)), F[:380].copy())
    assert refiner.is_used
    before, learned, last = copy.deepcopy(refiner), F[380:].copy(), batch.rows(slice(380, None))
    out = answered(refiner, last, F[380:])
    assert_same_arrays(refiner, before)
    refine(refiner, last, learned)
    np.testing.assert_array_equal(out[0], learned[0])
    assert np.abs(out - F[380:]).max() > 0.1


def test_two_classes_share_the_tree_of_the_second():
    batch, F = stream(5, 600, 3, 2, exclusive=True, gaps=0.0)
    F[:, 0] = 1.0 - F[:, 1]
    out, refiner = F.copy(), ThresholdRules(3, 2, exclusive=True)
    refine(refiner, batch, out)
    assert list(refiner.arrays.feature[:, 0] >= 0) == [False, True]
    assert np.abs(out - F).max() > 0.1
    np.testing.assert_allclose(out.sum(axis=1), 1.0, atol=1e-12)


@pytest.mark.parametrize("value", [0.0, np.nan, 1e300])
def test_a_constant_feature_changes_no_answer(value):
    batch, F = stream(4, 400, 2, 1, gaps=0.0)
    plain, wide, out, again = ThresholdRules(2, 1), ThresholdRules(3, 1), F.copy(), F.copy()
    refine(plain, batch, out)
    X = np.column_stack([batch.X, np.full(400, value)])
    refine(wide, batch._replace(X=X), again)
    assert plain.is_used
    np.testing.assert_array_equal(wide.arrays.feature, plain.arrays.feature)
    np.testing.assert_allclose(again, out, atol=1e-9)
