"""Rules that touch and agree are united, and the union is what one rule would have learned from both samples."""

import numpy as np
import pytest
from callable_kernels import callable_kernel
from choices import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from naive.paper import structure as naive
from paper_rule_bases import learn_spread, new_rule, paper_base, random_rules
from small_rule_bases import assert_close

from evolabel.core.rows import Batch
from evolabel.paper import PaperClassifier
from evolabel.paper.rules import merging
from evolabel.paper.rules.loops import learn
from evolabel.stages.rules.arrays import RULES
from evolabel.stages.rules.loops.label_moments import add_label_moments
from evolabel.streams import DriftingStream

has_grown = callable_kernel(learn.has_grown)

SEEDS = st.integers(0, 10_000)
P, K = 4, 3


def two_rules(first, second, p=P, **changes):
    """A rule base of two rules, each grown from the rows of one array in the space of the antecedents."""
    base = paper_base(p, first.shape[1] - p if first.shape[1] > p else K, **changes)
    for samples in (first, second):
        slot = new_rule(base, samples[0])
        for s in samples[1:]:
            learn_spread(base, slot, s, 1.0)
    return base


def clouds(seed, sizes=(60, 40), apart=0.5, d=P + K):
    """Two samples of the same rotated Gaussian, the second one shifted."""
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(d, d)) / 2.0 + np.eye(d)
    return rng.normal(size=(sizes[0], d)) @ A, rng.normal(size=(sizes[1], d)) @ A + apart


def batch_covariance(S, settings):
    scatter = (S - S.mean(axis=0)).T @ (S - S.mean(axis=0))
    return (np.diag(settings.prior_count * settings.prior) + scatter) / (settings.prior_count + len(S) - 1.0)


@settings(max_examples=examples(20), deadline=None)
@given(SEEDS, st.integers(1, 40), st.integers(1, 40), st.sampled_from([0.0, 5.0]))
def test_a_merged_rotated_rule_is_the_pooled_batch(seed, n, m, apart):
    first, second = clouds(seed, (n, m), apart)
    base = two_rules(first, second)
    kept = 0 if n >= m else 1
    base.merge_rules(1, 2)
    both = np.vstack([first, second])
    F = np.tril(base.own.F[1])
    assert base.n_rules == 1
    assert base.arrays.identity[1] == kept
    assert base.arrays.k[1] == n + m
    assert_close(base.arrays.c[1], both.mean(axis=0), 1e-9)
    assert_close(F @ F.T / (base.settings.prior_count + n + m - 1.0), batch_covariance(both, base.settings), 1e-9)
    assert_close(base.shape(1).covariance, batch_covariance(both, base.settings)[:P, :P], 1e-9)
    assert_close(base.arrays.M[1], ((both - both.mean(axis=0)) ** 2).sum(axis=0), 1e-9)


@settings(max_examples=examples(20), deadline=None)
@given(SEEDS)
def test_label_moments_and_statistics_are_pooled_exactly(seed):
    rng = np.random.default_rng(seed)
    base = two_rules(*clouds(seed))
    a, own = base.arrays, base.own
    Y, psi = rng.integers(0, 2, size=(30, K)).astype(float), rng.uniform(0.01, 1.0, size=30)
    for slot, part in ((1, slice(0, 12)), (2, slice(12, 30))):
        for y, weight in zip(Y[part], psi[part], strict=True):
            add_label_moments(y, weight, own.mass[slot], own.ybar[slot], own.Q[slot])
    a.G[1:3] = rng.normal(size=a.G[1:3].shape)
    for slot in (1, 2):
        R = rng.normal(size=(9, P + 1))
        a.H[slot] = R.T @ R
        base.derive_inverse(slot)
    H, G = a.H[1] + a.H[2], a.G[1] + a.G[2]
    base.merge_rules(1, 2)
    mean = np.average(Y, axis=0, weights=psi)
    assert_close(own.mass[1], [psi.sum(), (psi**2).sum()], 1e-12)
    assert_close(own.ybar[1], mean, 1e-11)
    assert_close(own.Q[1], (Y - mean).T @ (psi[:, None] * (Y - mean)), 1e-10)
    assert_close(base.hessian(1), H, 1e-12)
    assert_close(a.G[1], G, 1e-12)
    assert_close(base.inverse(1), np.linalg.inv(H + np.diag(base.settings.penalty[1])), 1e-7)
    assert own.top[1, 0] == pytest.approx(np.linalg.eigvalsh(H + np.diag(base.settings.penalty[1])).max())


def with_weights(base, first, second):
    base.arrays.W[1], base.arrays.W[2] = first, second
    return base


def by_hand(base, a, b):
    """How far the outputs of two rules lie apart per label."""
    k, W = base.arrays.k, base.arrays.W
    total = k[a] + k[b]
    centre = (k[a] * base.arrays.c[a, :P] + k[b] * base.arrays.c[b, :P]) / total
    variance = (k[a] / base.arrays.inv[a, :P] + k[b] / base.arrays.inv[b, :P]) / total
    at_centre = np.abs(W[a] @ np.append(centre, 1.0) - W[b] @ np.append(centre, 1.0))
    around = np.sqrt(((W[a] - W[b])[:, :P]) ** 2 @ variance)
    return at_centre + around


@settings(max_examples=examples(20), deadline=None)
@given(SEEDS, st.booleans())
def test_merged_weights_by_output(seed, larger_first):
    rng = np.random.default_rng(seed)
    W = rng.normal(size=(K, P + 1))
    base = with_weights(
        two_rules(*clouds(seed, (60, 20) if larger_first else (20, 60))), W, W + 0.1 * rng.normal(size=W.shape)
    )
    a, b = (1, 2) if larger_first else (2, 1)
    rho = np.clip(1.0 - by_hand(base, a, b), 0.0, 1.0)[:, None]
    expected = base.arrays.W[a] + 0.25 * rho * (base.arrays.W[b] - base.arrays.W[a])
    np.testing.assert_allclose(merging.merged_weights(1, 2, base), expected, rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(merging.merged_weights(2, 1, base), expected, rtol=1e-10, atol=1e-12)
    base.merge_rules(1, 2)
    np.testing.assert_allclose(base.arrays.W[1], expected, rtol=1e-10, atol=1e-12)


@settings(max_examples=examples(20), deadline=None)
@given(SEEDS, st.sampled_from([0.1, 3.0]))
def test_merged_weights_by_angle(seed, size):
    rng = np.random.default_rng(seed)
    W = rng.normal(size=(K, P + 1))
    base = with_weights(two_rules(*clouds(seed, (60, 20)), consistency="angle"), W, W + size * rng.normal(size=W.shape))
    expected = np.empty(W.shape)
    alike = merging.similarity(1, 2, base)
    for label in range(K):
        one, two = (np.append(base.arrays.W[slot, label, :P], -1.0) for slot in (1, 2))
        angle = np.arccos(np.clip(one @ two / np.linalg.norm(one) / np.linalg.norm(two), -1.0, 1.0))
        cons = max(0.0, 1.0 - 2.0 * angle / np.pi)
        rho = 1.0 if cons >= alike else np.exp(-(((alike / max(cons, 1e-12) - 1.0) * alike) ** 2))
        expected[label] = W[label] + 0.25 * rho * (base.arrays.W[2, label] - W[label])
    np.testing.assert_allclose(merging.merged_weights(1, 2, base), expected, rtol=1e-7, atol=1e-9)


def test_equal_consequents_give_their_mean_and_contradicting_labels_the_better_supported():
    W = np.zeros((K, P + 1))
    other = W.copy()
    other[1, -1], other[2, -1] = 0.2, 1.5
    base = with_weights(two_rules(*clouds(0, (60, 20))), W, other)
    merged = merging.merged_weights(1, 2, base)
    np.testing.assert_allclose(merged[:, -1], [0.0, 0.25 * 0.8 * 0.2, 0.0], atol=1e-12)
    with_weights(base, other, W)
    np.testing.assert_allclose(merging.merged_weights(1, 2, base)[2], other[2])


def test_the_angle_cannot_see_constant_outputs_but_the_output_does():
    W = np.zeros((K, P + 1))
    other = W.copy()
    other[:, -1] = 1.0
    base = with_weights(two_rules(*clouds(0)), W, other)
    np.testing.assert_allclose(merging.angle_similarity(1, 2, base), 1.0)
    np.testing.assert_allclose(merging.disagreement(1, 2, base, W - other), 1.0)


@pytest.mark.parametrize("covariance", ["full", "diag"])
def test_two_rules_of_one_gaussian_touch_and_are_partners(covariance):
    base = two_rules(*clouds(3, (200, 200), 0.0), covariance=covariance)
    assert merging.similarity(1, 2, base) > 0.95
    assert not merging.is_too_wide(1, 2, base)
    assert merging.partner_of(1, base) == 2
    assert merging.partner_of(2, base) == 1


@pytest.mark.parametrize("covariance", ["full", "diag"])
def test_two_distant_rules_are_no_partners(covariance):
    base = two_rules(*clouds(3, (200, 200), 30.0), covariance=covariance)
    assert merging.similarity(1, 2, base) < 0.5
    assert merging.partner_of(1, base) == merging.partner_of(2, base) == 0


def test_rules_of_different_shape_at_one_place_are_no_partners():
    rng = np.random.default_rng(0)
    wide, narrow = rng.normal(size=(200, P + K)), 0.05 * rng.normal(size=(200, P + K))
    base = two_rules(3.0 * wide, narrow, prior_count=1.0)
    assert merging.nearest_to(1, base) == 2
    assert merging.partner_of(1, base) == 0


def test_similarity_is_the_bhattacharyya_coefficient_per_dimension():
    base = two_rules(*clouds(5, (50, 30), 1.0))
    first, second = base.shape(1).covariance, base.shape(2).covariance
    middle, apart = (first + second) / 2.0, base.arrays.c[2, :P] - base.arrays.c[1, :P]
    distance = apart @ np.linalg.inv(middle) @ apart / 8.0
    distance += 0.5 * np.log(np.linalg.det(middle) / np.sqrt(np.linalg.det(first) * np.linalg.det(second)))
    assert merging.similarity(1, 2, base) == pytest.approx(np.exp(-distance / P))


@pytest.mark.parametrize(("conflicts", "allowed"), [(0, True), (1, True), (2, False), (5, False)])
def test_too_many_labels_in_conflict_forbid_the_merge(conflicts, allowed):
    first, second = clouds(3, (200, 200), 0.0, P + 5)
    base = two_rules(first, second)
    base.arrays.G[2, :conflicts, -1] = 0.9 * base.settings.penalty[1, -1]  # no sample yet: P is 1 / penalty
    assert merging.agrees(1, 2, base) == allowed
    assert (merging.partner_of(1, base) == 2) == allowed


@pytest.mark.parametrize(("apart", "left"), [(0.0, 1), (30.0, 2)])
def test_the_stream_unites_rules_of_one_gaussian_only(apart, left):
    first, second = clouds(3, (260, 260), apart, P)
    base = two_rules(first[:200], second[:200], space="input", vigilance=10.0)
    rows = np.vstack([first[200:], second[200:]])
    base.learn(Batch(rows, np.zeros((len(rows), K))))
    assert base.n_rules == left
    assert [event.kind for event in base.events] == ["merge"] * (2 - left)
    assert base.arrays.k[1 : left + 1].sum() == pytest.approx(520.0)


def test_a_rule_is_compared_when_a_sample_has_moved_it_and_not_at_its_birth():
    first, _ = clouds(3, (400, 1), 0.0, P)
    base = two_rules(first[:100], first[100:202], space="input", vigilance=10.0)
    base.own.compared[1:3] = base.arrays.k[1:3]
    base.learn(Batch(first[202:203], np.zeros((1, K))), structure=False)
    assert base.n_rules == 2
    base.learn(Batch(first[203:204], np.zeros((1, K))))
    assert base.n_rules == 1
    born = paper_base(P, K, space="input", vigilance=0.01)
    born.learn(Batch(first[:2], np.zeros((2, K))))
    assert born.own.compared[1:3].tolist() == [1.0, 1.0]
    assert [event.kind for event in born.events] == ["birth", "birth"]


@settings(max_examples=examples(20), deadline=None)
@given(SEEDS)
def test_the_nearest_rule_is_that_of_the_least_distance_by_the_own_shape(seed):
    rng = np.random.default_rng(seed)
    base = random_rules(rng, P, K, 5)
    base.arrays.locked[4] = 1
    squares = {}
    for other in (2, 3, 5):
        apart = base.arrays.c[other, :P] - base.arrays.c[1, :P]
        squares[other] = apart @ np.linalg.inv(base.shape(1).covariance) @ apart
    assert merging.nearest_to(1, base) == min(squares, key=squares.get)
    base.arrays.locked[1:6] = 1
    assert merging.nearest_to(1, base) == 0


@settings(max_examples=examples(40), deadline=None)
@given(SEEDS, st.integers(1, 4), st.sampled_from([0, 1, 32]))
def test_has_grown(seed, rules, every):
    rng = np.random.default_rng(seed)
    base = random_rules(rng, 3, 2, 4)
    base.arrays.counters[RULES] = rules
    base.own.compared[1:5] = rng.integers(0, 30, size=4)
    for slot in range(1, 5):
        assert has_grown(slot, base.arrays, base.own.compared, every) == naive.has_grown(slot, base, every)


def test_a_rule_has_grown_at_the_very_number():
    base = random_rules(np.random.default_rng(0), 3, 2, 2)
    base.arrays.k[1], base.own.compared[1] = 40.0, 8.0
    assert has_grown(1, base.arrays, base.own.compared, 32)
    base.arrays.k[1] = 39.99
    assert not has_grown(1, base.arrays, base.own.compared, 32)


@pytest.mark.parametrize("changes", [{"alpha": 1.0}, {"beta": 100.0}, {"coupling": "none"}, {"prox_steps": 0}])
def test_rules_are_the_same_whatever_the_consequents(changes):
    X, Y = DriftingStream(n_features=4, n_labels=3, seed=5).take(160)
    models = [PaperClassifier(vigilance=0.3, **each).fit(X[:60], Y[:60]) for each in ({}, changes)]
    for model in models:
        model.partial_fit(X[60:], Y[60:])
    one, two = (model.inner.model.rules for model in models)
    assert {event.kind for event in one.events} == {"birth", "merge"}
    assert list(one.events) == list(two.events)
    np.testing.assert_array_equal(one.arrays.c, two.arrays.c)
    assert models[0].n_small_rules_ == (one.arrays.k[1 : one.n_rules + 1] <= 2.0).sum() < one.n_rules
