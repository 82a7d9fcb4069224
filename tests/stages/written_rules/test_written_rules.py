"""Written rules answer, leave rows to the trees, and learn as their plain twin does."""

import copy

import numpy as np
import pytest
from choices import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from naive.written_rules import NaiveRule, NaiveWritten
from refining import answered, refine

from evolabel.checks import check_stage
from evolabel.core.rows import Batch
from evolabel.engine.compile import direct
from evolabel.stages.written_rules.arrays import allocate_written
from evolabel.stages.written_rules.loops import leave_out
from evolabel.stages.written_rules.stage import WrittenRules, own_shares

SEEDS = st.integers(0, 10_000)
_leave_out = direct(leave_out)


def both(seed, n, p, K, *, exclusive=False):
    """The same random list as arrays and as the twin: wide ranges, open ends, labels not mentioned, priors of 0."""
    rng = np.random.default_rng(seed)
    kernel, rules = WrittenRules(p, K, exclusive=exclusive), []
    entry = allocate_written(n, p, K)
    entry.number[:] = np.arange(n)
    for i in range(n):
        ranges, shares = {}, {}
        for j in rng.permutation(p)[: int(rng.integers(1, p + 1))].tolist():
            low, high = np.sort(rng.normal(size=2)) * [2.0, 2.0]
            ranges[j] = (-np.inf if rng.random() < 0.4 else low, np.inf if rng.random() < 0.4 else high)
            entry.low[i, j], entry.high[i, j] = ranges[j]
        for k in rng.permutation(K)[: int(rng.integers(1, K + 1))].tolist():
            shares[k] = entry.shares[i, k] = float(rng.choice([0.0, 0.1, 0.9, 1.0]))
        entry.prior[i] = float(rng.choice([0.0, 5.0, 20.0]))
        rules.append(NaiveRule(ranges, shares, float(entry.prior[i])))
        if rng.random() < 0.2:
            rules[-1].held = dict.fromkeys(shares, 0.25)
            entry.held[i, list(shares)] = 0.25
    kernel.insert(0, entry)
    return kernel, NaiveWritten(rules, K, exclusive=exclusive)


def stream(seed, n, p, K, *, exclusive=False):
    """Rows with gaps; labels that follow the features, so that some rules are wrong; outputs that know a part of it."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    Y = np.ascontiguousarray(X[:, np.arange(K) % p] > 0.2, np.float64)
    if exclusive:
        Y = np.eye(K)[Y.sum(axis=1).astype(int) % K]
    F = 0.8 * Y + rng.normal(0.1, 0.2, Y.shape)
    X[rng.random(X.shape) < 0.05] = np.nan
    Y[rng.random(Y.shape) < 0.1] = np.nan
    weights = rng.uniform(0.2, 3.0, n) * (rng.random(n) > 0.05)
    weights[rng.random(n) < 0.02] = 500.0
    return Batch(X, Y, weights, rng.uniform(0.5, 1.0, Y.shape)), F


def assert_same_sums(kernel, twin):
    a = kernel.arrays
    for i, rule in enumerate(twin.rules):
        for k in rule.shares:
            gate = rule.gates[k]
            np.testing.assert_allclose([a.rows[i, k], a.positives[i, k]], rule.sums[k], atol=1e-9)
            np.testing.assert_allclose([a.gain[i, k], a.squares[i, k]], [gate.gain, gate.squares], atol=1e-9)
            assert a.closed[i, k] == gate.closed


@settings(max_examples=examples(60))
@given(SEEDS, st.integers(1, 5), st.integers(1, 4), st.integers(1, 4), st.booleans())
def test_a_stream_is_answered_and_learned_as_by_the_twin(seed, n, p, K, exclusive):
    kernel, twin = both(seed, n, p, K, exclusive=exclusive)
    batch, F = stream(seed, 150, p, K, exclusive=exclusive)
    weights = batch.weights[:, None] * batch.confidences
    for i in range(len(F)):
        left, row = batch.Y[i : i + 1].copy(), batch.rows(slice(i, i + 1))
        _leave_out(kernel.packed, row.X, left)
        assert np.isnan(left[0]).tolist() == (np.isnan(batch.Y[i]) | twin.left_out(batch.X[i])).tolist()
        np.testing.assert_allclose(answered(kernel, row, F[i : i + 1])[0], twin.answer(batch.X[i], F[i]), atol=1e-9)
        out = F[i : i + 1].copy()
        refine(kernel, row, out)
        np.testing.assert_allclose(out[0], twin.learn(batch.X[i], batch.Y[i], weights[i], F[i]), atol=1e-9)
    assert_same_sums(kernel, twin)


@settings(max_examples=examples(20))
@given(SEEDS, st.integers(1, 4), st.booleans())
def test_all_rows_at_once_give_the_same_bits(seed, K, exclusive):
    kernel, _ = both(seed, 4, 3, K, exclusive=exclusive)
    twin, (batch, F) = copy.deepcopy(kernel), stream(seed, 120, 3, K, exclusive=exclusive)
    once, rows = F.copy(), F.copy()
    refine(kernel, batch, once)
    for i in range(len(F)):
        refine(twin, batch.rows(slice(i, i + 1)), rows[i : i + 1])
    np.testing.assert_array_equal(once, rows)
    for one, other in zip(kernel.arrays, twin.arrays, strict=True):
        np.testing.assert_array_equal(one, other)


@settings(max_examples=examples(25))
@given(SEEDS, st.integers(1, 5), st.integers(1, 4), st.integers(1, 4), st.booleans())
def test_what_python_reads_is_what_the_kernels_do(seed, n, p, K, exclusive):
    """`holding`, `answering` and `own_shares` are used to explain."""
    kernel, twin = both(seed, n, p, K, exclusive=exclusive)
    batch, F = stream(seed, 80, p, K, exclusive=exclusive)
    refine(kernel, batch, F.copy())
    for row in zip(batch.X, batch.Y, batch.weights[:, None] * batch.confidences, F, strict=True):
        twin.learn(*row)
    for x in batch.X[:10]:
        assert kernel.holding(x).tolist() == [rule.holds(x) for rule in twin.rules]
    says = [[twin.says(rule, k) for k in range(K)] for rule in twin.rules]
    assert kernel.answering.tolist() == says
    own = own_shares(kernel.arrays)
    for i, rule in enumerate(twin.rules):
        for k in rule.shares:
            assert own[i, k] == pytest.approx(rule.share(k, np.nan)) or np.isnan(own[i, k])


@settings(max_examples=examples(20))
@given(SEEDS, st.integers(2, 4))
def test_outputs_of_classes_are_shares(seed, K):
    """Where a rule answers, and does not promise more than 100 % itself, the classes add up to 1."""
    kernel, twin = both(seed, 1, 3, K, exclusive=True)
    X, F = np.random.default_rng(seed).normal(size=(30, 3)), stream(seed, 30, 3, K, exclusive=True)[1]
    out = answered(kernel, Batch(X, F), F)
    shares = twin.rules[0].shares
    for x, f in zip(X, out, strict=True):
        if twin.rules[0].holds(x) and len(shares) < K and sum(shares.values()) <= 1.0 and not twin.rules[0].held:
            assert f.sum() == pytest.approx(1.0)
            assert (f >= 0.0).all()


@pytest.mark.parametrize("exclusive", [False, True])
def test_written_rules_are_a_refiner(exclusive):
    kernel, _ = both(3, 4, 4, 3, exclusive=exclusive)
    check_stage(kernel, n_features=4, n_labels=3)
