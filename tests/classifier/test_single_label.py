"""A 1-D target is a plain classification problem: one-hot inside, arg max outside."""

import numpy as np
import pytest

from evolabel import EvolvingFuzzyClassifier
from evolabel.errors import DataError

NAMES = np.array(["ash", "birch", "cedar"])


@pytest.fixture
def clf():
    return EvolvingFuzzyClassifier(max_rules=6, warm_up=20)


def test_multiclass_is_learned_and_answers_have_one_column_per_class(clf, blobs):
    X, y = blobs
    clf.fit(X[:80], y[:80])
    assert (clf.predict(X[80:]) == y[80:]).mean() > 0.9
    assert clf.decision_function(X).shape == clf.predict_proba(X).shape == (len(X), 3)
    assert clf.classes_.tolist() == [0, 1, 2]
    assert clf.predict(X).dtype == y.dtype


def test_decision_function_of_two_classes_is_one_number_that_is_positive_for_the_second(clf, blobs):
    X, y = blobs
    X, y = X[y < 2], y[y < 2]
    clf.fit(X, y)
    margin = clf.decision_function(X)
    assert margin.shape == (len(X),)
    assert clf.predict_proba(X).shape == (len(X), 2)
    assert np.array_equal(clf.predict(X), (margin > 0.0).astype(int))
    assert (clf.predict(X) == y).mean() > 0.9


def test_string_classes_come_back_as_they_went_in(clf, blobs):
    X, y = blobs
    clf.fit(X, NAMES[y])
    assert clf.classes_.tolist() == NAMES.tolist()
    assert clf.label_names_.tolist() == NAMES.tolist()
    assert (clf.predict(X) == NAMES[y]).mean() > 0.9


def test_codes_of_the_classes_do_not_matter(clf, blobs):
    X, y = blobs
    plain = clf.fit(X, y).decision_function(X)
    named = clf.fit(X, NAMES[y]).decision_function(X)
    assert np.array_equal(plain, named)


@pytest.mark.parametrize("classes", [1, 2, 3])
def test_probabilities_sum_to_one(clf, blobs, classes):
    X, y = blobs
    clf.fit(X, y % classes)
    shares = clf.predict_proba(np.vstack([X, 50.0 * X, -50.0 * X]))
    np.testing.assert_allclose(shares.sum(axis=1), 1.0, atol=1e-12)
    assert shares.min() >= 0.0


def test_a_single_class_is_always_predicted(clf, blobs):
    X, _ = blobs
    clf.fit(X, np.full(len(X), "only"))
    assert set(clf.predict(X)) == {"only"}
    assert clf.decision_function(X).shape == (len(X),)


def test_a_new_class_mid_stream_is_learned(clf, blobs):
    X, y = blobs
    old, new = np.flatnonzero(y < 2), np.flatnonzero(y == 2)
    clf.fit(X[old], NAMES[y[old]])
    assert clf.classes_.tolist() == ["ash", "birch"]
    clf.partial_fit(X[new[:20]], NAMES[y[new[:20]]])
    assert clf.classes_.tolist() == ["ash", "birch", "cedar"]
    assert clf.predict_proba(X).shape == (len(X), 3)
    assert (clf.predict(X[new[20:]]) == "cedar").mean() > 0.9
    assert (clf.predict(X[old]) == NAMES[y[old]]).mean() > 0.9


def test_a_new_class_during_the_warm_up_is_learned(clf, blobs):
    X, y = blobs
    first = np.flatnonzero(y == 0)[:5]
    clf.partial_fit(X[first], NAMES[y[first]])
    clf.partial_fit(X, NAMES[y])
    assert (clf.predict(X) == NAMES[y]).mean() > 0.85


def test_announced_classes_are_known_from_the_first_call(clf, blobs):
    X, y = blobs
    clf.partial_fit(X[:1], y[:1], classes=[2, 0, 1])
    assert clf.classes_.tolist() == [0, 1, 2]
    assert clf.predict_proba(X[:2]).shape == (2, 3)


def test_announced_classes_may_come_before_any_annotation(clf, blobs):
    X, _ = blobs
    clf.partial_fit(X[:3], np.array([None, None, None]), classes=["ash", "birch"])
    assert clf.classes_.tolist() == ["ash", "birch"]
    assert clf.n_samples_seen_ == 3
    np.testing.assert_allclose(clf.predict_proba(X[:1]), 0.5)


def test_a_first_call_without_any_class_asks_for_classes(clf, blobs):
    with pytest.raises(DataError, match="classes"):
        clf.partial_fit(blobs[0][:3], np.array([None, None, None]))


def test_announced_classes_must_be_of_one_kind(clf, blobs):
    with pytest.raises(DataError, match="one kind"):
        clf.partial_fit(blobs[0], blobs[1], classes=np.array([0, "ash"], dtype=object))


@pytest.mark.parametrize(
    "with_gaps",
    [
        lambda y, gap: np.where(gap, np.nan, y),
        lambda y, gap: np.where(gap, None, y.astype(object)),
        lambda y, gap: np.where(gap, np.nan, NAMES.astype(object)[y]),
        lambda y, gap: [None if g else str(c) for c, g in zip(NAMES[y], gap, strict=True)],
        lambda y, gap: [float("nan") if g else str(c) for c, g in zip(NAMES[y], gap, strict=True)],
    ],
    ids=["float NaN", "None", "strings NaN", "list with None", "list of strings with NaN"],
)
def test_a_missing_class_is_not_annotated(clf, blobs, with_gaps):
    X, y = blobs
    gap = np.arange(60) % 4 == 1
    clf.fit(X[:60], with_gaps(y[:60], gap))
    assert len(clf.classes_) == 3
    annotated = EvolvingFuzzyClassifier(max_rules=6).fit(X[:60][~gap], y[:60][~gap])
    assert np.array_equal(clf.decision_function(X), annotated.decision_function(X))


def test_a_row_without_class_only_counts(clf, blobs, state_of, assert_same_state):
    X, y = blobs
    clf.fit(X[:60], y[:60])
    before = state_of(clf)
    clf.partial_fit(X[60:63], np.full(3, np.nan))
    before["rules.counters"][1] += 3
    before["members.clock"][0] += 3
    assert_same_state(state_of(clf), before)


def test_classes_of_another_kind_are_refused_mid_stream(clf, blobs, state_of, assert_same_state):
    X, y = blobs
    clf.fit(X, y)
    before = state_of(clf)
    with pytest.raises(DataError):
        clf.partial_fit(X[:2], np.array(["ash", "birch"]))
    assert_same_state(state_of(clf), before)


def test_whole_floats_are_the_same_classes_as_integers(clf, blobs):
    X, y = blobs
    clf.fit(X[:60], y[:60]).partial_fit(X[60:], y[60:].astype(float))
    assert clf.classes_.tolist() == [0, 1, 2]


def test_fractions_are_no_classes(clf, blobs):
    with pytest.raises(DataError, match="continuous"):
        clf.fit(blobs[0], blobs[1] + 0.5)


@pytest.mark.parametrize("form", ["matrix", "classes"])
def test_the_form_of_the_target_may_not_change(clf, blobs, form):
    X, y = blobs
    one_hot = np.eye(3)[y]
    first, second = (one_hot, y) if form == "matrix" else (y, one_hot)
    clf.fit(X, first)
    with pytest.raises(DataError, match="keep to one form"):
        clf.partial_fit(X, second)


@pytest.mark.parametrize("warm_up", [5, 40])
def test_classes_that_appear_teach_the_same_row_by_row_and_at_once(warm_up):
    rng = np.random.default_rng(3)
    X = rng.normal(size=(60, 3))
    y = np.array(["b"] * 12 + ["a"] * 10 + ["c", "b", "a"] * 12 + ["d", "a"])
    at_once = EvolvingFuzzyClassifier(warm_up=warm_up, max_rules=4)
    by_row = EvolvingFuzzyClassifier(warm_up=warm_up, max_rules=4)
    scores = at_once.test_then_train(X, y)
    for i in range(len(X)):
        row = by_row.test_then_train(X[i : i + 1], y[i : i + 1])
        assert np.array_equal(scores[i, : row.shape[1]], row[0])
        assert not scores[i, row.shape[1] :].any()
    assert at_once.classes_.tolist() == by_row.classes_.tolist() == ["b", "a", "c", "d"]
    assert np.array_equal(at_once.predict_proba(X), by_row.predict_proba(X))
