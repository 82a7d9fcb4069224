"""Thresholds from counts of outputs, against sums written down naively."""

import numpy as np
import pytest
from callable_kernels import callable_kernel
from hypothesis import example, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from naive import thresholds as naive

from evolabel.stages.decisions.loops import UNDECIDED, best_cut, count_rows

best_cut = callable_kernel(best_cut)

BINS = 8
NONE, NO_TABLE = np.zeros(0), np.zeros((0, 0))
counts = arrays(float, BINS, elements=st.integers(0, 9).map(float))


@settings(deadline=None)
@given(counts, counts)
@example(np.zeros(BINS), np.zeros(BINS))
def test_the_best_cut_has_the_largest_f1_of_all_bins(seen, on):
    seen = seen + on
    edge, best = best_cut(seen, on)
    if not seen.any():
        assert (edge, best) == (UNDECIDED, 0.0)
        return
    f1 = naive.f1_by_bin(seen, on)
    assert best == pytest.approx(f1.max())
    assert f1[round(edge * BINS)] == pytest.approx(f1.max())


def made_rows(seed, rows=60, labels=3):
    rng = np.random.default_rng(seed)
    out = rng.normal(0.4, 0.5, (rows, labels))
    Y = (rng.random((rows, labels)) < np.clip(out, 0.0, 1.0)).astype(float)
    Y[rng.random(Y.shape) < 0.2] = np.nan
    return out, Y, rng.uniform(0.0, 2.0, rows).round(1), rng.uniform(0.0, 1.0, (rows, labels)).round(1)


@pytest.mark.parametrize("shared", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
def test_rows_are_counted_and_cut_as_the_naive_twin_does(shared, weighted):
    out, Y, weights, confidences = made_rows(seed=4)
    L = 1 if shared else 3
    seen, on, limits = np.zeros((L, BINS)), np.zeros((L, BINS)), np.zeros(Y.shape)
    count_rows(out, Y, *((weights, confidences) if weighted else (NONE, NO_TABLE)), seen, on, limits)
    w = weights[:, None] * confidences if weighted else np.ones(Y.shape)
    expected_limits, expected_seen, expected_on = naive.counted(out, Y, w, (L, BINS))
    np.testing.assert_allclose(limits, expected_limits, atol=1e-12)
    np.testing.assert_allclose(seen, expected_seen, rtol=1e-12)
    np.testing.assert_allclose(on, expected_on, rtol=1e-12)


def test_a_label_nobody_annotates_keeps_its_counts():
    out, Y, _, _ = made_rows(seed=1)
    Y[:, 1] = np.nan
    seen, on = np.full((3, BINS), 2.0), np.ones((3, BINS))
    count_rows(out, Y, NONE, NO_TABLE, seen, on, NO_TABLE)
    assert (seen[1] == 2.0).all()
    assert (on[1] == 1.0).all()
    assert (seen[0] != 2.0).any()


def test_for_true_probabilities_the_threshold_approaches_the_one_that_maximises_f1():
    rng = np.random.default_rng(0)
    out = rng.beta(0.5, 4.0, (40_000, 1))  # a rare label
    Y = (rng.random(out.shape) < out).astype(float)
    seen, on, limits = np.zeros((1, 32)), np.zeros((1, 32)), np.zeros(Y.shape)
    count_rows(out, Y, NONE, NO_TABLE, seen, on, limits)
    cuts = np.linspace(0.0, 1.0, 401)
    f1 = [2.0 * out[out >= cut].sum() / ((out >= cut).sum() + out.sum()) for cut in cuts]
    assert limits[-1, 0] == pytest.approx(cuts[int(np.argmax(f1))], abs=0.03)
