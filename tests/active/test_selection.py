"""The loops of selection against naive twins."""

import numpy as np
from callable_kernels import CallableKernels
from hypothesis import given, settings
from hypothesis import strategies as st
from naive import selection as naive

from evolabel.active import Ambiguity, QuantileSelector
from evolabel.active.loops import selection as selection_module

selection = CallableKernels(selection_module)

SCORES = st.sampled_from([0.0, 0.1, 0.2, 0.2, 0.5, 0.9, 1.0, 2.0])  # with ties


def table(draw, *shape):
    size = int(np.prod(shape))
    return np.array(draw(st.lists(SCORES, min_size=size, max_size=size))).reshape(shape)


@st.composite
def streams(draw, *, depth=()):
    """Scores of some rows, and what each may cost; tokens only grow."""
    n, width = draw(st.integers(1, 25)), draw(st.integers(1, 4))
    free = np.sort(np.array(draw(st.lists(st.integers(-1, 4), min_size=n, max_size=n)), np.int64))
    tok = free + np.sort(draw(st.lists(st.floats(0, 0.9), min_size=n, max_size=n)))
    return table(draw, n, *depth, width), tok, free


@settings(deadline=None)  # the first example compiles
@given(stream=streams(), tau=st.sampled_from([0.1, 1.0, 5.0]), least=st.integers(1, 3), commit=st.booleans())
def test_quantile_walk_is_a_sort_of_the_window(stream, tau, least, commit):
    S, tok, free = stream
    n, K = S.shape
    least = min(least, K)
    expected, labels = naive.walk_quantile(S, tok, free, tau, least, kept=5 if commit else 0)
    ring, counters, mask = np.zeros((5, K)), np.zeros(2, np.int64), np.zeros(K, bool)
    at = selection.walk_quantile(S, tok, free, tau, least, ring, counters, mask, commit)
    assert at == expected
    assert at == n or set(np.flatnonzero(mask)) == set(labels)
    assert counters[selection.FILLED] == (min(at, 5) if commit else 0)


@settings(deadline=None)  # the first example compiles
@given(stream=streams(), generosity=st.sampled_from([0.1, 0.5, 3.0]), unit=st.integers(1, 2))
def test_token_walk_is_a_rank_sum_over_the_window(stream, generosity, unit):
    R, tok, free = stream
    C = R.shape[1]
    weights = np.arange(1.0, C + 1.0)
    expected = naive.walk_tokens(R, weights, tok, free, unit, generosity, kept=5)
    ring, last, counters = np.zeros((5, C)), np.zeros(5), np.zeros(2, np.int64)
    assert selection.walk_tokens(R, weights, tok, free, unit, generosity, ring, last, counters, True) == expected
    assert counters[selection.FILLED] == min(expected, 5)


@settings(deadline=None)  # the first example compiles
@given(stream=streams(depth=(2,)), whole=st.booleans(), least=st.integers(1, 2), step=st.sampled_from([0.0, 0.5]))
def test_threshold_walk_asks_as_soon_as_a_criterion_fires(stream, whole, least, step):
    T, _, free = stream
    n, _, K = T.shape
    T[:, 0] = T[:, 0, :1]
    least = min(least, K)
    expected, labels, ease = naive.walk_thresholds(T, free, least, step, whole=whole, most=2.0)
    moving, loudest, mask = np.ones(1), np.zeros(K), np.zeros(K, bool)
    flags = np.array([whole, False])
    at = selection.walk_thresholds(T, flags, free, least, step, moving, 0.1, 2.0, loudest, mask, True)
    assert at == expected
    assert at == n or set(np.flatnonzero(mask)) == set(labels)
    assert moving[0] == ease


@settings(deadline=None)  # the first example compiles
@given(data=st.data(), n=st.integers(0, 5), width=st.integers(1, 4))
def test_the_best_score_of_a_row_is_its_maximum(data, n, width):
    S, best = table(data.draw, n, width), np.empty(n)
    selection.best_scores(S, best)
    np.testing.assert_array_equal(best, S.max(axis=1, initial=0.0))


@given(n=st.integers(0, 130), labels=st.integers(1, 40), more=st.integers(0, 40), seed=st.integers(0, 9))
def test_a_window_for_more_labels_keeps_the_latest_rows_with_zeros_for_the_new_ones(n, labels, more, seed):
    selector = QuantileSelector()
    selector.reset((Ambiguity(),), 0.5, labels, 1)
    rows = np.random.default_rng(seed).random((n, labels))
    for row in rows:
        selector.record(row, 0, cost=0)
    selector.resize(labels + more)
    ring, (filled, following) = selector.state
    shown = min(n, max(15, min(100, 1500 // (labels + more))), max(15, min(100, 1500 // labels)))
    assert filled == shown
    assert following == shown % len(ring)
    np.testing.assert_array_equal(ring[:shown], np.pad(rows[n - shown :], [(0, 0), (0, more)]))
    assert not ring[shown:].any()
