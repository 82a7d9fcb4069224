"""Models with members that were trained apart and are merged."""

import copy

import numpy as np
import pandas as pd
import pytest
from following import bent_stream, classifier_of, flipped, state_of
from small_rule_bases import assert_close

from evolabel.errors import DataError
from evolabel.stages.drift.arrays import BORN, FAST, NEVER, ROWS, SLOW, SLOW_START
from evolabel.stages.sensors.arrays import OFFSET

pytestmark = pytest.mark.compiled


def slow_of(clf):
    return clf.inner.any_model.trained()


def parts_of(X, Y, split=1500, **changes):
    """A classifier after its initial batch, and two siblings that have learned the halves of a stream."""
    origin = classifier_of(X, Y, **changes)
    one, other = origin.sibling(), origin.sibling()
    one.partial_fit(X[:split], Y[:split])
    other.partial_fit(X[split:], Y[split:])
    return origin, one, other


def faded(clf, slot):
    """Fast sums of a slot at the present of its own stream."""
    rules = clf.inner.any_model.trained()
    factor = np.exp((int(rules.arrays.fast_block[slot]) - rules.beside.block) / 2.0)
    return factor * rules.beside.fast.hessian(slot), factor * rules.beside.fast.arrays.G[slot]


def test_slow_sums_add_up_exactly_and_fast_ones_faded():
    X, Y = bent_stream(2700, seed=1)
    _, one, other = parts_of(X, Y)
    both = classifier_of(X, Y).sibling()
    other.inner.any_model.advance(700)  # its fast sums have not faded yet
    slow = [slow_of(clf).hessian(0) for clf in (one, other)]
    H, G = (sum(pair) for pair in zip(faded(one, 0), faded(other, 0), strict=True))
    clock, rows = (
        one.inner.any_model.drift.arrays.clock.copy(),
        other.inner.any_model.drift.arrays.clock[ROWS],
    )
    assert clock[BORN] != NEVER
    assert clock[ROWS] != rows
    one.merge(other)
    merged = one.inner.any_model.trained()
    assert_close(slow_of(one).hessian(0), slow[0] + slow[1], 1e-12)
    assert_close(merged.beside.fast.hessian(0), H, 1e-12)
    assert_close(merged.beside.fast.arrays.G[0], G, 1e-12)
    A = H + np.diag(merged.settings.penalty[0])
    np.testing.assert_allclose(merged.beside.fast.inverse(0) @ A, np.eye(len(A)), atol=1e-10)
    np.testing.assert_array_equal(merged.beside.arrays.clock, clock)  # of the left side
    both.partial_fit(X, Y)
    assert_close(slow_of(one).weights(0), slow_of(both).weights(0), 1e-8)


def test_sums_of_all_rules_add_up_for_both_members():
    X, Y = bent_stream(2700, seed=2)
    _, one, other = parts_of(X, Y, vigilance=0.3)
    one.inner.any_model.advance(300)
    other.inner.any_model.advance(700)
    totals = []
    for clf in (one, other):
        rules = clf.inner.any_model.trained()
        slots = range(1, rules.n_rules + 1)
        totals.append((sum(slow_of(clf).hessian(s) for s in slots), sum(faded(clf, s)[0] for s in slots)))
    one.merge(other)
    rules = one.inner.any_model.trained()
    slots = range(1, rules.n_rules + 1)
    assert_close(sum(slow_of(one).hessian(s) for s in slots), totals[0][0] + totals[1][0], 1e-9)
    present = [faded(one, s)[0] for s in slots]  # those of a pair that was merged have one block for both
    assert_close(sum(present), totals[0][1] + totals[1][1], 1e-9)


def test_logits_of_the_linear_members_are_averaged_by_their_answers():
    X, Y = bent_stream(1000, seed=3)
    X = 5.0 + 0.1 * X
    origin = classifier_of(X, Y)
    one, other = origin.sibling(), origin.sibling()
    one.partial_fit(X[:100], Y[:100])
    other.partial_fit(X[200:], Y[200:])
    members = [clf.inner.any_model.drift.arrays for clf in (one, other)]
    inner = X[np.abs((X - X.mean(axis=0)) / X.std(axis=0)).max(axis=1) < 1.5][:50]  # no score is cut
    logits = [
        clf.inner.any_model.drift.linear_scores(inner) @ m.W.T for clf, m in zip((one, other), members, strict=True)
    ]
    n = [m.n_losses[0] for m in members]
    assert n == [100.0, 200.0]
    shares = [m.share.copy() for m in members]
    losses = [m.losses.copy() for m in members]
    losses[0][FAST] = losses[0][SLOW]  # it had not begun, so it begins as a copy
    one.merge(other)
    merged = one.inner.any_model.trained()
    np.testing.assert_allclose(
        merged.beside.linear_scores(inner) @ merged.beside.arrays.W.T,
        (n[0] * logits[0] + n[1] * logits[1]) / sum(n),
        atol=1e-9,
    )
    np.testing.assert_allclose(merged.beside.arrays.losses, (n[0] * losses[0] + n[1] * losses[1]) / sum(n), rtol=1e-12)
    np.testing.assert_allclose(
        merged.beside.arrays.share[0], (100 * shares[0][0] + 800 * shares[1][0]) / 900, rtol=1e-12
    )
    rows = np.vstack([X[:100], X[200:]])
    np.testing.assert_allclose(merged.beside.arrays.mean, rows.mean(axis=0), rtol=1e-10)
    np.testing.assert_allclose(merged.beside.arrays.variance, rows.var(axis=0), rtol=1e-8)


def test_merging_with_an_empty_sibling_changes_no_answer_and_no_member():
    X, Y = flipped(1500, 1200, seed=2)
    clf = classifier_of(X, Y)
    clf.partial_fit(X[80:1218], Y[80:1218])  # in the middle of a drift: all members have a weight
    before, answers = clf.inner.any_model.drift.arrays, clf.decision_function(X)
    clf.merge(clf.sibling())
    np.testing.assert_allclose(clf.decision_function(X), answers, atol=1e-9)
    after = clf.inner.any_model.drift.arrays
    for name in ("clock", "losses", "n_losses", "share", "alarms", "episode", "reversal", "mean", "variance", "n_read"):
        np.testing.assert_allclose(getattr(after, name), getattr(before, name), rtol=1e-12, err_msg=name)
    np.testing.assert_allclose(clf.sibling().merge(clf).decision_function(X), answers, atol=1e-9)


def test_the_other_side_stays_as_it_was():
    X, Y = bent_stream(1500, seed=4)
    _, one, other = parts_of(X, Y, split=700)
    before = state_of(other.inner.any_model)
    one.merge(other)
    one.partial_fit(X, Y)
    assert state_of(other.inner.any_model) == before


def named(Y, names):
    return pd.DataFrame(Y, columns=names)


def test_labels_in_another_order_are_the_same_labels():
    X, Y = bent_stream(2000, seed=5)
    names = ["a", "b", "c"]
    first = classifier_of(X, named(Y, names))
    one = first.sibling().partial_fit(X[:900], named(Y[:900], names))
    theirs = [classifier_of(X, named(Y[:, order], [names[i] for i in order])) for order in ([0, 1, 2], [2, 0, 1])]
    for clf, order in zip(theirs, ([0, 1, 2], [2, 0, 1]), strict=True):
        clf.partial_fit(X[900:], named(Y[900:, order], [names[i] for i in order]))
    merged = [first.sibling().merge(one).merge(clf) for clf in theirs]
    for name in ("W", "losses", "n_losses", "share"):
        got, expected = (getattr(clf.inner.any_model.drift.arrays, name) for clf in merged)
        np.testing.assert_allclose(got, expected, rtol=1e-9, atol=1e-12, err_msg=name)
    np.testing.assert_allclose(merged[0].decision_function(X), merged[1].decision_function(X), atol=1e-8)


@pytest.mark.parametrize("in_drift", [False, True])
def test_a_label_that_only_one_side_has_keeps_its_answers(in_drift):
    """In all members, also where the fast member has a weight."""
    X, Y = flipped(2500, 1200 if in_drift else 5000, seed=6, label=2)
    end = 1235 if in_drift else 1600
    two = classifier_of(X, named(Y[:, :2], ["a", "b"]))
    two.partial_fit(X[80:900], named(Y[80:900, :2], ["a", "b"]))
    three = classifier_of(X, named(Y, ["a", "b", "c"]))
    three.partial_fit(X[80:end], named(Y[80:end], ["a", "b", "c"]))
    before = three.inner.any_model.trained()
    slow, fast, W = (
        slow_of(three).weights(0)[:, 2],
        before.beside.fast.weights(0)[:, 2],
        before.beside.arrays.W[2].copy(),
    )
    losses, logits = before.beside.arrays.losses[:, 2].copy(), before.beside.linear_scores(X[:50]) @ W
    for merged in (copy.deepcopy(three).merge(two), two.merge(three)):
        rules = merged.inner.any_model.trained()
        assert merged.label_names_.tolist() == ["a", "b", "c"]
        np.testing.assert_allclose(rules.beside.arrays.losses[:, 2], losses, rtol=1e-12)
        assert_close(slow_of(merged).weights(0)[:, 2], slow, 1e-7)
        assert_close(rules.beside.fast.weights(0)[:, 2], fast, 1e-7)
        inner = np.abs(rules.beside.linear_scores(X[:50])).max(axis=1) < 2.5
        np.testing.assert_allclose(
            (rules.beside.linear_scores(X[:50]) @ rules.beside.arrays.W[2])[inner], logits[inner], atol=1e-8
        )


def moved_model(rows=1800):
    X, Y = bent_stream(2400, seed=11)
    X[1200:, 1] += 5.0 * X[:1200, 1].std()
    clf = classifier_of(X, Y)
    clf.partial_fit(X[80:rows], Y[80:rows])
    assert clf.inner.any_model.drift.sensors.arrays.views[OFFSET, 1] < -1.0
    return clf, X, Y


def test_corrections_of_the_left_side_stay():
    clf, X, Y = moved_model()
    plain = classifier_of(X, Y)
    plain.partial_fit(X[80:1000], Y[80:1000])
    views = clf.inner.any_model.drift.sensors.arrays.views.copy()
    clf.merge(plain)
    np.testing.assert_array_equal(clf.inner.any_model.drift.sensors.arrays.views, views)
    assert (clf.predict(X[1800:]) == Y[1800:]).mean() > 0.85


def test_a_sibling_reads_a_corrected_sensor_as_its_origin_does():
    clf, X, Y = moved_model()
    twin = clf.sibling()
    np.testing.assert_array_equal(
        twin.inner.any_model.drift.sensors.corrected(X[1800:]), clf.inner.any_model.drift.sensors.corrected(X[1800:])
    )
    twin.partial_fit(X[1800:], Y[1800:])
    centres = twin.inner.any_model.trained().arrays.c[0]
    assert abs(centres[1]) < 0.5  # not at the moved place
    right = (clf.predict(X[2000:]) == Y[2000:]).mean()
    clf.merge(twin)
    assert (clf.predict(X[2000:]) == Y[2000:]).mean() > right - 0.02
    assert not [event for event in twin.events_ if event.kind in ("sensor moved", "inputs moved")]


def test_models_of_which_one_follows_are_not_merged():
    X, Y = bent_stream(300, seed=7)
    one, other = (classifier_of(X, Y, follow_drift=flag) for flag in (True, False))
    for left, right in ((one, other), (other, one)):
        with pytest.raises(DataError, match="follow_drift"):
            left.merge(right)


def test_parts_of_a_drifting_stream_make_a_good_model():
    X, Y = flipped(4000, 1500, seed=8)
    origin = classifier_of(X, Y)
    origin.partial_fit(X[80:2000], Y[80:2000])
    parts = [origin.sibling().partial_fit(X[2000 + i : 3000 : 2], Y[2000 + i : 3000 : 2]) for i in (0, 1)]
    merged = origin.merge(parts[0]).merge(parts[1])
    assert (merged.predict(X[3000:]) == Y[3000:]).mean() > 0.88
    outputs = merged.test_then_train(X[3000:], Y[3000:])
    assert ((outputs >= 0.5) == Y[3000:]).mean() > 0.88
    clock = merged.inner.any_model.drift.arrays.clock
    assert clock[SLOW_START] <= clock[ROWS] == 3000
    assert merged.inner.any_model.drift.mixer_weights[SLOW].min() >= 0.0
