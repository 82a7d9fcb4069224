"""The loops of selection against naive twins."""

import numpy as np
from callable_kernels import CallableKernels
from hypothesis import given, settings
from hypothesis import strategies as st

from evolabel.kernels import selection as selection_module

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


def bundled(order, chosen, least):
    return order[: max(chosen, least)] if chosen else []


@settings(deadline=None)  # the first example compiles
@given(stream=streams(), tau=st.sampled_from([0.1, 1.0, 5.0]), least=st.integers(1, 3), commit=st.booleans())
def test_quantile_walk_is_a_sort_of_the_window(stream, tau, least, commit):
    S, tok, free = stream
    n, K = S.shape
    least, past = min(least, K), []
    expected, labels = n, []
    for i in range(n):
        pool = np.concatenate([*(past[-5:] if commit else []), S[i]])
        order = sorted(range(K), key=lambda j, i=i: (-S[i, j], j))
        good = []
        for rank, j in enumerate(order):
            window = pool[: len(pool) - K]
            if (window > S[i, j]).sum() + rank < tok[i] * len(pool) / K / tau:
                good.append(j)
            else:
                break
        labels = bundled(order, min(len(good), free[i]), least) if free[i] >= least else []
        if labels:
            expected = i
            break
        past.append(S[i])
    ring, counters, mask = np.zeros((5, K)), np.zeros(2, np.int64), np.zeros(K, bool)
    at = selection.walk_quantile(S, tok, free, tau, least, ring, counters, mask, commit)
    assert at == expected
    assert at == n or set(np.flatnonzero(mask)) == set(labels)
    assert counters[selection.FILLED] == (min(at, 5) if commit else 0)


@settings(deadline=None)  # the first example compiles
@given(stream=streams(), generosity=st.sampled_from([0.1, 0.5, 3.0]), unit=st.integers(1, 2))
def test_token_walk_is_a_rank_sum_over_the_window(stream, generosity, unit):
    R, tok, free = stream
    n, C = R.shape
    weights, rows, sums, expected = np.arange(1.0, C + 1.0), [], [], n
    for i in range(n):
        window = np.array(rows[-5:]).reshape(-1, C)
        wins = (R[i] > window).sum(axis=0) + 0.5 * (R[i] == window).sum(axis=0)
        score = float(weights @ wins / max(len(window), 1))
        above = sum(known > score + 1e-12 for known in sums[-5:])
        if free[i] >= unit and above < generosity * tok[i] / unit * (len(window) + 1):
            expected = i
            break
        rows.append(R[i])
        sums.append(score)
    ring, last, counters = np.zeros((C, 5)), np.zeros(5), np.zeros(2, np.int64)
    weights = np.arange(1.0, C + 1.0)
    assert selection.walk_tokens(R, weights, tok, free, unit, generosity, ring, last, counters, True) == expected
    assert counters[selection.FILLED] == min(expected, 5)


@settings(deadline=None)  # the first example compiles
@given(stream=streams(depth=(2,)), whole=st.booleans(), least=st.integers(1, 2), step=st.sampled_from([0.0, 0.5]))
def test_threshold_walk_asks_as_soon_as_a_criterion_fires(stream, whole, least, step):
    T, _, free = stream
    n, _, K = T.shape
    T[:, 0] = T[:, 0, :1]
    least, ease, expected, labels = min(least, K), 1.0, n, []
    for i in range(n):
        if free[i] >= least:
            loud = T[i, 1] if whole else T[i].max(axis=0)
            order = sorted(range(K), key=lambda j, loud=loud: (-loud[j], j))
            labels = bundled(order, min(int((loud * ease > 1.0).sum()), free[i]), least)
            if whole and T[i, 0, 0] * ease > 1.0 and free[i] >= K:
                labels = order
            if labels:
                expected = i
                break
            ease = min(ease * (1.0 + step), 2.0)
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
