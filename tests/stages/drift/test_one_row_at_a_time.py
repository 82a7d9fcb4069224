"""With members, a stream learned row by row is the stream learned at once, bit for bit; and answers change nothing."""

import numpy as np
import pytest
from following import bent_stream, classifier_of, flipped, gappy, model_of, shifts, state_of

from evolabel.core.rows import Batch
from evolabel.model.growth import grow_features
from evolabel.stages.drift.arrays import BORN, NEVER
from evolabel.stages.sensors.arrays import IS_ON

pytestmark = pytest.mark.compiled


def moved(rows=1500):
    """A label turns round at row 700, a sensor moves at row 1,000; values, labels, weights and confidences vary."""
    X, Y = flipped(rows, 700, seed=2)
    X[1000:, 1] += 5.0 * X[:, 1].std()
    X, Y = gappy(X, Y)
    rng = np.random.default_rng(5)
    weights = np.where(rng.random(rows) < 0.1, 0.0, rng.uniform(0.3, 1.7, rows))
    confidences = np.where(rng.random(Y.shape) < 0.7, 1.0, rng.random(Y.shape))
    return Batch(X, Y, weights, confidences, np.zeros(Y.shape))


def chunks(batch, sizes):
    """Parts of a batch of these sizes, over and over."""
    at, i = 0, 0
    while at < len(batch.X):
        size = sizes[i % len(sizes)]
        yield batch.rows(slice(at, at + size))
        at, i = at + size, i + 1


@pytest.mark.parametrize("sizes", [[1], [7, 1, 250], [640]])
@pytest.mark.parametrize("plain", [True, False], ids=["complete", "gappy"])
def test_parts_of_any_size_give_the_same_bits(sizes, plain):
    batch = moved()
    if plain:
        X, Y = flipped(1500, 700, seed=2)
        batch = Batch(X, Y, outputs=np.zeros(Y.shape))
    first, rest = batch.rows(slice(0, 80)), batch.rows(slice(80, None))
    first = Batch(*bent_stream(80, 2)) if not plain else first
    one, other = model_of(first.X, first.Y, vigilance=0.2), model_of(first.X, first.Y, vigilance=0.2)
    one.learn(rest)
    expected, again = rest.outputs.copy(), rest._replace(outputs=np.zeros(rest.Y.shape))
    for part in chunks(again, sizes):
        other.learn(part)
    np.testing.assert_array_equal(again.outputs, expected)
    assert state_of(one) == state_of(other)
    kinds = {e.kind for e in one.trained().events}
    assert {"birth", "merge"} <= kinds  # in a full rule base
    if plain:
        assert {"drift", "recovered", "renewed"} <= kinds
    else:
        assert "sensor moved" in kinds


def test_outputs_of_learning_are_those_of_answering_before():
    batch = moved()
    model = model_of(*bent_stream(80, 2), vigilance=0.2)
    for i in range(0, len(batch.X), 37):
        model.learn(batch.rows(slice(i, i + 36)))
        row = batch.rows(slice(i + 36, i + 37))
        if len(row.X):
            expected = model.outputs(row.X)
            model.learn(row)
            np.testing.assert_allclose(row.outputs, expected, rtol=0, atol=1e-12)


def test_new_labels_and_features_come_in_the_same_way_row_by_row():
    X, Y = flipped(1200, 600, seed=4)
    new = np.random.default_rng(1).normal(size=1200)
    wide, more = np.column_stack([X, new]), np.column_stack([Y, new > 1.0])
    models = []
    for size in (1, 2000):
        model = model_of(X, Y)
        for part in chunks(Batch(X[80:700], Y[80:700]), [size]):
            model.learn(part)
        grow_features(model, [new[:50]])
        model.grow_labels(4)
        for part in chunks(Batch(wide[700:], more[700:]), [size]):
            model.learn(part)
        models.append(model)
    assert state_of(models[0]) == state_of(models[1])


def test_answers_explanations_and_rules_change_nothing():
    """Before the fast member begins, during a trial, during a drift, after it."""
    X, Y = flipped(1500, 700, seed=2)
    X[1000:, 1] += 5.0 * X[:, 1].std()
    clf, model = classifier_of(X, Y), None
    seen = set()
    for start in range(80, 1500, 40):
        clf.partial_fit(X[start : start + 40], Y[start : start + 40])
        model = clf.inner.any_model
        members = model.drift.arrays
        seen.add(("trial", bool(model.sensors.arrays.trial[IS_ON])))
        seen.add(("fast", members.clock[BORN] != NEVER))
        seen.add(("drift", bool((members.episode != NEVER).any())))
        before = state_of(model)
        clf.predict(X[:3])
        clf.predict_proba(X[:40])
        clf.explain(X[start])
        str(clf.rules_)
        clf.memberships(X[:3])
        assert state_of(model) == before
    assert len(seen) == 6
    assert any(kind == "sensor moved" for kind, *_ in shifts(model))
