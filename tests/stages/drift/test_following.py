"""What the members do along a stream: when they begin, are cut and renewed, and what labels and locks leave alone."""

import copy
from itertools import pairwise

import numpy as np
import pytest
from following import bent_stream, flipped, learned, model_of, shifts, state_of
from small_rule_bases import assert_close

from evolabel.core.rows import Batch
from evolabel.stages.drift.arrays import BORN, CUT, FAST, NEVER, RENEWED, ROWS, SLOW, SLOW_START
from evolabel.stages.rules.arrays import BLOCKS, NEXT_IDENTITY
from evolabel.stages.rules.rule_state import RuleState
from evolabel.stages.rules.slots import PER_SLOT, slot_of
from evolabel.stages.rules.weights import answers
from evolabel.stages.written_rules.edits.rule_edits import lock_rule, unlock_rule

pytestmark = pytest.mark.compiled

OF_FAST = [name for name in PER_SLOT if name.startswith("fast_")]
OF_LABEL = {"W": 0, "losses": 1, "n_losses": 0, "share": 1, "alarms": 1, "positives": 0, "held": 0}
OF_LABEL |= {"episode": 0, "depth": 1, "reversal": 1}


def learn(model, X, Y, **more):
    model.learn(Batch(X, Y, **more))
    return model


def copies(rules, names):
    """Copies of the slots in use."""
    return {name: getattr(rules.arrays, name)[: rules.n_rules + 1].copy() for name in names}


# ------------------------------------------------------------------ begin, cut, renewal


def test_the_fast_member_begins_as_a_copy_after_one_memory():
    X, Y = bent_stream(600, seed=1)
    model = model_of(X, Y)
    rules = model.trained()
    N = rules.settings.memory
    assert N == 500
    learn(model, X[80 : N - 1], Y[80 : N - 1])
    assert rules.beside.arrays.clock[ROWS] == N - 1
    assert not rules.beside.has_fast
    assert not rules.beside.fast.arrays.H.any()
    assert rules.beside.mixer_weights[FAST].tolist() == [0.0] * 3
    learn(model, X[N - 1 : N], Y[N - 1 : N])
    clock = rules.beside.arrays.clock
    assert (clock[BORN], clock[RENEWED], clock[CUT]) == (N, N, NEVER)
    slow = RuleState(4, rules.arrays, rules.settings)
    for slot in range(rules.n_rules + 1):
        np.testing.assert_array_equal(rules.beside.fast.hessian(slot), slow.hessian(slot))
        np.testing.assert_array_equal(rules.beside.fast.arrays.G[slot], slow.arrays.G[slot])
        np.testing.assert_array_equal(rules.beside.fast.weights(slot), slow.weights(slot))
    np.testing.assert_array_equal(rules.beside.arrays.losses[FAST], rules.beside.arrays.losses[SLOW])
    learn(model, X[N:], Y[N:])
    assert (rules.beside.fast.hessian(0) != slow.hessian(0)).any()


def test_a_wide_model_remembers_longer():
    X, Y = bent_stream(90, p=70, K=2)
    assert model_of(X, Y).trained().settings.memory == 8 * 71
    assert model_of(X, Y, follow_drift=False).trained().settings.memory == 0


def test_a_drift_cuts_the_fast_member_and_later_renews_the_slow_one():
    X, Y = flipped(2500, 1200, seed=2)
    model = model_of(X, Y)
    rules = model.trained()
    clock = rules.beside.arrays.clock
    cuts, row = [], 80
    while row < 1500:
        before = rules.beside.fast.hessian(0)[-1, -1]
        learn(model, X[row : row + 1], Y[row : row + 1])
        row += 1
        if clock[CUT] == row:
            cuts.append(row)
            assert rules.beside.fast.hessian(0)[-1, -1] == pytest.approx(0.02 * (before + 1.0), rel=0.3)
    assert cuts
    assert 1200 < cuts[0] < 1230
    assert all(second - first >= 250 for first, second in pairwise(cuts))
    learn(model, X[1500:], Y[1500:])
    renewed = [event for event in rules.events if event.kind == "renewed"]
    assert renewed
    assert clock[RENEWED] == renewed[-1].sample
    assert clock[SLOW_START] == clock[RENEWED] - 500
    assert 0 < renewed[0].rows <= min(500, renewed[0].sample - 1200)
    assert rules.hessian(0)[-1, -1] < 1800.0  # rows: the old concept is gone


def test_the_sums_of_a_renewal_are_those_of_the_fast_member():
    model = learned(*bent_stream(1500, seed=3))
    rules = model.trained()
    rules.beside.arrays.losses[FAST] *= 0.5
    blocks = rules.arrays.fast_block
    blocks[2] -= 3  # a rule that has not fired for three blocks
    before, missed = blocks.copy(), rules.beside.block - blocks
    fast = [rules.beside.fast.hessian(slot) for slot in range(rules.n_rules + 1)]
    rules.beside._renew(1500)
    for slot, H in enumerate(fast):
        np.testing.assert_allclose(rules.hessian(slot), np.exp(-missed[slot] / BLOCKS) * H, rtol=1e-12)
        np.testing.assert_allclose(rules.beside.fast.hessian(slot), H, rtol=1e-12)
        np.testing.assert_allclose(
            rules.arrays.G[slot], np.exp(-missed[slot] / BLOCKS) * rules.arrays.fast_G[slot], rtol=1e-12
        )
    np.testing.assert_array_equal(blocks, before)  # it shows when a rule has last fired
    np.testing.assert_array_equal(rules.beside.arrays.losses[SLOW], rules.beside.arrays.losses[FAST])
    assert rules.events[-1].kind == "renewed"


def test_inverses_of_the_fast_member_are_exact_after_thousands_of_rows():
    rules = learned(*flipped(5000, 2500, seed=4), vigilance=0.3).trained()
    for slot in range(rules.n_rules + 1):
        A = rules.beside.fast.hessian(slot) + np.diag(rules.settings.penalty[min(slot, 1)])
        np.testing.assert_allclose(rules.beside.fast.inverse(slot) @ A, np.eye(5), atol=1e-10)


# ------------------------------------------------------------------ the slow member


def test_without_drift_the_slow_member_is_the_model_that_does_not_follow():
    """Bit for bit, as long as no rule counts more than 300 rows and nothing is renewed or corrected."""
    X, Y = bent_stream(300, seed=5)
    follows, plain = (learned(X, Y, vigilance=0.3, follow_drift=flag) for flag in (True, False))
    for name in PER_SLOT:
        if name not in OF_FAST:
            used = slice(0, plain.trained().n_rules + 1)
            got, expected = (getattr(model.trained().arrays, name)[used] for model in (follows, plain))
            np.testing.assert_array_equal(got, expected, err_msg=name)
    np.testing.assert_array_equal(follows.scale(X), plain.scale(X))
    Z = plain.scale(X[:7])
    slow = answers(RuleState(4, follows.trained().arrays, follows.trained().settings), Z).outputs
    np.testing.assert_array_equal(slow, plain.outputs(X[:7]))
    assert list(follows.trained().events) == list(plain.trained().events)
    assert plain.trained().arrays.fast_H.size == 0


def test_centres_follow_inputs_that_move():
    X, Y = bent_stream(3500, seed=6)
    X[2500:] += 1.2 * X.std(axis=0)
    follows, plain = (
        learned(X, Y, max_rules=1, follow_drift=flag).trained().arrays.c[1].mean() for flag in (True, False)
    )
    assert follows > 0.9
    assert plain < 0.5


def test_memory_of_the_sums_is_not_bounded_by_the_counts_of_the_centres():
    model = learned(*bent_stream(1000, seed=6), max_rules=1)
    assert model.trained().hessian(0)[-1, -1] == pytest.approx(1000.0)
    assert RuleState(4, model.trained().arrays, model.trained().settings).hessian(1)[-1, -1] == pytest.approx(1000.0)


# ------------------------------------------------------------------ labels and rows


@pytest.mark.parametrize("how", ["NaN", "confidence 0"])
def test_labels_without_answers_keep_all_that_was_learned_of_them(how):
    X, Y = flipped(1600, 1200, seed=7)
    model = learned(X[:1230], Y[:1230])
    rules = model.trained()
    before = {name: np.take(getattr(rules.beside.arrays, name), 0, axis).copy() for name, axis in OF_LABEL.items()}
    other = {name: np.take(getattr(rules.beside.arrays, name), 1, axis).copy() for name, axis in OF_LABEL.items()}
    weights = [member.weights(0)[:, 0] for member in (RuleState(4, rules.arrays, rules.settings), rules.beside.fast)]
    labels, confidences = Y[1230:].copy(), np.ones((370, 3))
    if how == "NaN":
        labels[:, 0] = np.nan
    else:
        confidences[:, 0] = 0.0
    learn(model, X[1230:], labels, confidences=confidences)
    for name, axis in OF_LABEL.items():
        np.testing.assert_array_equal(np.take(getattr(rules.beside.arrays, name), 0, axis), before[name], err_msg=name)
    assert any(
        (np.take(getattr(rules.beside.arrays, name), 1, axis) != other[name]).any() for name, axis in OF_LABEL.items()
    )
    after = [member.weights(0)[:, 0] for member in (RuleState(4, rules.arrays, rules.settings), rules.beside.fast)]
    assert_close(after[0], weights[0], 1e-6)


@pytest.mark.parametrize("how", ["no labels", "weight 0"])
def test_rows_without_answers_only_advance_the_clock(how):
    X, Y = bent_stream(1100, seed=8)
    model = learned(X[:1000], Y[:1000])
    before, clock = state_of(model), model.drift.arrays.clock.copy()
    labels = np.full((100, 3), np.nan) if how == "no labels" else Y[1000:]
    learn(model, X[1000:], labels, weights=np.zeros(100) if how == "weight 0" else np.ones(100))
    after = state_of(model)
    changed = {name for name in after if after[name] != before[name]}
    assert changed == {"counters", "members.clock"}
    np.testing.assert_array_equal(model.drift.arrays.clock - clock, [100, 0, 0, 0, 0])


def test_rows_that_were_not_learned_fade_the_fast_member_all_the_same():
    X, Y = bent_stream(1100, seed=8)
    model = learned(X[:1000], Y[:1000], max_rules=1)
    waited = copy.deepcopy(model)
    waited.advance(1000)  # eight blocks
    for each in (model, waited):
        learn(each, X[1000:1001], Y[1000:1001])
    one, other = (each.drift.fast.hessian(1) for each in (model, waited))
    added = np.append(model.scale(X[1000:1001])[0], 1.0)
    assert_close(other - np.outer(added, added), (one - np.outer(added, added)) * np.exp(-8 / 4), 1e-9)
    assert waited.n_seen == model.n_seen


def test_a_label_has_its_own_alarm_and_its_own_weights():
    X, Y = flipped(1500, 1200, seed=2, label=1)
    model = learned(X, Y)
    rules = learned(X[:1218], Y[:1218]).trained()  # before the renewal
    assert [label for kind, label, _, _ in shifts(model) if kind == "drift"] == [1]
    w = rules.beside.mixer_weights
    assert w[SLOW, 1] < 0.2
    assert (w[SLOW, [0, 2]] > w[SLOW, 1]).all()


# ------------------------------------------------------------------ locked rules


def test_a_locked_rule_is_not_cut_faded_or_renewed():
    X, Y = flipped(2500, 1200, seed=2)
    model = learned(X[:1000], Y[:1000], vigilance=0.3)
    rules = model.trained()
    identity = int(rules.arrays.identity[1])
    lock_rule(model, identity)
    answer = rules.weights(1)
    names = ("H", "G", "P", "c", "M", "k", "n_pending", "W", *(name for name in OF_FAST if name != "fast_block"))
    before = {name: getattr(rules.arrays, name)[1].copy() for name in names}
    learn(model, X[1000:], Y[1000:])
    kinds = {event.kind for event in rules.events}
    assert {"drift", "renewed"} <= kinds
    assert rules.beside.arrays.clock[CUT] > 1200
    slot = slot_of(identity, rules.arrays)
    for name in names:
        np.testing.assert_array_equal(getattr(rules.arrays, name)[slot], before[name], err_msg=name)
    np.testing.assert_array_equal(rules.weights(slot), answer)
    np.testing.assert_array_equal(rules.beside.fast.weights(slot), answer)


def test_an_unlocked_rule_does_not_fade_for_the_time_it_was_locked():
    X, Y = bent_stream(1600, seed=9)
    model = learned(X[:1000], Y[:1000], vigilance=0.3)
    rules = model.trained()
    lock_rule(model, int(rules.arrays.identity[1]))
    before = rules.beside.fast.hessian(1)
    model.advance(1950)  # it does not fire either
    unlock_rule(model, int(rules.arrays.identity[1]))
    near = int(np.argmin(((model.scale(X) - rules.arrays.c[1]) ** 2).sum(axis=1)))
    learn(model, X[near : near + 1], Y[near : near + 1])
    after = rules.beside.fast.hessian(1)
    assert after[-1, -1] > before[-1, -1]


# ------------------------------------------------------------------ a full rule base


def idle_model(rows=0):
    """A full rule base of three rules after `rows` more rows of the stream; the one far from the others is idle."""
    rng = np.random.default_rng(3)
    places = np.array([[0.0, 0.0], [3.0, 0.0], [0.0, 9.0]])
    where = rng.integers(3, size=1200)
    X = places[where] + 0.3 * rng.normal(size=(1200, 2))
    Y = (X[:, :1] + 0.3 * rng.normal(size=(1200, 1)) > 1.5).astype(float)
    options = {"max_rules": 3, "scaling": "none", "ridge": 1.0, "vigilance": 0.3, "novel_z": 50.0}
    model = model_of(X, Y, **options)
    learn(model, X[80:], Y[80:])
    rules = model.trained()
    assert rules.n_rules == 3
    far = int(rules.arrays.identity[1 + np.argmax(rules.arrays.c[1:4, 1])])
    calm = where < 2
    model.advance(max(rows - calm.sum(), 0))
    learn(model, X[calm], Y[calm])
    return model, far


@pytest.mark.parametrize(("rows", "idle"), [(3000, False), (6000, True)])
def test_an_idle_rule_gives_up_its_slot_first(rows, idle):
    model, far = idle_model(rows)
    rules = model.trained()
    learn(model, np.array([[300.0, -300.0]]), np.ones((1, 1)))
    events = list(rules.events)
    assert events[-1].kind == "birth"
    merged = next(event for event in reversed(events) if event.kind == "merge")
    assert (far in (merged.rule, merged.other)) == idle
    assert int(rules.arrays.counters[NEXT_IDENTITY]) > 3


def test_a_locked_idle_rule_keeps_its_slot():
    model, far = idle_model(6000)
    lock_rule(model, far)
    learn(model, np.array([[300.0, -300.0]]), np.ones((1, 1)))
    assert far in model.trained().arrays.identity[1:4]


# ------------------------------------------------------------------ events


def test_events_of_a_drift_are_in_order_and_have_their_errors():
    model = learned(*flipped(2500, 1200, seed=2))
    found = [event for event in model.trained().events if event.kind in ("drift", "recovered")]
    drift, recovered = found[:2]
    assert (drift.kind, recovered.kind) == ("drift", "recovered")
    assert drift.label == recovered.label == 0
    assert drift.rule is None
    assert drift.after > drift.before + 0.05
    assert recovered.after < drift.after
    assert recovered.rows == recovered.sample - drift.sample >= 50
    assert model.drift.arrays.episode.tolist() == [NEVER] * 3


def test_a_label_that_stays_unpredictable_settles():
    X, Y = bent_stream(4200, seed=1)
    Y[1200:, 0] = np.random.default_rng(0).integers(2, size=3000)
    found = [(kind, label) for kind, label, _, _ in shifts(learned(X, Y)) if kind in ("drift", "recovered", "settled")]
    assert found[:2] == [("drift", 0), ("settled", 0)]
