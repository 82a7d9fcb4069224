"""Labels with few answers are explored until they have enough."""

import copy

import numpy as np
import pandas as pd
import pytest

from evolabel import EvolvingFuzzyClassifier
from evolabel.active import ActiveLearner, Ambiguity
from evolabel.active.query_context import _ENOUGH_ANSWERS, NewLabelExploration
from evolabel.errors import DataError
from evolabel.streams import DriftingStream

NEXT = np.array([1.0])


@pytest.fixture(scope="module")
def grown():
    """A stream whose last two labels appear after the initial batch; before, they are NaN."""
    return DriftingStream(drift="new_label", drift_every=250, seed=0).take(1500)


@pytest.fixture(scope="module")
def fitted(grown):
    X, Y = grown
    return EvolvingFuzzyClassifier(max_rules=6).fit(X[:200], Y[:200])


def asked_about(learner, X, Y):
    """How often each label is asked for."""
    counts = np.zeros(Y.shape[1])
    for x, y in zip(X, Y, strict=True):
        query = learner.query(x)
        counts += query.labels
        learner.update(query, np.where(query.labels, y, np.nan) if query.asked else None)
    return counts


@pytest.mark.slow
def test_labels_that_appear_are_asked_about(grown):
    X, Y = grown
    fitted = EvolvingFuzzyClassifier(max_rules=6, follow_drift=False).fit(X[:200], Y[:200])  # else some are drawn
    counts = {}
    for new_labels in (False, True):
        criteria = (Ambiguity(new_labels=new_labels), "leverage")
        learner = ActiveLearner(copy.deepcopy(fitted), 0.1, "labels", criteria=criteria)
        counts[new_labels] = asked_about(learner, X[200:], Y[200:])
    assert counts[False][3:].max() < 20
    assert counts[True][3:].min() > 60


def test_questions_about_labels_that_do_not_exist_yet_become_rare(grown, fitted):
    X, Y = grown
    learner = ActiveLearner(copy.deepcopy(fitted), 0.2, "labels")
    absent = Y[200:250].copy()
    absent[:, 3:] = np.nan
    rows = np.tile(X[200:250], (8, 1)), np.tile(absent, (8, 1))
    counts = asked_about(learner, *rows)
    assert counts[3:].min() >= 1
    assert counts[3:].max() < 0.1 * len(rows[0])


def test_exploration_ends_with_enough_answers(grown, fitted):
    classifier = copy.deepcopy(fitted)
    exploration = NewLabelExploration(classifier.inner.any_model)
    np.testing.assert_array_equal(exploration.weights(NEXT)[0], [0, 0, 0, 1, 1])
    rows, answers = grown[0][:_ENOUGH_ANSWERS], np.tile([np.nan, np.nan, np.nan, 1.0, np.nan], (_ENOUGH_ANSWERS, 1))
    classifier.partial_fit(rows[::2], answers[::2])
    np.testing.assert_allclose(exploration.weights(NEXT)[0], [0, 0, 0, 0.5, 1])
    classifier.partial_fit(rows[::2], answers[::2])
    classifier.partial_fit(rows, np.nan_to_num(1.0 - answers, nan=1.0))
    assert exploration.weights(NEXT) is None
    classifier.partial_fit(rows[:1], np.append(answers[0], np.nan)[None])
    np.testing.assert_array_equal(exploration.weights(NEXT)[0], [0, 0, 0, 0, 0, 1])


def test_the_penalty_after_no_answer_decays(fitted):
    exploration, asked = NewLabelExploration(fitted.inner.any_model), np.array([False, False, False, True, False])
    for _ in range(3):
        exploration.record_answer(1, asked, np.zeros(5, bool))
    weights = exploration.weights(np.arange(2.0, 402.0))[:, 3]
    assert weights[0] < 0.1
    assert (np.diff(weights) >= 0.0).all()
    assert weights[-1] > 0.99


def test_labels_with_enough_answers_are_scored_by_their_outputs_alone(stream):
    X, Y = (np.tile(part, (3, 1)) for part in stream)
    classifier = EvolvingFuzzyClassifier(max_rules=4).fit(X[:200], Y[:200])
    one, other = (
        ActiveLearner(copy.deepcopy(classifier), per="labels", criteria=Ambiguity(new_labels=new_labels))
        for new_labels in (True, False)
    )
    for x, y in zip(X[200:], Y[200:], strict=True):
        queries = [learner.query(x) for learner in (one, other)]
        np.testing.assert_array_equal(queries[0].scores["ambiguity"], queries[1].scores["ambiguity"])
        for learner, query in zip((one, other), queries, strict=True):
            learner.update(query, y if query.asked else None)


def test_a_classifier_that_learned_many_rows_has_no_new_labels(stream):
    X, Y = (np.tile(part, (3, 1)) for part in stream)
    classifier = EvolvingFuzzyClassifier(max_rules=4).fit(X[:50], Y[:50]).partial_fit(X[50:], Y[50:])
    assert NewLabelExploration(classifier.inner.any_model).weights(NEXT) is None


def test_an_object_from_arrays_goes_on_as_the_one_that_was_stored(grown, fitted):
    classifier = copy.deepcopy(fitted)
    exploration = NewLabelExploration(classifier.inner.any_model)
    exploration.record_answer(1, *np.zeros((2, 5), bool))
    classifier.partial_fit(grown[0][:_ENOUGH_ANSWERS], np.ones((_ENOUGH_ANSWERS, 5)))  # answered late, not asked for
    loaded = NewLabelExploration.from_arrays(exploration.arrays(), classifier.inner.any_model, 2)
    assert exploration.finished == loaded.finished


@pytest.mark.parametrize("asked_before", [0, 30])
def test_answers_learned_outside_the_learner_make_labels_known(grown, fitted, asked_before):
    X, Y = grown
    learner = ActiveLearner(copy.deepcopy(fitted), 0.2, "labels")
    asked_about(learner, X[200 : 200 + asked_before], np.nan_to_num(Y[200 : 200 + asked_before]))
    answers = np.nan_to_num(Y[250 : 250 + _ENOUGH_ANSWERS])
    answers[_ENOUGH_ANSWERS // 2 :, 4] = np.nan
    learner.classifier.partial_fit(X[250 : 250 + _ENOUGH_ANSWERS], answers)
    weights = learner.strategy.context.of_next(learner.classifier.inner.any_model, X[400:401]).exploration
    assert weights[0, 3] == 0.0
    assert 0.0 < weights[0, 4] <= 0.5


def test_merged_models_add_their_counts(stream):
    X, Y = stream
    partly = Y[:60].copy()
    partly[:20, 1] = np.nan
    one, other = (EvolvingFuzzyClassifier(max_rules=4).fit(X[:60], labels) for labels in (Y[:60], partly))
    united = copy.deepcopy(one).merge(other)
    np.testing.assert_array_equal(united.inner.any_model.feedback.n_initial, [120, 100, 120])
    np.testing.assert_array_equal(united.inner.any_model.n_answers, [120, 100, 120])
    np.testing.assert_array_equal(
        united.inner.any_model.feedback.n_initial_positive, Y[:60].sum(axis=0) + np.nansum(partly, axis=0)
    )
    evidence = one.inner.any_model.feedback.evidence + other.inner.any_model.feedback.evidence
    np.testing.assert_array_equal(united.inner.any_model.feedback.evidence, evidence)


def test_merged_models_add_their_evidence_by_the_names_of_labels(stream):
    X, Y = stream
    frames = [pd.DataFrame(Y[:60], columns=names) for names in (["a", "b", "c"], ["c", "a", "d"])]
    one, other = (EvolvingFuzzyClassifier(max_rules=4).fit(X[:60], frame) for frame in frames)
    mine, theirs = one.inner.any_model.feedback.evidence.copy(), other.inner.any_model.feedback.evidence
    united = one.merge(other).inner.any_model.feedback.evidence
    a, b, c = np.moveaxis(mine, 2, 0)
    also_c, also_a, d = np.moveaxis(theirs, 2, 0)
    np.testing.assert_allclose(united, np.stack([a + also_a, b, c + also_c, d], axis=2), rtol=1e-12)


def test_labels_of_a_sibling_are_new_until_it_has_learned(stream):
    X, Y = (np.tile(part, (3, 1)) for part in stream)
    twin = EvolvingFuzzyClassifier(max_rules=4).fit(X[:60], Y[:60]).sibling()
    np.testing.assert_array_equal(NewLabelExploration(twin.inner.any_model).weights(NEXT), 1.0)
    assert NewLabelExploration(twin.partial_fit(X, Y).inner.any_model).weights(NEXT) is None


@pytest.mark.parametrize("broken", [np.full(5, np.nan), np.zeros((5, 1)), np.ones(6)])
def test_broken_states_are_refused(fitted, broken):
    arrays = {**NewLabelExploration(fitted.inner.any_model).arrays(), "penalty": broken}
    with pytest.raises(DataError, match="array penalty"):
        NewLabelExploration.from_arrays(arrays, fitted.inner.any_model, 0)


def test_files_keep_which_labels_are_new(grown, fitted, tmp_path):
    X, Y = grown
    learner = ActiveLearner(copy.deepcopy(fitted), 0.2, "labels")
    asked_about(learner, X[200:400], Y[200:400])
    learner.save(tmp_path / "learner.evolabel")
    loaded = ActiveLearner.load(tmp_path / "learner.evolabel")
    kept, found = (one.strategy.context.arrays(one.classifier.inner.any_model) for one in (learner, loaded))
    assert kept.keys() == found.keys()
    for name, array in kept.items():
        np.testing.assert_array_equal(found[name], array)
    np.testing.assert_array_equal(
        asked_about(learner, X[400:500], Y[400:500]), asked_about(loaded, X[400:500], Y[400:500])
    )
