"""Classifiers trained apart and united know what one pass over both streams would have taught."""

import numpy as np
import pandas as pd
import pytest

from evolabel import EvolvingFuzzyClassifier
from evolabel.errors import DataError, DataTypeError, NotTrainedError, StateError


def plain(**changes):
    return EvolvingFuzzyClassifier(**{"max_rules": 4, "scaling": "none", "ridge": 1.0, **changes})


def test_siblings_united_have_the_global_model_of_one_pass(trained, stream):
    X, Y = stream
    one, other, both = (trained.sibling() for _ in range(3))
    one.partial_fit(X[:60], Y[:60])
    other.partial_fit(X[60:], Y[60:])
    both.partial_fit(X, Y)
    one.merge(other)
    np.testing.assert_allclose(one.inner.any_model.rules.weights(0), both.inner.any_model.rules.weights(0), rtol=1e-8)
    np.testing.assert_allclose(one.inner.any_model.rules.hessian(0), both.inner.any_model.rules.hessian(0), rtol=1e-8)
    assert one.n_samples_seen_ == both.n_samples_seen_ == len(X)


def test_a_united_model_learns_on_like_the_one_that_saw_both(trained, stream):
    X, Y = stream
    one, other, both = (trained.sibling() for _ in range(3))
    one.partial_fit(X[:40], Y[:40])
    other.partial_fit(X[40:80], Y[40:80])
    both.partial_fit(X, Y)
    one.merge(other).partial_fit(X[80:], Y[80:])
    np.testing.assert_allclose(one.inner.any_model.rules.weights(0), both.inner.any_model.rules.weights(0), rtol=1e-8)


def test_a_united_model_keeps_to_its_rules(trained, stream):
    X, Y = stream
    one, other = (trained.sibling().partial_fit(X, Y) for _ in range(2))
    one.merge(other)
    assert 1 <= one.n_rules_ <= trained.max_rules
    assert sum(rule.support for rule in one.rules_) == pytest.approx(2 * len(X))


def test_a_sibling_starts_empty_with_the_same_scaling_and_labels(trained, stream):
    twin = trained.sibling()
    assert (twin.n_rules_, twin.n_samples_seen_) == (0, 0)
    assert twin.ridge_ == trained.ridge_
    assert twin.label_names_.tolist() == trained.label_names_.tolist()
    assert twin.memberships(stream[0]).shape == (len(stream[0]), 0)
    assert np.isfinite(twin.predict_proba(stream[0])).all()


def test_uniting_with_an_empty_sibling_changes_no_answer(trained, stream):
    X, _ = stream
    before = trained.decision_function(X)
    np.testing.assert_allclose(trained.sibling().merge(trained).decision_function(X), before, atol=1e-9)
    np.testing.assert_allclose(trained.merge(trained.sibling()).decision_function(X), before, atol=1e-9)


def test_merging_leaves_the_other_as_it_was(trained, stream, state_of, assert_same_state):
    other = trained.sibling().partial_fit(*stream)
    before = state_of(other)
    trained.merge(other)
    trained.partial_fit(*stream)
    assert_same_state(state_of(other), before)


def test_labels_are_aligned_by_name(stream):
    X, Y = stream
    one = plain().fit(X[:60], pd.DataFrame(Y[:60, :2], columns=["rain", "snow"]))
    other = plain().fit(X[60:], pd.DataFrame(Y[60:, [2, 1]], columns=["wind", "snow"]))
    one.merge(other)
    both = plain().fit(X, pd.DataFrame(Y[:, [1]], columns=["snow"]))
    assert one.label_names_.tolist() == ["rain", "snow", "wind"]
    assert one.predict(X).shape == (len(X), 3)
    np.testing.assert_allclose(
        one.inner.any_model.rules.weights(0)[:, 1], both.inner.any_model.rules.weights(0)[:, 0], rtol=1e-8
    )


def test_classes_are_aligned_by_value(blobs):
    X, y = blobs
    names = np.array(["ash", "birch", "cedar"])[y]
    one, other = plain().fit(X[y != 2], names[y != 2]), plain().fit(X[y != 0], names[y != 0])
    one.merge(other)
    assert one.classes_.tolist() == ["ash", "birch", "cedar"]
    assert (one.predict(X) == names).mean() > 0.8


def test_whole_floats_and_integers_are_the_same_classes(blobs):
    X, y = blobs
    one, other = plain().fit(X[:60], y[:60].astype(float)), plain().fit(X[60:], y[60:])
    one.merge(other)
    assert one.classes_.tolist() == [0, 1, 2]
    assert (one.predict(X) == y).mean() > 0.9


def test_standard_scalings_fitted_apart_are_translated(blobs):
    X, y = blobs
    Y = np.eye(3)[y]
    one = plain(scaling="standard", max_rules=6).fit(X[:60], Y[:60])
    other = plain(scaling="standard", max_rules=6).fit(3.0 + X[60:] * 1.0, Y[60:])
    one.merge(other)
    assert (one.predict(np.vstack([X[:60], 3.0 + X[60:]])) == Y).mean() > 0.8


def test_standard_scalings_of_one_source_unite_to_a_good_model(blobs):
    X, y = blobs
    one, other = (plain(scaling="standard").fit(X[part], y[part]) for part in (slice(0, 60), slice(60, 120)))
    assert (one.merge(other).predict(X) == y).mean() > 0.9


def test_scalings_that_differ_too_much_are_refused(trained, stream, state_of, assert_same_state):
    X, Y = stream
    other = EvolvingFuzzyClassifier(max_rules=4).fit(np.exp(2.0 * X), np.hstack([Y, 1.0 - Y]))
    before = state_of(trained), state_of(other)
    with pytest.raises(DataError, match="sibling"):
        trained.merge(other)
    assert_same_state(state_of(trained), before[0])
    assert_same_state(state_of(other), before[1])


INDEPENDENT = {
    "other width": lambda X, Y: plain().fit(X[:, :3], Y),
    "other names": lambda X, Y: plain().fit(pd.DataFrame(X, columns=list("abcd")), Y),
    "classes instead of labels": lambda X, Y: plain().fit(X, Y[:, 0]),
}


@pytest.mark.parametrize("stranger", INDEPENDENT)
def test_classifiers_that_do_not_fit_are_refused_and_unchanged(stranger, stream, state_of, assert_same_state):
    mine, theirs = plain().fit(*stream), INDEPENDENT[stranger](*stream)
    before = state_of(mine), state_of(theirs)
    for one, other in ((mine, theirs), (theirs, mine)):
        with pytest.raises(DataError) as error:
            one.merge(other)
        assert "\n" not in str(error.value)
    assert_same_state(state_of(mine), before[0])
    assert_same_state(state_of(theirs), before[1])


def test_a_classifier_in_its_warm_up_cannot_be_united(trained, warming, state_of, assert_same_state):
    before = state_of(trained), state_of(warming)
    for one, other in ((trained, warming), (warming, trained)):
        with pytest.raises(StateError, match="warm-up"):
            one.merge(other)
    with pytest.raises(StateError):
        warming.sibling()
    assert_same_state(state_of(trained), before[0])
    assert_same_state(state_of(warming), before[1])


def test_an_untrained_classifier_cannot_be_united(trained):
    for one, other in ((trained, plain()), (plain(), trained)):
        with pytest.raises(NotTrainedError):
            one.merge(other)


def test_only_classifiers_can_be_united(trained):
    with pytest.raises(DataTypeError):
        trained.merge("model.safetensors")


def test_rules_and_events_agree_on_births_after_a_merge(stream):
    X, Y = stream
    one = EvolvingFuzzyClassifier(max_rules=4).fit(X[:60], Y[:60])
    one.merge(one.sibling().partial_fit(X[60:], Y[60:]))
    born = {event.rule: event.sample for event in one.events_ if event.kind == "birth"}
    for rule in one.rules_:
        assert born.get(rule.identity, rule.born) == rule.born


def test_a_sibling_merged_every_day_counts_the_initial_batch_once(stream, tmp_path):
    X, Y = stream
    clf = EvolvingFuzzyClassifier(max_rules=4).fit(X[:60], Y[:60])
    annotated = clf.inner.any_model.feedback.n_initial.copy()
    for _ in range(60):
        clf.merge(clf.sibling().partial_fit(X[60:62], Y[60:62]))
    np.testing.assert_array_equal(clf.inner.any_model.feedback.n_initial, annotated)
    clf.save(tmp_path / "model")
