"""Labels and rules beyond the room there was at first."""

import numpy as np
import pytest
from small_rule_bases import learned, make_settings, make_stream

from evolabel.core.rows import Batch
from evolabel.errors import OutOfMemoryError
from evolabel.stages.rules import memory_need
from evolabel.stages.rules.arrays import FIRST_CAPACITY
from evolabel.stages.rules.slots import PER_SLOT
from evolabel.stages.rules.stage import RuleBase


@pytest.mark.parametrize("rows", [1, 37, 150])
@pytest.mark.parametrize("n_labels", [4, 7])
def test_new_labels_answer_their_base_rate_and_leave_the_others_alone(rows, n_labels):
    base = learned(2, rows)
    Z = np.vstack([make_stream(2, rows=60)[0], 3.0 * np.eye(4), [[np.nan, 1.0, 2.0, np.nan]]])
    before = base.outputs(Z)
    base.grow_labels(n_labels)
    after = base.outputs(Z)
    assert base.n_labels == n_labels
    np.testing.assert_array_equal(after[:, :3], before)
    np.testing.assert_allclose(after[:, 3:], 1.0 / (rows + 2.0), rtol=1e-9)


def test_a_new_label_is_learned():
    base = learned(2, rows=100)
    base.grow_labels(4)
    Z, Y = make_stream(2, rows=400)
    new = (Z[:, 0] + Z[:, 1] > 0.0).astype(float)
    base.learn(Batch(Z[100:300], np.column_stack([Y, new])[100:300]))
    answers = base.outputs(Z[300:])[:, 3]
    assert np.mean((answers > 0.5) == (new[300:] == 1.0)) > 0.85


def test_old_labels_learn_on_as_if_no_label_had_come():
    alone, grown = learned(2, rows=100), learned(2, rows=100)
    grown.grow_labels(5)
    Z, Y = make_stream(2, rows=200)
    alone.learn(Batch(Z[100:], Y[100:]))
    grown.learn(Batch(Z[100:], np.column_stack([Y, Y[:, :2]])[100:]))
    np.testing.assert_array_equal(grown.outputs(Z)[:, :3], alone.outputs(Z))


def test_room_for_rules_doubles_without_a_trace():
    settings = make_settings(4, max_rules=100, radius=0.01, prune_after=80, min_support=2.0)
    growing, roomy = RuleBase(4, 3, settings), RuleBase(4, 3, settings)
    roomy.reserve(100)
    assert len(growing.arrays.c) == FIRST_CAPACITY + 1 < len(roomy.arrays.c)
    Z, Y = make_stream(5, rows=120)
    outs = np.empty(Y.shape), np.empty(Y.shape)
    growing.learn(Batch(Z, Y, outputs=outs[0]))
    roomy.learn(Batch(Z, Y, outputs=outs[1]))
    assert growing.n_rules > FIRST_CAPACITY
    assert list(growing.events) == list(roomy.events)
    np.testing.assert_array_equal(*outs)
    for name in PER_SLOT:
        one, two = (getattr(base.arrays, name)[: base.n_rules + 1] for base in (growing, roomy))
        np.testing.assert_array_equal(one, two, err_msg=name)


def test_rules_that_do_not_fit_any_more_are_refused_and_the_others_stay(monkeypatch):
    base = RuleBase(4, 3, make_settings(4, max_rules=100, radius=0.01))
    Z, Y = make_stream(5, rows=120)
    monkeypatch.setattr(memory_need, "_ALWAYS_FITS", 0)
    monkeypatch.setattr(memory_need, "memory_available", lambda: 1000)
    with pytest.raises(OutOfMemoryError, match=r"there are 32 rules, and slots for 64 need .* max_rules=32"):
        base.learn(Batch(Z, Y))
    assert base.n_rules == FIRST_CAPACITY
    seen = base.n_seen
    base.learn(Batch(base.arrays.c[1:3].copy(), Y[:2]))
    assert base.n_seen == seen + 2
    monkeypatch.setattr(memory_need, "memory_available", lambda: None)
    base.learn(Batch(Z[60:], Y[60:]))
    assert base.n_rules > FIRST_CAPACITY


def test_labels_grow_before_the_rules_do():
    settings = make_settings(4, max_rules=100, radius=0.01)
    base = RuleBase(4, 3, settings)
    Z, Y = make_stream(5, rows=120)
    base.learn(Batch(Z[:20], Y[:20]))
    base.grow_labels(4)
    base.learn(Batch(Z[20:], np.column_stack([Y, Y[:, 0]])[20:]))
    assert base.n_rules > FIRST_CAPACITY
    other = RuleBase(4, 3, settings)
    other.learn(Batch(Z, Y))
    np.testing.assert_array_equal(base.outputs(Z)[:, :3], other.outputs(Z))
