"""Features that come and go: what was learned stays, and the new width is as if it had always been there."""

import copy

import numpy as np
import pytest
from choices import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from profiles import PAPER_PROFILE, new_model, options_of
from small_rule_bases import assert_close

from evolabel.core.options import Options
from evolabel.core.rows import Batch
from evolabel.model.growth import grow_features, joined, keep_features
from evolabel.model.storage.snapshot import model_from_arrays, model_to_arrays
from evolabel.model.stream_model import StreamModel
from evolabel.paper.rules.kind import PaperRuleKind
from evolabel.stages.scaling.stage import fit_scaler
from evolabel.streams import DriftingStream

# Every kind of state, with settings that do not depend on the number of features.
ITERATED = {"alpha": 0.05, "beta": 0.5, "ridge": 20.0, "min_activation": 0.0, "follow_drift": False}
KINDS = {
    "default": {},
    "rotated": {"covariance": "full", "prior_count": 6.0},
    "product": {"space": "product", "covariance": "full", "prior_count": 8.0},
    "iterated": ITERATED,
    "coupled": {**ITERATED, "space": "product", "parent": "nearest", "coupling": "shifted"},
    "standard": {"scaling": "standard", "parent": "none", "follow_drift": False},
    "unscaled": {"scaling": "none"},
}


def samples(seed, rows=160, p=4):
    return DriftingStream(n_features=p, n_labels=3, drift_every=60, seed=seed).take(rows)


def model_of(X, Y, batch=60, **changes):
    """A model past its batch phase and some incremental samples."""
    model = new_model(X.shape[1], Y.shape[1], options_of(**{"max_rules": 40, **changes}))
    model.fit(Batch(X[:batch], Y[:batch]))
    model.learn(Batch(X[batch:], Y[batch:]))
    return model


def with_gap(X, count=1):
    """The rows with features that are missing everywhere."""
    return np.hstack([X, np.full((len(X), count), np.nan)])


def statistics_of(model):
    """What the slots in use hold, waiting rows included."""
    rules = model.trained()
    used = range(rules.n_rules + 1)
    whole = {"H": [rules.hessian(a) for a in used], "P": [rules.inverse(a) for a in used]}
    factors = rules.by_slot.get("F", np.empty((0, 0, 0)))
    whole |= {"F F'": [F @ F.T for F in np.tril(factors[: len(used)])]}
    leave_out = ("H", "P", "F", "n_pending", "pending_H", "pending_P", "top")
    plain = {name: array[: len(used)] for name, array in rules.by_slot.items() if name not in leave_out}
    shared = {"counters": rules.arrays.counters, "winner_stats": rules.arrays.winner_stats}
    return {name: np.array(value) for name, value in {**whole, **plain, **shared}.items()}


def assert_same_statistics(one, other):
    theirs = statistics_of(other)
    for name, mine in statistics_of(one).items():
        assert_close(mine, theirs[name], 1e-8, name)


def always_missed(model, X, Y, **changes):
    """The model that had the features from the start and never saw them; it scales them as `model` does now."""
    twin = model_of(X, Y, **changes)
    rules, twin.scaler = twin.trained(), model.scaler
    rules.settings = twin.settings()
    if rules.beside is not None:
        rules.beside.scaler = twin.scaler
    return twin


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("count", [1, 3])
def test_answers_without_the_new_features_stay_as_they_were(kind, count):
    X, Y = samples(1)
    model = model_of(X, Y, **KINDS[kind])
    before = model.outputs(X)
    grow_features(model, [np.arange(10.0) ** (j + 1) for j in range(count)])
    assert model.n_features == 4 + count
    np.testing.assert_allclose(model.outputs(with_gap(X, count)), before, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("kind", KINDS)
def test_the_wider_model_is_the_one_that_had_always_missed_the_feature(kind):
    X, Y = samples(2)
    model = model_of(X, Y, **KINDS[kind])
    grow_features(model, [np.array([-1.0, 1.0] * 10)])  # variance 1, the prior of every scaling
    twin = always_missed(model, with_gap(X), Y, **KINDS[kind])
    assert_same_statistics(model, twin)
    later, labels = samples(2, rows=260, p=5)
    model.learn(Batch(later[160:], labels[160:]))
    twin.learn(Batch(later[160:], labels[160:]))
    assert_same_statistics(model, twin)
    np.testing.assert_allclose(model.outputs(later), twin.outputs(later), rtol=1e-7, atol=1e-7)


@pytest.mark.parametrize("kind", KINDS)
def test_no_rule_answers_by_a_feature_before_it_has_been_learned(kind):
    X, Y = samples(3)
    model = model_of(X, Y, **KINDS[kind])
    grow_features(model, [np.arange(30.0)])
    rules = model.trained()
    for slot in range(rules.n_rules + 1):
        np.testing.assert_array_equal(rules.weights(slot)[4], 0.0)


@pytest.mark.parametrize(
    "changes", [{}, KINDS["product"], KINDS["coupled"], PAPER_PROFILE], ids=["default", "product", "coupled", "paper"]
)
def test_a_new_feature_is_learned(changes):
    X, Y = samples(4)
    model = model_of(X, Y, **changes)
    rng = np.random.default_rng(0)
    new = rng.normal(5.0, 2.0, size=320)
    grow_features(model, [new[:40]])
    rows = np.column_stack([np.tile(X, (2, 1)), new])
    labels = np.tile(Y, (2, 1))
    labels[:, 0] = new > 5.0
    model.learn(Batch(rows[:220], labels[:220]))
    right = (model.outputs(rows[220:])[:, 0] >= 0.5) == (new[220:] > 5.0)
    assert right.mean() > 0.8
    blind = (model.outputs(with_gap(rows[220:, :4]))[:, 0] >= 0.5) == (new[220:] > 5.0)
    assert blind.mean() < 0.7


def test_settings_are_those_of_the_new_width():
    X, Y = samples(5)
    model = model_of(X, Y, **PAPER_PROFILE)
    grow_features(model, [np.arange(20.0), np.arange(20.0)])
    expected = PaperRuleKind().settings(model.options, 6, 3, np.ones(6), (model.ridge, model.options.first_local_ridge))
    for name, value in model.trained().settings._asdict().items():
        np.testing.assert_array_equal(value, getattr(expected, name), err_msg=name)
    assert expected.prior_count == 12.0


def test_the_scatter_of_rotated_rules_stays_when_their_prior_changes():
    X, Y = samples(6)
    model = model_of(X, Y, **PAPER_PROFILE)
    before, nu, labels = statistics_of(model), model.trained().settings.prior_count, [4, 5, 6]
    grow_features(model, [np.arange(20.0)])
    prior, old = model.trained().settings.prior, [0, 1, 2, 3, 5, 6, 7]
    for slot in range(1, model.trained().n_rules + 1):
        scatter = before["F F'"][slot] - nu * np.diag(np.append(prior[:4], prior[5:]))
        wider = statistics_of(model)["F F'"][slot]
        assert_close(wider[np.ix_(old, old)], scatter + 10.0 * np.diag(prior[old]), 1e-9)
        np.testing.assert_allclose(wider[4, [*range(4), *(j + 1 for j in labels)]], 0.0, atol=1e-12)


@pytest.mark.parametrize("kind", KINDS)
def test_a_feature_that_comes_and_goes_leaves_no_trace(kind):
    X, Y = samples(7)
    model = model_of(X, Y, **KINDS[kind])
    before, outputs = statistics_of(model), model.outputs(X)
    grow_features(model, [np.arange(10.0)])
    keep_features(model, np.arange(4))
    for name, value in statistics_of(model).items():
        if name != "age":
            assert_close(value, before[name], 1e-8, name)
    np.testing.assert_allclose(model.outputs(X), outputs, rtol=1e-8, atol=1e-8)


@given(seed=st.integers(0, 50), kept=st.lists(st.integers(0, 4), min_size=1, max_size=4, unique=True))
@settings(max_examples=examples(15), deadline=None)
def test_what_remains_of_the_statistics_is_untouched(seed, kept):
    X, Y = samples(seed, p=5)
    model = model_of(X, Y)
    before, kept = copy.deepcopy(model), np.array(sorted(kept))
    keep_features(model, kept)
    rules, old = model.trained(), before.trained()
    places = np.append(kept, 5)
    for slot in range(rules.n_rules + 1):
        H = old.hessian(slot)[np.ix_(places, places)]
        assert_close(rules.hessian(slot), H, 1e-10)
        assert_close(rules.arrays.G[slot], old.arrays.G[slot][:, places], 1e-12)
        penalty = rules.settings.penalty[min(slot, 1)]
        assert_close(rules.inverse(slot), np.linalg.inv(H + np.diag(penalty)), 1e-8)
        for name in ("c", "M", "n"):
            assert_close(getattr(rules.arrays, name)[slot], getattr(old.arrays, name)[slot][kept], 1e-12)
    np.testing.assert_array_equal(model.scale(X[:, kept]), before.scale(X)[:, kept])


def test_events_and_counts_go_on():
    X, Y = samples(8)
    model = model_of(X, Y)
    events, seen = list(model.trained().events), model.n_seen
    grow_features(model, [np.arange(10.0)])
    assert list(model.trained().events) == events
    assert model.n_seen == seen
    model.learn(Batch(with_gap(X), Y))
    assert model.n_seen == seen + len(X)


def test_during_the_warm_up_a_new_feature_was_missing_so_far():
    X, Y = samples(9, rows=60, p=5)
    X[:25, 4] = np.nan
    model, twin = (StreamModel(p, 3, Options(warm_up=50).check()) for p in (4, 5))
    model.learn(Batch(X[:25, :4].copy(), Y[:25]))
    grow_features(model, [np.empty(0)])
    model.learn(Batch(X[25:], Y[25:]))
    twin.learn(Batch(X, Y))
    for name, value in statistics_of(twin).items():
        np.testing.assert_array_equal(statistics_of(model)[name], value, err_msg=name)


@given(
    counts=st.lists(st.integers(2, 60), min_size=1, max_size=4), kind=st.sampled_from(["quantile", "minmax", "none"])
)
@settings(max_examples=examples(20), deadline=None)
def test_features_scaled_apart_are_scaled_alike_side_by_side(counts, kind):
    columns = [np.random.default_rng(n).normal(n, n, size=n) for n in counts]
    scalers = [fit_scaler(column.reshape(-1, 1), kind, 16) for column in columns]
    X = np.random.default_rng(0).normal(5.0, 20.0, size=(30, len(counts)))
    together = joined(scalers)
    apart = np.hstack([scaler.transform(X[:, [j]]) for j, scaler in enumerate(scalers)])
    np.testing.assert_array_equal(together.transform(X), apart)
    np.testing.assert_allclose(together.inverse(apart[:5]), together.inverse(together.transform(X[:5])))


@pytest.mark.parametrize("kind", ["default", "product", "coupled"])
def test_a_wider_model_is_stored_bit_for_bit(kind):
    X, Y = samples(10)
    model = model_of(X, Y, **KINDS[kind])
    grow_features(model, [np.arange(10.0)])
    twin = model_from_arrays(*model_to_arrays(model), model_class=type(model), options_class=type(model.options))
    later, labels = samples(10, rows=200, p=5)
    for one in (model, twin):
        one.learn(Batch(later, labels))
    np.testing.assert_array_equal(model.outputs(later), twin.outputs(later))
