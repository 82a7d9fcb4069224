"""Labels and features that come or go while members follow the stream."""

import copy

import numpy as np
import pytest
from following import bent_stream, flipped, model_of
from small_rule_bases import assert_close

from evolabel.core.rows import Batch
from evolabel.model.growth import grow_features, keep_features
from evolabel.model.storage.snapshot import model_from_arrays, model_to_arrays
from evolabel.stages.drift.arrays import NEVER, START_LOSS
from evolabel.stages.sensors.arrays import IS_ON, OFFSET

pytestmark = pytest.mark.compiled

MOMENTS = {"before the fast member": 300, "calm": 1000, "drift": 1218, "trial": 1850, "corrected": 2100}


def at(moment):
    """A stream, and a model at this moment: a label turns round at row 1,200, a sensor moves at row 1,700."""
    X, Y = flipped(2600, 1200, seed=2)
    X[1700:, 1] += 5.0 * X[:1700, 1].std()
    model = model_of(X, Y)
    rows = MOMENTS[moment]
    model.learn(Batch(X[80:rows], Y[80:rows]))
    m = model.drift.arrays
    assert moment != "drift" or (m.episode != NEVER).any()
    assert moment != "trial" or model.sensors.arrays.trial[IS_ON]
    assert moment != "corrected" or model.sensors.arrays.views[OFFSET].any()
    return model, X, Y, rows


def with_gap(X, count=1):
    return np.hstack([X, np.full((len(X), count), np.nan)])


@pytest.mark.parametrize("moment", MOMENTS)
def test_a_feature_that_is_always_missing_changes_no_answer(moment):
    model, X, Y, rows = at(moment)
    twin = copy.deepcopy(model)
    grow_features(model, [np.arange(30.0), np.empty(0)])
    np.testing.assert_allclose(model.outputs(with_gap(X, 2)), twin.outputs(X), rtol=0, atol=1e-9)
    W = model.drift.arrays.W
    assert not W[:, [4, 5]].any()
    np.testing.assert_array_equal(W[:, [0, 1, 2, 3, 6]], twin.drift.arrays.W)
    assert model.trained().settings.memory == twin.trained().settings.memory
    outputs = [np.zeros((200, 3)) for _ in range(2)]
    later = slice(rows, rows + 200)
    for each, rows_of, out in ((model, with_gap(X, 2), outputs[0]), (twin, X, outputs[1])):
        each.learn(Batch(rows_of[later].copy(), Y[later], outputs=out))
    np.testing.assert_allclose(outputs[0][:1], outputs[1][:1], rtol=0, atol=1e-9)
    assert ((outputs[0] >= 0.5) == (outputs[1] >= 0.5)).mean() > 0.9  # distances are means over features


@pytest.mark.parametrize("moment", MOMENTS)
def test_what_remains_of_the_members_is_untouched_when_a_feature_goes(moment):
    model, X, _, _ = at(moment)
    before, kept = copy.deepcopy(model), np.array([1, 3])
    keep_features(model, kept)
    rules, old = model.trained(), before.trained()
    places = np.append(kept, 4)
    for slot in range(rules.n_rules + 1):
        H = old.beside.fast.hessian(slot)[np.ix_(places, places)]
        assert_close(rules.beside.fast.hessian(slot), H, 1e-10)
        assert_close(rules.beside.fast.arrays.G[slot], old.beside.fast.arrays.G[slot][:, places], 1e-12)
        penalty = rules.settings.penalty[min(slot, 1)]
        assert_close(rules.beside.fast.inverse(slot), np.linalg.inv(H + np.diag(penalty)), 1e-8)
    after, earlier = rules.beside.sensors.arrays, old.beside.sensors.arrays
    for name in ("views", "readings", "phase"):
        np.testing.assert_array_equal(getattr(after, name), getattr(earlier, name)[..., kept], err_msg=name)
    np.testing.assert_array_equal(after.trial, earlier.trial)
    for name in ("mean", "variance", "n_read"):
        np.testing.assert_array_equal(
            getattr(rules.beside.arrays, name), getattr(old.beside.arrays, name)[..., kept], err_msg=name
        )
    np.testing.assert_array_equal(rules.beside.arrays.W, old.beside.arrays.W[:, places])
    for name in ("clock", "losses", "n_losses", "share", "alarms", "episode", "depth", "reversal", "paired"):
        np.testing.assert_array_equal(
            getattr(rules.beside.arrays, name), getattr(old.beside.arrays, name), err_msg=name
        )
    np.testing.assert_array_equal(model.scale(X[:, kept]), before.scale(X)[:, kept])


def test_a_new_feature_is_learned_by_all_members():
    model, X, Y, rows = at("calm")
    rng = np.random.default_rng(0)
    new = rng.normal(5.0, 2.0, size=len(X))
    Y = Y.copy()
    Y[:, 2] = new > 5.0
    grow_features(model, [new[:40]])
    model.learn(Batch(np.column_stack([X, new])[rows:1700], Y[rows:1700]))
    rules = model.trained()
    assert np.argmax(np.abs(rules.beside.arrays.W[2, :-1])) == 4
    for member in (rules, rules.beside.fast):
        assert np.argmax(np.abs(member.weights(0)[:-1, 2])) == 4
    assert rules.beside.arrays.mean[4] == pytest.approx(5.0, abs=0.5)
    assert rules.beside.sensors.arrays.readings[6, 4] > 500.0  # it is watched


@pytest.mark.parametrize("moment", MOMENTS)
def test_a_new_label_starts_at_its_rate_in_all_members_and_changes_no_other(moment):
    model, X, Y, rows = at(moment)
    before, rate = model.outputs(X[:60]), 1.0 / (model.n_seen + 2.0)
    old = copy.deepcopy(model.trained())
    model.grow_labels(5)
    rules = model.trained()
    after = model.outputs(X[:60])
    np.testing.assert_allclose(after[:, :3], before, rtol=0, atol=1e-12)
    np.testing.assert_allclose(after[:, 3:], rate, rtol=1e-6)
    members = [rules] + [rules.beside.fast] * rules.beside.has_fast
    for member in members:
        for slot in range(rules.n_rules + 1):
            W = member.weights(slot)
            np.testing.assert_allclose(W[-1, 3:], rate, rtol=1e-6)
            np.testing.assert_allclose(W[:-1, 3:], 0.0, atol=1e-9)
    logits = rules.beside.linear_scores(X[:5]) @ rules.beside.arrays.W.T
    np.testing.assert_allclose(1.0 / (1.0 + np.exp(-logits[:, 3:])), rate, rtol=1e-12)
    m = rules.beside.arrays
    for name in ("W", "n_losses", "episode"):
        np.testing.assert_array_equal(getattr(m, name)[:3], getattr(old.beside.arrays, name), err_msg=name)
    for name in ("losses", "share", "alarms", "depth", "reversal"):
        np.testing.assert_array_equal(getattr(m, name)[:, :3], getattr(old.beside.arrays, name), err_msg=name)
    assert (m.losses[:, 3:] == START_LOSS).all()
    assert not m.n_losses[3:].any()
    assert not m.reversal[:, 3:].any()
    assert (m.episode[3:] == NEVER).all()
    more = np.column_stack([Y, X[:, 0] > 0.5, X[:, 2] > 0.0])
    model.learn(Batch(X[rows : rows + 400].copy(), more[rows : rows + 400]))
    right = (model.outputs(X[rows : rows + 400]) >= 0.5) == more[rows : rows + 400]
    assert right[:, 4].mean() > 0.7
    assert not [e for e in rules.events if e.kind == "drift" and e.label is not None and e.label >= 3]


@pytest.mark.parametrize("moment", MOMENTS)
def test_a_model_that_has_grown_is_stored_bit_for_bit(moment):
    model, X, Y, rows = at(moment)
    grow_features(model, [np.arange(30.0)])
    model.grow_labels(4)
    twin = model_from_arrays(*model_to_arrays(model))
    wide, more = np.column_stack([X, X[:, 0] ** 2]), np.column_stack([Y, X[:, 0] > 1.0])
    later = slice(rows, rows + 300)
    for each in (model, twin):
        each.learn(Batch(wide[later].copy(), more[later]))
    np.testing.assert_array_equal(model.outputs(wide), twin.outputs(wide))


def test_labels_come_during_the_warm_up_and_while_nothing_is_known():
    X, Y = bent_stream(300, seed=9)
    model = model_of(X, Y[:, :1], max_rules=1)
    model.grow_labels(3)
    model.learn(Batch(X[80:], Y[80:]))
    assert np.isfinite(model.outputs(X)).all()
