"""A locked rule is left alone by learning, whatever happens around it; unlocked, it learns again."""

import numpy as np
import pytest
from profiles import PAPER_PROFILE, new_model, options_of

from evolabel.core.rows import Batch
from evolabel.model.growth import grow_features, keep_features
from evolabel.stages.rules.slots import PER_SLOT
from evolabel.stages.written_rules.edits import rule_edits
from evolabel.streams import DriftingStream

PROFILES = {
    "default": {},
    "rotated": {"covariance": "full"},
    "pruned": {"prune_after": 30, "min_support": 50.0},
    "paper": PAPER_PROFILE,
}


def stream(rows=700, seed=5):
    return DriftingStream(n_features=4, n_labels=3, drift_every=100, seed=seed).take(rows)


@pytest.fixture(params=PROFILES)
def model(request):
    X, Y = stream()
    made = new_model(4, 3, options_of(**{**PROFILES[request.param], "max_rules": 6}))
    made.fit(Batch(X[:120], Y[:120]))
    return made


def rule(base, identity):
    """All bits of a rule but the slot it lives in; a locked rule does not answer by the sums of the fast member."""
    slot = rule_edits.slot_of_rule(base, identity)
    names = [name for name in PER_SLOT if not name.startswith("fast_")]
    return {name: getattr(base.arrays, name)[slot].copy() for name in names} | {"weights": base.weights(slot)}


def assert_same_rule(one, other):
    for name, value in one.items():
        np.testing.assert_array_equal(value, other[name], err_msg=name)


def partly(Y):
    Y = Y.copy()
    Y[::5, 1] = np.nan
    return Y


def test_no_bit_of_a_locked_rule_changes_while_others_learn(model):
    X, Y = stream()
    base = model.trained()
    locked = [int(base.arrays.identity[slot]) for slot in (1, 3)]
    for identity in locked:
        rule_edits.lock_rule(model, identity)
    before = [rule(base, identity) for identity in locked]
    whole, others = base.weights(0), base.arrays.k[1 : base.n_rules + 1].sum()
    model.learn(Batch(X[120:], partly(Y[120:])))
    for identity, was in zip(locked, before, strict=True):
        assert_same_rule(rule(base, identity), was)
    assert not np.array_equal(whole, base.weights(0))
    assert base.arrays.k[1 : base.n_rules + 1].sum() != others
    assert any(event.kind in ("birth", "merge", "death") for event in base.events if event.sample > 120)


def test_locking_changes_no_answer_beyond_rounding(model):
    X, _ = stream()
    before = model.outputs(X)
    for identity in model.trained().arrays.identity[1 : model.trained().n_rules + 1].copy():
        rule_edits.lock_rule(model, int(identity))
    np.testing.assert_allclose(model.outputs(X), before, atol=1e-9)


def test_where_all_rules_are_locked_the_stream_goes_on(model):
    X, Y = stream()
    base = model.trained()
    identities = [int(identity) for identity in base.arrays.identity[1 : base.n_rules + 1]]
    for identity in identities:
        rule_edits.lock_rule(model, identity)
    before = [rule(base, identity) for identity in identities]
    model.learn(Batch(X[120:], Y[120:]))
    assert model.n_seen == len(X)
    assert base.n_rules <= 6
    for identity, was in zip(identities, before, strict=True):
        assert_same_rule(rule(base, identity), was)


def test_an_unlocked_rule_is_as_if_it_had_never_been_locked_if_nothing_was_learned(model):
    X, Y = stream()
    base = model.trained()
    identity = int(base.arrays.identity[2])
    plain = rule(base, identity)
    rule_edits.lock_rule(model, identity)
    rule_edits.unlock_rule(model, identity)
    unlocked = rule(base, identity)
    for name in set(plain) - {"last_won", "compared"}:
        np.testing.assert_array_equal(unlocked[name], plain[name], err_msg=name)
    k = base.arrays.k[rule_edits.slot_of_rule(base, identity)]
    model.learn(Batch(X[120:200], Y[120:200]))
    kept = identity in base.arrays.identity[1 : base.n_rules + 1]
    assert not kept or base.arrays.k[rule_edits.slot_of_rule(base, identity)] != k


def test_answers_while_learning_are_those_without(model):
    X, Y = stream()
    base = model.trained()
    rule_edits.lock_rule(model, int(base.arrays.identity[1]))
    wanted, out, plain = model.outputs(X[120:121]), np.empty((1, 3)), np.empty((1, 3))
    model.learn(Batch(X[120:121], Y[120:121], outputs=out, plain=plain))
    np.testing.assert_allclose(out if model.memory is None else plain, wanted, atol=1e-12)


def test_locked_rules_stay_when_features_come_and_go(model):
    base = model.trained()
    identity = int(base.arrays.identity[1])
    rule_edits.rename_rule(model, identity, "pump")
    rule_edits.lock_rule(model, identity)
    weights = base.weights(1)
    grow_features(model, [np.array([1.0, 2.0, 3.0])])
    keep_features(model, np.array([0, 2, 4]))
    np.testing.assert_array_equal(model.trained().weights(1), [weights[0], weights[2], np.zeros(3), weights[4]])
    assert model.trained().rule_names.names == {identity: "pump"}
    X, Y = stream()
    model.learn(Batch(X[120:, :3].copy(), Y[120:]))
    np.testing.assert_array_equal(
        rule(model.trained(), identity)["weights"], [weights[0], weights[2], np.zeros(3), weights[4]]
    )


def test_weights_of_locked_rules_follow_labels_that_appear(model):
    X, Y = stream()
    base = model.trained()
    rule_edits.lock_rule(model, int(base.arrays.identity[1]))
    before = base.weights(1)
    model.grow_labels(4)
    np.testing.assert_array_equal(model.trained().weights(1)[:, :3], before)
    model.learn(Batch(X[120:200], np.column_stack([Y[120:200], Y[120:200, 0]])))
    assert np.isfinite(model.outputs(X)).all()
