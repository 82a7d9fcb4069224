"""Distances that weigh features by their relevance: what the weights are, and that nothing else changes."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from naive.learn import learn_rows
from naive.moments import derive_inverse_variance
from small_rule_bases import (
    NO_ROWS,
    NOTHING,
    assert_close,
    assert_same_rules,
    empty_twin,
    learned,
    make_settings,
    naive_of,
    with_gaps,
)

from evolabel import EvolvingFuzzyClassifier
from evolabel.core import model as model_module
from evolabel.core.batch import Batch
from evolabel.core.edits.expert_rules import RuleSpec, spread_of_range, temperature, write_rule
from evolabel.core.feature_growth import grow_features, keep_features
from evolabel.core.merge_models import empty_like, merge
from evolabel.core.model import StreamModel
from evolabel.core.options import PAPER_PROFILE, Options
from evolabel.core.rules.feature_weights import FLOOR, relevance_weights, set_feature_weights
from evolabel.core.rules.rule_base import RuleBase
from evolabel.core.stored.snapshot import put_together, take_apart
from evolabel.errors import DataError
from evolabel.evaluate import average_precision, partial_accuracy
from evolabel.explain.shortening import prefix_distances

PROFILES = {"default": {}, "paper": {**PAPER_PROFILE, "vigilance": 0.3}}


@pytest.fixture(autouse=True)
def _often(monkeypatch):
    """Weights are refreshed every 16 samples, so that short streams have many refreshes."""
    monkeypatch.setattr(model_module, "WEIGH_EVERY", 16)


def samples(seed, rows=140, p=5, K=3, clean=False):
    """Labels that follow the first two features; 5 % of all values are missing unless `clean`."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows, p))
    Y = (X[:, :1] + np.linspace(-1.0, 1.0, K) * X[:, 1:2] + 0.5 * rng.normal(size=(rows, K)) > 0.0).astype(float)
    return (X, Y) if clean else with_gaps(X, Y, seed, 0.05, 0.05)


def weighing(**changes):
    return EvolvingFuzzyClassifier(feature_weights="relevance", **{"max_rules": 6, **changes})


def naive_share(slots):
    """Straight from the words: the variance of all labels that a feature explains alone, by the variance there is."""
    explained, total = [], 0.0
    for slot in slots:
        n, rate = slot.H[-1, -1], slot.G[-1] / slot.H[-1, -1]
        there_is = np.sum(rate * (1.0 - rate))
        alone = np.zeros(len(slot.c))
        for j in range(len(slot.c)):
            mean = slot.H[j, -1] / n
            variance = slot.H[j, j] / n - mean**2
            alone[j] = sum((g / n - mean * m) ** 2 / variance for g, m in zip(slot.G[j], rate, strict=True))
        explained.append(n * (alone - (there_is - alone) / (n - 2.0)))
        total += n * there_is
    return np.maximum(sum(explained), 0.0) / total


def naive_weights(twin):
    """The mean of both shares, its root, 1 on average above the floor."""
    shares = [naive_share([twin.whole]), naive_share([rule for rule in twin.rules if rule.H[-1, -1] >= 3.0])]
    strength = np.sqrt(np.mean(shares, axis=0))
    return FLOOR + (1.0 - FLOOR) * strength / strength.mean()


@settings(max_examples=20)
@given(st.integers(0, 1000), st.integers(1, 120), st.integers(2, 5), st.integers(1, 4))
def test_weights_are_one_on_average_and_never_below_the_floor(seed, rows, p, K):
    weights = relevance_weights(learned(seed, rows, p, K))
    assert weights.mean() == pytest.approx(1.0, rel=1e-12)
    assert weights.min() >= FLOOR


def test_weights_equal_their_naive_twin():
    base = learned(0)
    np.testing.assert_allclose(relevance_weights(base), naive_weights(naive_of(base)), rtol=1e-8)


def test_features_that_explain_nothing_weigh_alike():
    Z = np.random.default_rng(0).normal(size=(20, 3))
    base = RuleBase(3, 2, make_settings(3))
    np.testing.assert_array_equal(relevance_weights(base), np.ones(3))
    base.learn(Batch(Z, np.zeros((20, 2))))
    np.testing.assert_array_equal(relevance_weights(base), np.ones(3))


def test_noise_weighs_little_and_what_labels_follow_much():
    X, Y = samples(1, rows=600)
    weights = weighing().fit(X[:100], Y[:100]).partial_fit(X[100:], Y[100:]).feature_weights_
    assert (weights[:2] > 1.0).all()
    assert (weights[2:] < FLOOR + 0.3).all()


@pytest.mark.compiled
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_among_much_noise_weights_predict_better(seed):
    rng = np.random.default_rng(seed)
    centres, labels, which = 2.0 * rng.normal(size=(8, 4)), rng.integers(0, 2, size=(8, 4)), rng.integers(8, size=700)
    X = np.hstack([centres[which] + rng.normal(size=(700, 4)), rng.normal(size=(700, 16))])
    Y, scores = labels[which].astype(float), {}
    for kind in ("equal", "relevance"):
        clf = EvolvingFuzzyClassifier(feature_weights=kind).fit(X[:200], Y[:200])
        scores[kind] = clf.test_then_train(X[200:], Y[200:])
    for metric in (partial_accuracy, average_precision):
        assert metric(Y[200:], scores["relevance"]) > metric(Y[200:], scores["equal"])


@pytest.mark.parametrize("profile", PROFILES)
def test_weights_of_one_change_no_bit(profile, state_of, assert_same_state, monkeypatch):
    monkeypatch.setattr(model_module, "relevance_weights", lambda rules: np.ones(rules.n_features))
    X, Y = samples(2)
    changes = {"max_rules": 6, **PROFILES[profile]}
    plain, even = EvolvingFuzzyClassifier(**changes), weighing(**changes)
    outputs = [clf.fit(X[:60], Y[:60]).test_then_train(X[60:], Y[60:]) for clf in (plain, even)]
    np.testing.assert_array_equal(*outputs)
    assert_same_state(state_of(plain), state_of(even))


def weigh(twin, weights):
    """From now on distances of the twin use these weights."""
    twin.settings = twin.settings._replace(metric=np.stack([twin.settings.prior, weights]))


def test_batch_phase_and_stream_equal_their_naive_twin():
    X, Y = samples(3, clean=True)
    model = StreamModel(5, 3, Options(max_rules=6, novel_z=2.5, feature_weights="relevance", follow_drift=False))
    model.fit(Batch(X[:60], Y[:60]))
    Z, out, said = model.scale(X), np.empty((80, 3)), []
    twin = empty_twin(model.trained())
    weigh(twin, np.ones(5))
    learn_rows(Z[:60], Y[:60], NOTHING, NO_ROWS, twin, consequents=False)
    learn_rows(Z[:60], Y[:60], NOTHING, NO_ROWS, twin, structure=False)
    weigh(twin, naive_weights(twin))
    np.testing.assert_allclose(model.feature_weights, twin.settings.importance, rtol=1e-8)
    assert_same_rules(model.trained(), twin, 1e-8)
    model.learn(Batch(X[60:], Y[60:], outputs=out))
    for start, end in pairwise([60, 64, 80, 96, 112, 128, 140]):
        said.append(learn_rows(Z[start:end], Y[start:end], NOTHING, NO_ROWS, twin))
        if end % 16 == 0:
            weigh(twin, naive_weights(twin))
    np.testing.assert_allclose(model.feature_weights, twin.settings.importance, rtol=1e-8)
    assert_close(out, np.concatenate(said), 1e-8)
    assert_same_rules(model.trained(), twin, 1e-8)


@pytest.mark.parametrize("profile", PROFILES)
def test_rows_one_by_one_equal_all_at_once(profile, state_of, assert_same_state):
    X, Y = samples(4)
    whole, single = (weighing(**PROFILES[profile]).fit(X[:60], Y[:60]) for _ in range(2))
    whole.partial_fit(X[60:], Y[60:])
    for i in range(60, len(X)):
        single.partial_fit(X[i : i + 1], Y[i : i + 1])
    assert_same_state(state_of(whole), state_of(single))


def test_a_cold_start_ends_as_a_batch_of_the_same_rows():
    X, Y = samples(5, clean=True)
    cold = weighing(warm_up=40).partial_fit(X, Y)
    warm = weighing(warm_up=40).fit(X[:40], Y[:40]).partial_fit(X[40:], Y[40:])
    np.testing.assert_array_equal(cold.feature_weights_, warm.feature_weights_)
    np.testing.assert_array_equal(cold.decision_function(X), warm.decision_function(X))
    np.testing.assert_array_equal(weighing(warm_up=200).partial_fit(X, Y).feature_weights_, np.ones(5))


@pytest.mark.parametrize("profile", PROFILES)
def test_a_loaded_model_goes_on_bit_for_bit(profile, tmp_path, state_of, assert_same_state):
    X, Y = samples(6)
    clf = weighing(**PROFILES[profile]).fit(X[:60], Y[:60]).partial_fit(X[60:101], Y[60:101])
    clf.save(tmp_path / "model")
    again = EvolvingFuzzyClassifier.load(tmp_path / "model")
    assert_same_state(state_of(clf), state_of(again))
    outputs = [one.test_then_train(X[101:], Y[101:]) for one in (clf, again)]
    np.testing.assert_array_equal(*outputs)
    assert_same_state(state_of(clf), state_of(again))


def test_stored_weights_must_fit_the_features():
    X, Y = samples(7)
    arrays, facts = take_apart(weighing().fit(X, Y)._model)
    arrays["feature_weights"] = arrays["feature_weights"][:3]
    with pytest.raises(DataError, match=r"feature_weights has shape \(3,\), expected \(5,\)"):
        put_together(arrays, facts)


def test_models_trained_apart_weigh_by_what_both_have_seen():
    X, Y = samples(8, clean=True)
    first = weighing().fit(X[:60], Y[:60])._model
    second = empty_like(first)
    np.testing.assert_array_equal(second.feature_weights, first.feature_weights)
    second.learn(Batch(X[60:], Y[60:]))
    united = merge(first, second, 3, [0, 1, 2])
    np.testing.assert_allclose(united.feature_weights, relevance_weights(united.trained()), rtol=1e-9)
    assert not np.allclose(united.feature_weights, first.feature_weights)
    assert_distances_use(united.trained(), united.feature_weights)


def assert_distances_use(rules, weights):
    """Every slot is measured by these weights, and the rules are as wide as their samples say."""
    used = slice(0, rules.n_rules + 1)
    s, a, p = rules.settings, rules.arrays, len(weights)
    variance = (s.prior_count * s.prior + a.M[used]) / (s.prior_count + np.maximum(a.n[used] - 1.0, 0.0))
    np.testing.assert_allclose(a.inv[used, :p], weights / variance[:, :p], rtol=1e-12)
    np.testing.assert_allclose(rules.variances(), variance[1:, :p], rtol=1e-12)


@pytest.mark.parametrize("space", ["input", "product"])
def test_labels_and_features_may_come_and_go(space):
    X, Y = samples(9)
    clf = weighing(space=space).fit(X[:60], Y[:60]).partial_fit(X[60:90], Y[60:90])
    wider = np.hstack([Y, Y[:, :1]])
    clf.partial_fit(X[90:], wider[90:])
    model = clf._model
    assert_distances_use(model.trained(), model.feature_weights)
    before = model.feature_weights
    grow_features(model, [np.arange(20.0)])
    np.testing.assert_allclose(model.feature_weights * (1.0 + before.sum()) / 6.0, np.append(before, 1.0))
    assert_distances_use(model.trained(), model.feature_weights)
    keep_features(model, np.array([0, 2, 5]))
    assert model.feature_weights.mean() == pytest.approx(1.0)
    assert_distances_use(model.trained(), model.feature_weights)
    model.learn(Batch(np.ascontiguousarray(np.nan_to_num(X[:, [0, 2, 1]])), wider))
    assert_distances_use(model.trained(), model.feature_weights)


def test_acts_can_be_undone(state_of, assert_same_state):
    X, Y = samples(10)
    clf = weighing().fit(X, Y)
    before = state_of(clf)
    clf.rulebook.lock(clf.rules_[0].identity)
    clf.rulebook.undo()
    assert_same_state(before, state_of(clf))


@pytest.mark.parametrize("profile", PROFILES)
def test_shortened_rules_measure_as_the_model_does(profile):
    X, Y = samples(11, clean=True)
    model = weighing(**PROFILES[profile]).fit(X, Y)._model
    rules, Z = model.trained(), model.scale(X[:20])
    order = np.tile(np.array([3, 0, 4, 1, 2]), (rules.n_rules, 1))
    found = prefix_distances(model, Z, order)
    for length in (1, 3, 5):
        seen = np.full(Z.shape, np.nan)
        seen[:, order[0, :length]] = Z[:, order[0, :length]]
        D = rules.memberships(seen)[1]
        near = np.isfinite(D)  # hopeless rules are abandoned
        np.testing.assert_allclose(found[:, :, length - 1][near], D[near], rtol=1e-8)


def test_measuring_by_other_weights_forgets_nothing():
    X, Y = samples(12)
    rules = weighing().fit(X, Y)._model.trained()
    exact = {name: array.copy() for name, array in rules.arrays._asdict().items() if name != "inv"}
    weights = np.array([0.5, 1.5, 1.0, 1.0, 1.0])
    set_feature_weights(rules, weights)
    for name, array in exact.items():
        np.testing.assert_array_equal(getattr(rules.arrays, name), array, err_msg=name)
    assert_distances_use(rules, weights)
    assert_close(naive_inverse(rules), rules.arrays.inv[: rules.n_rules + 1], 1e-12)


def naive_inverse(rules):
    twin = naive_of(rules)
    return [derive_inverse_variance(slot, rules.settings) for slot in (twin.whole, *twin.rules)]


def test_ranges_an_expert_names_mean_the_same_whatever_the_weights():
    X, Y = samples(13)
    rules = weighing().fit(X, Y)._model.trained()
    slot, said = rules.n_rules + 1, np.array([-0.5, np.nan, -1.0, np.nan, np.nan])
    rules.reserve(slot)
    write_rule(slot, RuleSpec(said, -said, np.array([1.0, np.nan, np.nan]), 1.0, 20.0), rules)
    expected = spread_of_range(np.array([0.5, 1.0]), temperature(rules))
    np.testing.assert_allclose(np.sqrt(1.0 / rules.arrays.inv[slot, [0, 2]]), expected, rtol=1e-9)
