"""Labels that little is known of are asked about, until enough is."""

import copy

import numpy as np
import pandas as pd
import pytest

from evolabel import EvolvingFuzzyClassifier
from evolabel.active import ActiveLearner, Ambiguity
from evolabel.active.scoring.new_labels import _ENOUGH_ANSWERS, NewLabelExploration
from evolabel.errors import DataError
from evolabel.streams import DriftingStream

NEXT = np.array([1.0])


@pytest.fixture(scope="module")
def grown():
    """A stream whose last two labels appear after the initial batch; before, they are NaN."""
    return DriftingStream(drift="new_label", drift_every=250, seed=0).take(1500)


@pytest.fixture(scope="module")
def taught(grown):
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


def test_labels_that_appear_are_asked_about(grown, taught):
    X, Y = grown
    counts = {}
    for newcomers in (False, True):
        criteria = (Ambiguity(new_labels=newcomers), "leverage")
        learner = ActiveLearner(copy.deepcopy(taught), 0.1, "labels", criteria=criteria)
        counts[newcomers] = asked_about(learner, X[200:], Y[200:])
    assert counts[False][3:].max() < 20
    assert counts[True][3:].min() > 60


def test_questions_about_labels_that_do_not_exist_yet_become_rare(grown, taught):
    X, Y = grown
    learner = ActiveLearner(copy.deepcopy(taught), 0.2, "labels")
    absent = Y[200:250].copy()
    absent[:, 3:] = np.nan
    rows = np.tile(X[200:250], (8, 1)), np.tile(absent, (8, 1))
    counts = asked_about(learner, *rows)
    assert counts[3:].min() >= 1
    assert counts[3:].max() < 0.1 * len(rows[0])


def test_doubts_end_with_enough_answers(grown, taught):
    classifier = copy.deepcopy(taught)
    newcomers = NewLabelExploration(classifier._model)
    np.testing.assert_array_equal(newcomers.weights(NEXT)[0], [0, 0, 0, 1, 1])
    rows, told = grown[0][:_ENOUGH_ANSWERS], np.tile([np.nan, np.nan, np.nan, 1.0, np.nan], (_ENOUGH_ANSWERS, 1))
    classifier.partial_fit(rows[::2], told[::2])
    np.testing.assert_allclose(newcomers.weights(NEXT)[0], [0, 0, 0, 0.5, 1])
    classifier.partial_fit(rows[::2], told[::2])
    classifier.partial_fit(rows, np.nan_to_num(1.0 - told, nan=1.0))
    assert not newcomers.weights(NEXT).any()
    newcomers.record_answer(1, *np.ones((2, 5), bool))
    assert newcomers.weights(NEXT) is None
    classifier.partial_fit(rows[:1], np.append(told[0], np.nan)[None])
    np.testing.assert_array_equal(newcomers.weights(NEXT)[0], [0, 0, 0, 0, 0, 1])


def test_silence_is_forgotten(taught):
    newcomers, asked = NewLabelExploration(taught._model), np.array([False, False, False, True, False])
    for _ in range(3):
        newcomers.record_answer(1, asked, np.zeros(5, bool))
    doubts = newcomers.weights(np.arange(2.0, 402.0))[:, 3]
    assert doubts[0] < 0.1
    assert (np.diff(doubts) >= 0.0).all()
    assert doubts[-1] > 0.99


def test_known_labels_are_judged_as_ever(stream):
    X, Y = (np.tile(part, (3, 1)) for part in stream)
    classifier = EvolvingFuzzyClassifier(max_rules=4).fit(X[:200], Y[:200])
    one, other = (
        ActiveLearner(copy.deepcopy(classifier), per="labels", criteria=Ambiguity(new_labels=newcomers))
        for newcomers in (True, False)
    )
    for x, y in zip(X[200:], Y[200:], strict=True):
        queries = [learner.query(x) for learner in (one, other)]
        np.testing.assert_array_equal(queries[0].scores["ambiguity"], queries[1].scores["ambiguity"])
        for learner, query in zip((one, other), queries, strict=True):
            learner.update(query, y if query.asked else None)


def test_a_classifier_that_learned_much_by_itself_has_no_newcomers(stream):
    X, Y = (np.tile(part, (3, 1)) for part in stream)
    classifier = EvolvingFuzzyClassifier(max_rules=4).fit(X[:50], Y[:50]).partial_fit(X[50:], Y[50:])
    assert NewLabelExploration(classifier._model).weights(NEXT) is None


@pytest.mark.parametrize("asked_before", [0, 30])
def test_answers_learned_outside_the_learner_make_labels_known(grown, taught, asked_before):
    X, Y = grown
    learner = ActiveLearner(copy.deepcopy(taught), 0.2, "labels")
    asked_about(learner, X[200 : 200 + asked_before], np.nan_to_num(Y[200 : 200 + asked_before]))
    told = np.nan_to_num(Y[250 : 250 + _ENOUGH_ANSWERS])
    told[_ENOUGH_ANSWERS // 2 :, 4] = np.nan
    learner.classifier.partial_fit(X[250 : 250 + _ENOUGH_ANSWERS], told)
    doubts = learner.strategy.context.of_next(learner.classifier._model, X[400:401]).exploration
    assert doubts[0, 3] == 0.0
    assert 0.0 < doubts[0, 4] <= 0.5


def test_united_models_know_what_both_know(stream):
    X, Y = stream
    partly = Y[:60].copy()
    partly[:20, 1] = np.nan
    one, other = (EvolvingFuzzyClassifier(max_rules=4).fit(X[:60], labels) for labels in (Y[:60], partly))
    united = copy.deepcopy(one).merge(other)
    np.testing.assert_array_equal(united._model.watchers[0].n_initial, [120, 100, 120])
    np.testing.assert_array_equal(united._model.n_answers, [120, 100, 120])
    np.testing.assert_array_equal(
        united._model.watchers[0].n_initial_positive, Y[:60].sum(axis=0) + np.nansum(partly, axis=0)
    )
    evidence = one._model.watchers[0].evidence + other._model.watchers[0].evidence
    np.testing.assert_array_equal(united._model.watchers[0].evidence, evidence)


def test_united_models_keep_what_they_know_under_the_name_of_its_label(stream):
    X, Y = stream
    frames = [pd.DataFrame(Y[:60], columns=names) for names in (["a", "b", "c"], ["c", "a", "d"])]
    one, other = (EvolvingFuzzyClassifier(max_rules=4).fit(X[:60], frame) for frame in frames)
    mine, theirs = one._model.watchers[0].evidence.copy(), other._model.watchers[0].evidence
    united = one.merge(other)._model.watchers[0].evidence
    a, b, c = np.moveaxis(mine, 2, 0)
    also_c, also_a, d = np.moveaxis(theirs, 2, 0)
    np.testing.assert_allclose(united, np.stack([a + also_a, b, c + also_c, d], axis=2), rtol=1e-12)


def test_a_sibling_knows_its_labels_once_it_has_learned(stream):
    X, Y = (np.tile(part, (3, 1)) for part in stream)
    twin = EvolvingFuzzyClassifier(max_rules=4).fit(X[:60], Y[:60]).sibling()
    np.testing.assert_array_equal(NewLabelExploration(twin._model).weights(NEXT), 1.0)
    assert NewLabelExploration(twin.partial_fit(X, Y)._model).weights(NEXT) is None


@pytest.mark.parametrize("broken", [np.full(5, np.nan), np.zeros((5, 1)), np.ones(6)])
def test_broken_memories_are_refused(taught, broken):
    arrays = {**NewLabelExploration(taught._model).arrays(), "penalty": broken}
    with pytest.raises(DataError, match="array penalty"):
        NewLabelExploration.from_arrays(arrays, taught._model, 0)


def test_files_keep_who_is_new(grown, taught, tmp_path):
    X, Y = grown
    learner = ActiveLearner(copy.deepcopy(taught), 0.2, "labels")
    asked_about(learner, X[200:400], Y[200:400])
    learner.save(tmp_path / "learner.evolabel")
    loaded = ActiveLearner.load(tmp_path / "learner.evolabel")
    kept, found = (one.strategy.context.arrays(one.classifier._model) for one in (learner, loaded))
    assert kept.keys() == found.keys()
    for name, array in kept.items():
        np.testing.assert_array_equal(found[name], array)
    np.testing.assert_array_equal(
        asked_about(learner, X[400:500], Y[400:500]), asked_about(loaded, X[400:500], Y[400:500])
    )
