"""A label nobody annotated keeps its weights; the annotated ones learn as if the row were complete."""

import copy

import numpy as np
import pytest
from choices import pairs
from small_rule_bases import assert_close, learned, make_stream

from evolabel.core.rows import Batch


def calm_base(seed):
    """A rule base that gives birth to no more rules."""
    base = learned(seed, rows=120)
    base.settings = base.settings._replace(radius=1e9, novel_z=1e9)
    assert base.n_rules > 1
    return base


def all_weights(base):
    return np.array([base.weights(slot) for slot in range(base.n_rules + 1)])


def own_step(base, before, slot):
    """The change of a slot's weights without what W_0's own step brings: P gamma D (W_0 - its old value)."""
    step = base.weights(slot) - before[slot]
    if slot > 0:
        step -= base.inverse(slot) @ (base.settings.penalty[1][:, None] * (base.weights(0) - before[0]))
    return step


@pytest.mark.parametrize(("seed", "silent"), pairs([0, 1, 2], [[0], [1], [0, 2]]))
def test_an_unanswered_label_keeps_its_weights_and_the_others_take_the_full_step(seed, silent):
    base = calm_base(seed)
    answered = [label for label in range(3) if label not in silent]
    Z, Y = make_stream(seed, rows=150)
    moved = 0.0
    for z, y in zip(Z[120:], Y[120:], strict=True):
        before, full = all_weights(base), copy.deepcopy(base)
        full.learn(Batch(z[None], y[None]))
        gappy = y.copy()
        gappy[silent] = np.nan
        base.learn(Batch(z[None], gappy[None]))
        after = all_weights(base)
        assert_close(after[:, :, silent], before[:, :, silent], 1e-10)
        for slot in range(base.n_rules + 1):
            expected = own_step(full, before, slot)[:, answered]
            np.testing.assert_allclose(own_step(base, before, slot)[:, answered], expected, rtol=1e-8, atol=1e-11)
            moved = max(moved, np.abs(expected).max())
    assert moved > 0.01


def test_evidence_grows_by_the_share_of_labels_answered():
    base = calm_base(0)
    (z,), _ = make_stream(7, rows=1)
    H = base.hessian(0)
    base.learn(Batch(z[None], np.array([[1.0, np.nan, np.nan]])))
    r = np.append(z, 1.0)
    assert_close(base.hessian(0) - H, np.outer(r, r) / 3.0, 1e-9)


def test_full_confidence_is_the_same_as_none_given():
    Z, Y = make_stream(1, rows=160)
    one, two = calm_base(1), calm_base(1)
    one.learn(Batch(Z, Y))
    two.learn(Batch(Z, Y, confidences=np.ones(Y.shape)))
    np.testing.assert_array_equal(one.outputs(Z), two.outputs(Z))


def test_confidence_zero_is_the_same_as_no_answer():
    Z, Y = make_stream(1, rows=160)
    confidences = np.ones(Y.shape)
    confidences[:, 1] = 0.0
    one, two = calm_base(1), calm_base(1)
    one.learn(Batch(Z, Y, confidences=confidences))
    two.learn(Batch(Z, np.where(confidences == 0.0, np.nan, Y)))
    np.testing.assert_array_equal(one.outputs(Z), two.outputs(Z))


def test_low_confidence_moves_the_weights_less():
    (z,), _ = make_stream(3, rows=1)
    steps = []
    for confidence in (0.1, 0.5, 1.0):
        base = calm_base(0)
        before = base.weights(0)
        base.learn(Batch(z[None], np.array([[1.0, 0.0, 1.0]]), confidences=np.array([[confidence, 1.0, 1.0]])))
        steps.append(np.abs(base.weights(0) - before)[:, 0].max())
    assert 0.0 < steps[0] < steps[1] < steps[2]
