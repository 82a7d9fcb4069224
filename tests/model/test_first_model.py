"""Outputs of a cold start: label shares, then a model of the first 10, 20 and 40 rows, which leaves no trace."""

import copy
import pickle

import numpy as np
import pytest
from choices import examples
from hypothesis import given, settings
from hypothesis import strategies as st

from evolabel import EvolvingFuzzyClassifier
from evolabel.errors import DataError
from evolabel.model.start.first_model import STAGES
from evolabel.model.stream_model import StreamModel
from evolabel.streams import DriftingStream

X, Y = DriftingStream(n_features=5, n_labels=3, seed=4).take(120)


def by_row(clf, X, Y):
    """Outputs of each row from before it is learned, by two calls per row."""
    outputs = []
    for i in range(len(X)):
        first = i == 0
        outputs.append(np.zeros(Y.shape[1]) if first else clf.decision_function(X[i : i + 1])[0])
        clf.partial_fit(X[i : i + 1], Y[i : i + 1])
    return np.array(outputs)


@pytest.mark.parametrize("stage", STAGES)
def test_a_stage_is_the_batch_phase_on_all_rows_so_far(stage):
    clf = EvolvingFuzzyClassifier().partial_fit(X[:stage], Y[:stage])
    fitted = EvolvingFuzzyClassifier().fit(X[:stage], Y[:stage])
    np.testing.assert_array_equal(clf.decision_function(X[stage:90]), fitted.decision_function(X[stage:90]))


def test_rows_between_two_stages_are_learned():
    clf = EvolvingFuzzyClassifier().partial_fit(X[:33], Y[:33])
    fitted = EvolvingFuzzyClassifier().fit(X[:20], Y[:20]).partial_fit(X[20:33], Y[20:33])
    np.testing.assert_array_equal(clf.decision_function(X[33:50]), fitted.decision_function(X[33:50]))


def test_label_shares_come_first():
    clf = EvolvingFuzzyClassifier().partial_fit(X[:9], Y[:9])
    np.testing.assert_allclose(clf.decision_function(X[9:12]), np.tile(Y[:9].mean(axis=0), (3, 1)))


def test_row_by_row_and_at_once_are_the_same():
    at_once = EvolvingFuzzyClassifier().test_then_train(X, Y)
    np.testing.assert_array_equal(by_row(EvolvingFuzzyClassifier(), X[:100], Y[:100]), at_once[:100])


@settings(max_examples=examples(15), deadline=None)
@given(st.lists(st.integers(1, 30), min_size=1, max_size=6), st.integers(0, 10_000))
def test_parts_of_any_length_are_the_same(sizes, seed):
    rng = np.random.default_rng(seed)
    gaps = np.where(rng.random(Y.shape) < 0.2, np.nan, Y)
    weights = rng.choice([0.0, 0.5, 1.0, 3.0], size=len(X))
    whole = EvolvingFuzzyClassifier().test_then_train(X, gaps, sample_weight=weights)
    parts, clf, start = [], EvolvingFuzzyClassifier(), 0
    for end in [*np.cumsum(sizes).tolist(), len(X)]:
        end = min(end, len(X))
        if end > start:
            parts.append(clf.test_then_train(X[start:end], gaps[start:end], sample_weight=weights[start:end]))
        start = max(start, end)
    np.testing.assert_array_equal(np.vstack(parts), whole)


def test_the_model_after_the_warm_up_is_the_same_with_and_without_outputs_in_it():
    asked, silent = EvolvingFuzzyClassifier(), EvolvingFuzzyClassifier()
    by_row(asked, X[:90], Y[:90])
    silent.partial_fit(X[:90], Y[:90])
    np.testing.assert_array_equal(asked.decision_function(X[90:]), silent.decision_function(X[90:]))
    for one, other in zip(asked.inner.any_model.rules.arrays, silent.inner.any_model.rules.arrays, strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda clf: pickle.loads(pickle.dumps(clf))])
def test_copies_continue_alike(copied):
    clf = EvolvingFuzzyClassifier().partial_fit(X[:25], Y[:25])
    before = clf.decision_function(X[25:30])
    twin = copied(clf)
    np.testing.assert_array_equal(twin.decision_function(X[25:30]), before)
    np.testing.assert_array_equal(twin.test_then_train(X[25:], Y[25:]), clf.test_then_train(X[25:], Y[25:]))


def test_a_saved_warm_up_continues_alike(tmp_path):
    clf = EvolvingFuzzyClassifier().partial_fit(X[:37], Y[:37])
    before = clf.decision_function(X[37:40])
    clf.save(tmp_path / "model")
    loaded = EvolvingFuzzyClassifier.load(tmp_path / "model")
    np.testing.assert_array_equal(loaded.decision_function(X[37:40]), before)
    np.testing.assert_array_equal(loaded.test_then_train(X[37:], Y[37:]), clf.test_then_train(X[37:], Y[37:]))


def test_labels_that_appear_start_the_model_again():
    clf = EvolvingFuzzyClassifier().partial_fit(X[:15], Y[:15, :2])
    assert clf.decision_function(X[15:17]).shape == (2, 2)
    model = clf.inner.any_model
    model.grow_labels(3)
    assert model.outputs(X[15:17]).shape == (2, 3)
    assert np.isfinite(model.outputs(X[15:17])).all()


def failing(*_):
    raise DataError("cannot be learned")


@pytest.mark.parametrize("call", ["fit", "learn"])
def test_rows_that_cannot_be_learned_leave_label_shares_until_the_next_stage(monkeypatch, call):
    """The batch phase at a stage fails, or one of the rows after it."""
    clf = EvolvingFuzzyClassifier().partial_fit(X[:13], Y[:13])
    with monkeypatch.context() as patched:
        patched.setattr(StreamModel, call, failing)
        np.testing.assert_allclose(clf.decision_function(X[13:15]), np.tile(Y[:13].mean(axis=0), (2, 1)))
    np.testing.assert_allclose(clf.decision_function(X[13:15]), np.tile(Y[:13].mean(axis=0), (2, 1)))
    clf.partial_fit(X[13:20], Y[13:20])
    fitted = EvolvingFuzzyClassifier().fit(X[:20], Y[:20])
    np.testing.assert_array_equal(clf.decision_function(X[20:]), fitted.decision_function(X[20:]))


def test_an_interrupt_leaves_a_model_that_is_computed_again(monkeypatch):
    clf = EvolvingFuzzyClassifier().partial_fit(X[:15], Y[:15])
    expected = clf.decision_function(X[17:19])
    later = copy.deepcopy(clf).partial_fit(X[15:17], Y[15:17]).decision_function(X[17:19])
    clf.partial_fit(X[15:17], Y[15:17])

    learn = StreamModel.learn

    def interrupted(model, batch):
        learn(model, batch)
        raise KeyboardInterrupt  # after the first of two rows

    with monkeypatch.context() as patched:
        patched.setattr(StreamModel, "learn", interrupted)
        with pytest.raises(KeyboardInterrupt):
            clf.decision_function(X[17:19])
    np.testing.assert_array_equal(clf.decision_function(X[17:19]), later)
    assert not np.array_equal(later, expected)


def test_the_papers_profile_has_label_shares_until_its_batch_phase():
    clf = EvolvingFuzzyClassifier.paper().partial_fit(X[:30], Y[:30])
    np.testing.assert_allclose(clf.decision_function(X[30:32]), np.tile(Y[:30].mean(axis=0), (2, 1)))


def test_outputs_change_nothing_that_is_stored():
    clf = EvolvingFuzzyClassifier().partial_fit(X[:25], Y[:25])
    before = (
        clf.inner.any_model.warm_up.filled,
        clf.inner.any_model.warm_up.n_seen,
        clf.inner.any_model.warm_up.numbers[:25].copy(),
    )
    clf.decision_function(X)
    clf.predict(X)
    after = clf.inner.any_model.warm_up
    assert (after.filled, after.n_seen) == before[:2]
    np.testing.assert_array_equal(after.numbers[:25], before[2])
