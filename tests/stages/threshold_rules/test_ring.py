"""Sorting, bins, codes and the rows of a node, against the plain twin."""

import numpy as np
from callable_kernels import CallableKernels
from choices import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from naive import threshold_trials as naive
from small_thresholds import random_tree, state_of, write_tree

from evolabel.engine.packed_state import pack
from evolabel.stages.threshold_rules.arrays import CODES, LEARNED, MAIN, MAIN_ROWS, N_BINS, RARE, RARE_ROWS
from evolabel.stages.threshold_rules.loops import ring as ring_module
from evolabel.stages.threshold_rules.loops import ring as sorting_module

ring, sorting = CallableKernels(ring_module), CallableKernels(sorting_module)
SEEDS = st.integers(0, 10_000)
VALUES = st.one_of(
    hnp.arrays(np.float64, st.integers(0, 80), elements=st.integers(-3, 3).map(float)),
    hnp.arrays(np.float64, st.integers(0, 80), elements=st.floats(-1e300, 1e300)),
)


@given(VALUES, st.integers(1, 5), st.booleans())
def test_sorting_by_bins_is_that_of_numpy_whether_bins_are_small_or_not(values, n_bins, many):
    values = np.tile(values, 8) if many else values
    inner_edges = np.quantile(values, np.linspace(0.0, 1.0, n_bins + 1)[1:-1]) if len(values) else np.empty(0)
    order = np.full((2, max(1, len(values))), -1)
    order[1, : len(values)] = 1 + np.searchsorted(inner_edges, values)
    sorting.sort_by_bins(len(values), values, order, np.zeros(CODES, np.int64))
    np.testing.assert_array_equal(order[0, : len(values)], np.argsort(values, kind="stable"))


@settings(max_examples=examples(40))
@given(SEEDS, st.integers(0, 300), st.sampled_from([0, 1, 2, 20, 33, 60]), st.sampled_from([0.0, 0.9]))
def test_bins_and_codes_are_those_of_the_twin(seed, n, values, zeros):
    rng = np.random.default_rng(seed)
    x = rng.integers(values, size=n) / 7.0 if values else rng.normal(size=n)
    x[rng.random(n) < zeros] = 0.0
    bins, coarse = np.full(N_BINS - 1, 9.0), np.zeros(CODES, np.uint8)
    used = ring.fill_bins(n, np.sort(x), bins)
    edges = naive.bin_edges(x)
    np.testing.assert_array_equal(bins[: used - 1], edges)
    assert np.isinf(bins[used - 1 :]).all()
    ring.fill_coarse(used, coarse)
    seen = np.append(x, [np.nan, -50.0, 50.0, *edges])
    codes = np.array([ring.code_of(v, bins) for v in seen])
    np.testing.assert_array_equal(codes, naive.codes_of(seen, edges))
    np.testing.assert_array_equal(coarse[codes], naive.coarse_of(codes, edges))
    for c, edge in enumerate(edges, start=1):  # a row is on the left of an edge if its code is at most that number
        np.testing.assert_array_equal((codes <= c)[codes > 0], (seen <= edge)[codes > 0])


@settings(max_examples=examples(20))
@given(SEEDS, st.integers(0, 90), st.integers(2, 60))
def test_there_are_as_many_bins_as_there_is_room_for(seed, n, most):
    x = np.round(np.random.default_rng(seed).normal(size=n), 1)
    bins = np.zeros(most - 1)
    used = ring.fill_bins(n, np.sort(x), bins)
    np.testing.assert_array_equal(bins[: used - 1], naive.bin_edges(x, most))
    assert np.isinf(bins[used - 1 :]).all()


@settings(max_examples=examples(30))
@given(SEEDS, st.integers(0, 40))
def test_few_values_have_a_bin_each(seed, values):
    x = np.random.default_rng(seed).permutation(np.repeat(np.arange(values, dtype=float), 3))
    bins = np.zeros(N_BINS - 1)
    assert ring.fill_bins(len(x), np.sort(x), bins) == (max(1, values) if values <= N_BINS else N_BINS)


def test_bins_of_many_values_are_quantiles():
    bins = np.zeros(N_BINS - 1)
    ring.fill_bins(3200, np.arange(3200.0), bins)
    np.testing.assert_array_equal(bins, 100.0 * np.arange(1, N_BINS) - 0.5)


def filled(seed, learned, rare, *, share, since, complete, p=2):
    """A ring in its state after `learned` rows, of which `rare` are in the second ring; state, rows and rare rows."""
    rng, state = np.random.default_rng(seed), state_of(p)
    t = state.arrays
    X, Y = rng.normal(size=(learned, p)), rng.random(learned) < share
    X[rng.random(X.shape) < 0.1] = np.nan
    W = rng.uniform(0.1, 2.0, learned) * (rng.random(learned) < 0.9)
    rows = [naive.Row(i, i, X[i], Y[i : i + 1], np.array([0.5]), W[i : i + 1]) for i in range(learned)]
    numbers = np.sort(rng.permutation(learned)[:rare])
    copies = [rows[number]._replace(place=place) for place, number in enumerate(numbers)]
    for first, size, kept in ((0, MAIN_ROWS, rows), (MAIN_ROWS, RARE_ROWS, copies)):
        for row in kept[-size:]:
            place = first + row.place % size
            t.X[place], t.Y[place], t.weights[place], t.rows[place] = row.x, row.y, row.w, row.number
    t.clock[[LEARNED, MAIN, RARE]] = learned, learned, rare
    t.since[0], t.complete[0] = since, complete
    return rng, state, rows, copies


@settings(max_examples=12)
@given(
    SEEDS,
    st.sampled_from([(30, 4), (150, 60), (2300, 20), (2600, 499), (2600, 500), (2600, 501), (2700, 900)]),
    st.sampled_from([0.05, 0.3]),
    st.sampled_from([(0, 0), (400, 0), (0, 500), (2500, 100), (2100, 2200)]),
)
def test_rows_of_a_node_are_those_of_the_twin(seed, sizes, share, limits):
    rng, state, rows, rare = filled(seed, *sizes, share=share, since=limits[0], complete=limits[1])
    root = random_tree(rng, 2, 4)
    root.sums[[0, 3]] = 100.0, 100.0 * share
    write_tree(root, state.arrays)
    node = rng.choice(root.below())
    n = ring.choose_rows(0, node.place, pack(state))
    expected = naive.rows_of_label(0, rows, rare, share, *limits).reaching(root, node)
    t, chosen = state.arrays, state.work.chosen[:n]
    np.testing.assert_array_equal(t.X[chosen], expected.X)
    np.testing.assert_array_equal(t.Y[chosen, 0], expected.y)
    np.testing.assert_allclose(state.work.scale[chosen] * t.weights[chosen, 0], expected.w, rtol=1e-12)


def test_negatives_weigh_as_if_all_rows_since_the_oldest_positive_were_kept():
    _, state, rows, rare = filled(0, 3000, 300, share=0.5, since=0, complete=0)
    state.arrays.sums[0, 0, [0, 3]] = 100.0, 5.0
    n = ring.choose_rows(0, 0, pack(state))
    chosen = state.work.chosen[:n]
    negative = state.arrays.Y[chosen, 0] == 0
    assert set(state.work.scale[chosen[negative]]) == {3000.0 / 2000.0}
    assert set(state.work.scale[chosen[~negative]]) == {1.0}
    older = {row.number for row in rare if row.number < 1000 and row.y[0] and row.w[0] > 0.0}
    assert set(state.arrays.rows[chosen]) == older | {row.number for row in rows[1000:] if row.w[0] > 0.0}
