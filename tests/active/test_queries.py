"""A query changes nothing, an answer only what was answered."""

import copy

import numpy as np
import pandas as pd
import pytest

from evolabel import EvolvingFuzzyClassifier
from evolabel.active import ActiveLearner, AnnotatorPool
from evolabel.core import acts
from evolabel.core.undo import undo
from evolabel.errors import DataError, StateError


def run(learner, X, Y, delay=3):
    """Walk along a stream, answers arriving a little later; returns the rows asked about."""
    asked, letters = [], []
    for i, x in enumerate(X):
        query = learner.query(x)
        if query.asked:
            learner.pend(query)
            asked.append(i)
            letters.append((i + delay, query, np.where(query.labels, Y[i], np.nan)))
        else:
            learner.update(query, None)
        while letters and letters[0][0] <= i:
            learner.update(*letters.pop(0)[1:])
    return asked


def test_a_query_changes_neither_classifier_nor_learner(classifier, stream, selection, per, frozen):
    learner = ActiveLearner(classifier, 0.3, per, **selection)
    run(learner, stream[0][60:80], stream[1][60:80])
    before = frozen(learner)
    asked = [learner.query(x).asked for x in stream[0][80:]]
    assert frozen(learner) == before
    assert asked == [learner.query(x).asked for x in stream[0][80:]]


def test_looking_back_changes_nothing_either(classifier, stream, frozen):
    learner = ActiveLearner(classifier, 0.3, recent=7)
    run(learner, stream[0][60:80], stream[1][60:80])
    before = frozen(learner)
    for x in stream[0][80:]:
        learner.query(x)
    assert frozen(learner) == before


def assert_same_up_to_rounding(one, other, frozen):
    """Two learners know the same, but for the last digits of the scores in the memory of their filters."""
    memory = one._scout.chooser.arrays()
    for name, array in other._scout.chooser.arrays().items():
        np.testing.assert_allclose(array, memory[name], rtol=1e-12, atol=1e-12, err_msg=name)
    other._scout.chooser.restore(memory)
    assert frozen(one) == frozen(other)


def test_watching_is_querying_row_by_row(classifier, stream, selection, per, frozen):
    X, Y = stream[0][60:], stream[1][60:]
    one, other = (ActiveLearner(copy.deepcopy(classifier), 0.3, per, **selection) for _ in range(2))
    asked = run(one, X, Y, delay=0)
    found, at = [], 0
    while at < len(X):
        query, passed = other.watch(X[at:])
        at += passed
        if query is not None:
            found.append(at)
            other.pend(query)
            other.update(query, np.where(query.labels, Y[at], np.nan))
            at += 1
    assert found == asked
    assert asked
    assert_same_up_to_rounding(one, other, frozen)


@pytest.mark.parametrize("refine", ["none", "coverage", "scaling"])
def test_watching_is_querying_row_by_row_also_when_unasked_samples_teach(classifier, stream, refine, frozen):
    X = np.tile(stream[0][60:], (5, 1))
    X += 0.01 * np.random.default_rng(0).normal(size=X.shape)  # rounding could turn a draw into a win
    one, other = (ActiveLearner(copy.deepcopy(classifier), 0.01, refine=refine) for _ in range(2))
    before = classifier.decision_function(X[:5])
    found, passed = other.watch(X)
    for x in X[:passed]:
        one.update(one.query(x))
    assert found is not None
    assert passed >= 99
    assert_same_up_to_rounding(one, other, frozen)
    assert (one.classifier.decision_function(X[:5]) == before).all() == (refine != "coverage")


@pytest.fixture
def standing(classifier, stream):
    """A learner that has passed by so many rows that it judges by formed weights, and rows still to come."""
    learner = ActiveLearner(classifier, 1e-6, criteria="ambiguity")
    learner.watch(np.tile(stream[0][60:], (3, 1)))
    assert learner._scout._standing._weights is not None
    return learner, stream[0][:20]


CHANGES = {
    "answer": lambda learner, X, Y: learner.update(learner.query(X[0]), Y[0]),
    "partial_fit": lambda learner, X, Y: learner.classifier.partial_fit(X[:3], Y[:3]),
    "labels": lambda learner, X, Y: learner.classifier.partial_fit(X[:3], np.hstack([Y[:3], Y[:3, :1]])),
    "fit": lambda learner, X, Y: learner.classifier.fit(X[::-1], 1.0 - Y[::-1]),
    "edit": lambda learner, X, Y: acts.delete_rule(rules_of(learner), int(rules_of(learner).arrays.identity[1])),
    "undo": lambda learner, X, Y: undo(rules_of(learner)),
}


def rules_of(learner):
    return learner.classifier._model.trained()


@pytest.mark.parametrize("change", CHANGES)
def test_a_model_that_changes_is_judged_as_it_is_by_then(standing, stream, change):
    """Formed weights are never stale: a learner without any judges the same."""
    learner, rows = standing
    X, Y = stream
    if change == "undo":
        CHANGES["edit"](learner, X, Y)
        learner.watch(np.tile(X[60:], (3, 1)))
    before = learner.classifier.decision_function(rows)
    CHANGES[change](learner, X, Y)
    fresh = learner.classifier.decision_function(rows)
    assert before.shape != fresh.shape or (before != fresh).any()
    np.testing.assert_allclose(learner._scout._foresee(rows)[0].outputs, fresh, rtol=1e-12, atol=1e-12)
    np.testing.assert_array_equal([learner.query(x).prediction for x in rows], fresh)


def test_rows_written_over_are_looked_at_again(classifier, stream):
    learner = ActiveLearner(classifier, 0.5, criteria="first_feature", selection="first_come")
    rows = np.zeros((12, 4))
    rows[5:, 0] = 9.0
    query, passed = learner.watch(rows)
    learner.pend(query)
    rows[6:, 0] = 0.0
    assert passed == 5
    assert learner.watch(rows[6:]) == (None, 6)


def test_watching_looks_back_as_querying_does(classifier, stream, frozen):
    X = stream[0][60:]
    one, other = (ActiveLearner(copy.deepcopy(classifier), 0.2, recent=8) for _ in range(2))
    for x in X:
        query = one.query(x)
        one.pend(query) if query.asked else one.update(query)
    at = 0
    while at < len(X):
        query, passed = other.watch(X[at:])
        at += passed + 1
        if query is not None:
            other.pend(query)
    assert frozen(one) == frozen(other)
    assert any(query.about is not None for query in one.pending.values())
    assert len({query.about or query.number for query in one.pending.values()}) == len(one.pending) == 12


def test_a_question_about_an_earlier_sample_shows_that_sample(classifier):
    learner = ActiveLearner(classifier, 0.5, criteria="first_feature", recent=3)
    learner.update(learner.query([5.0, 1.0, 1.0, 1.0]))
    query = learner.query([0.0, 2.0, 2.0, 2.0])
    assert query.asked
    assert query.about == 1
    np.testing.assert_array_equal(query.x, [5.0, 1.0, 1.0, 1.0])
    np.testing.assert_array_equal(query.arrived.x, [0.0, 2.0, 2.0, 2.0])


def test_two_stale_queries_never_ask_about_the_same_earlier_sample(classifier, frozen):
    learner = ActiveLearner(classifier, 0.7, criteria="first_feature", recent=3)
    learner.update(learner.query([5.0, 1.0, 1.0, 1.0]))
    first, second = learner.query([0.0, 2.0, 2.0, 2.0]), learner.query([0.0, 3.0, 3.0, 3.0])
    assert first.about == second.about == 1
    learner.pend(first)
    before = frozen(learner)
    for act in (learner.pend, learner.update):
        with pytest.raises(StateError, match="sample 1 was asked about since"):
            act(second)
    assert frozen(learner) == before
    assert learner.query(second.arrived.x).about != 1


def test_only_answered_labels_change_their_weights(classifier, stream):
    learner = ActiveLearner(classifier, 1.0, "labels", criteria="every_label", selection="first_come")
    rules = classifier._model.trained()
    before = np.array([rules.weights(slot) for slot in range(rules.n_rules + 1)])
    query = learner.query(stream[0][70])
    learner.update(query, [np.nan, 1.0, np.nan])
    changed = np.abs([rules.weights(slot) for slot in range(len(before))] - before).max(axis=(0, 1))
    assert changed[1] > 1e-6
    assert changed[[0, 2]].max() < 1e-10


def test_labels_cost_what_is_asked_and_samples_one(classifier):
    x = [9.0, 0.0, 0.0, 0.0]
    by_label = ActiveLearner(classifier, 1.0, "labels", criteria="every_label", selection="first_come")
    assert by_label.query([0.495, 0.0, 0.0, 0.0]).labels.tolist() == [False, True, True]
    assert by_label.query([0.495, 0.0, 0.0, 0.0]).cost == 2
    assert ActiveLearner(classifier, 1.0, criteria="every_label", selection="first_come").query(x).cost == 1
    whole = ActiveLearner(classifier, 1.0, "labels", criteria="first_feature", selection="first_come").query(x)
    assert (whole.cost, whole.labels.all(), whole.reasons) == (3, True, ("first_feature",))


@pytest.mark.parametrize("criterion", ["every_label", "ambiguity"])
@pytest.mark.parametrize("filtered", ["quantile", "first_come"])
def test_label_questions_are_bundled(classifier, stream, criterion, filtered):
    learner = ActiveLearner(classifier, 0.3, "labels", criteria=criterion, selection=filtered, min_labels=2)
    costs = []
    for x in stream[0][60:]:
        query = learner.query(x)
        learner.update(query)
        costs.append(query.cost)
    assert set(costs) - {0} <= {2, 3}
    assert max(costs) > 0


def test_reasons_tell_which_criterion_fired(classifier, stream):
    learner = ActiveLearner(classifier, 1.0, criteria=("first_feature", "ambiguity"), selection="first_come")
    query = learner.query([0.1, 0.0, 0.0, 0.0])
    band = np.abs(query.prediction - 0.5) < 0.1
    assert query.reasons == (("ambiguity",) if band.any() else ())
    np.testing.assert_array_equal(query.prediction, classifier.decision_function([[0.1, 0.0, 0.0, 0.0]])[0])
    assert query.scores["first_feature"] == 0.1
    ranked = ActiveLearner(classifier, 1.0, criteria="first_feature").query([0.1, 0.0, 0.0, 0.0])
    assert ranked.reasons == ("ranking",)


def test_answers_nobody_asked_for_are_learned_and_free(classifier, stream):
    learner = ActiveLearner(classifier, 0.1)
    seen = classifier.n_samples_seen_
    learner.update(learner.query(stream[0][70]), stream[1][70])
    assert (learner.bucket.seen, learner.bucket.asked, learner.ledger.volunteered) == (1, 0, 3)
    assert classifier.n_samples_seen_ == seen + 1


def test_late_answers_are_learned_as_if_given_then(classifier, stream, assert_same_state, state_of):
    plain = copy.deepcopy(classifier)
    learner = ActiveLearner(classifier, 1.0, criteria="first_feature", selection="first_come", mobility=1.0)
    rows = stream[0][60:63] + np.array([9.0, 0.0, 0.0, 0.0])
    queries = [learner.query(x) for x in rows]
    for query in queries:
        learner.pend(query)
    for i in (2, 0):
        learner.update(queries[i], stream[1][60 + i])
        plain.partial_fit(rows[i : i + 1], stream[1][60 + i : 61 + i])
    assert list(learner.pending) == [2]
    assert_same_state(state_of(classifier), state_of(plain))


def test_questions_nobody_answers_are_given_up_oldest_first(classifier, stream, tmp_path):
    learner = ActiveLearner(classifier, 1.0, criteria="first_feature", selection="first_come", max_pending=2)
    queries = [learner.query(x + 9.0) for x in stream[0][60:63]]
    for query in queries:
        learner.pend(query)
    assert list(learner.pending) == [2, 3]
    assert (learner.ledger.refused, learner.bucket.asked) == (1, 3)  # what was asked stays spent
    with pytest.raises(StateError, match="given up"):
        learner.update(queries[0], stream[1][60])
    learner.save(tmp_path / "learner")
    assert ActiveLearner.load(tmp_path / "learner").max_pending == 2


def test_labels_may_appear_while_questions_are_on_their_way(classifier, stream):
    learner = ActiveLearner(classifier, 1.0, "labels", criteria="ambiguity")
    early = learner.query(stream[0][70])
    learner.pend(early)
    learner.update(learner.query(stream[0][71]), [*stream[1][71], 1.0])
    assert len(classifier.label_names_) == 4
    learner.update(early, stream[1][70])
    assert len(learner.query(stream[0][72]).labels) == 4
    assert learner.bucket.earning == 6


def test_a_classifier_that_grew_elsewhere_is_asked_about_all_its_labels(classifier, stream, per):
    learner = ActiveLearner(classifier, 0.5, per)
    learner.update(learner.query(stream[0][70]))
    classifier.partial_fit(stream[0][71:72], [[0, 1, 0, 1]])
    query = learner.query(stream[0][72])
    learner.update(query)
    assert len(query.labels) == len(query.prediction) == 4


def test_whole_samples_are_asked_about_while_there_is_no_model(stream, per):
    X, Y = stream
    clf = EvolvingFuzzyClassifier(warm_up=8, max_rules=3).partial_fit(X[:1], Y[:1])
    learner = ActiveLearner(clf, 0.5, per)
    asked = run(learner, X[1:30], Y[1:30], delay=0)
    assert asked[:7] == [1, 3, 5, 7, 9, 11, 13]
    assert learner.ledger.reasons["warm_up"] == 7
    assert clf.n_rules_ > 0


def test_doubtful_annotators_teach_less(classifier, stream):
    x, y = stream[0][70], 1.0 - np.round(classifier.predict_proba(stream[0][70:71])[0])
    moved = {}
    for weight in (0.0, 0.3, 1.0):
        clf = copy.deepcopy(classifier)
        learner = ActiveLearner(clf, 0.1, annotators=AnnotatorPool({"anna": weight}))
        learner.update(learner.query(x), y, annotator="anna")
        moved[weight] = np.abs(clf.decision_function(x[None]) - classifier.decision_function(x[None])).max()
    assert 0.0 == moved[0.0] < moved[0.3] < moved[1.0]


def test_several_annotators_vote(classifier, stream):
    learner = ActiveLearner(classifier, 0.1)
    learner.update(learner.query(stream[0][70]), [[1, 0, 1], [1, 0, 0], [1, 0, np.nan]], annotator=["a", "b", "c"])
    assert [learner.annotators.compared[name] for name in "abc"] == [3, 3, 2]
    assert learner.annotators.weight("a") == learner.annotators.weight("b") < learner.annotators.weight("c") == 1.0


def test_rows_of_frames_can_be_asked_about(stream):
    X, Y = stream
    frame = pd.DataFrame(X, columns=list("abcd"))
    learner = ActiveLearner(EvolvingFuzzyClassifier(max_rules=3).fit(frame[:60], Y[:60]), 1.0, criteria="ambiguity")
    query = learner.query(frame[70:71])
    learner.update(query, Y[70])
    assert learner.watch(frame[71:])[1] >= 0


def test_answers_move_rules_only_as_far_as_mobility_allows(classifier, stream):
    def walked(mobility):
        learner = ActiveLearner(copy.deepcopy(classifier), 1.0, criteria="ambiguity", mobility=mobility)
        before = learner.classifier._model.trained().arrays.c[1:4].copy()
        for x, y in zip(stream[0][60:80], stream[1][60:80], strict=True):
            learner.update(learner.query(x), y)
        after = learner.classifier._model.trained()
        assert after.mobility == 1.0  # only answers to questions are held back
        return np.abs(after.arrays.c[1:4] - before).sum()

    assert walked(0.0) == 0.0 < walked(0.2) < walked(1.0)


def test_looking_back_in_warm_up_asks_about_the_sample_that_came(stream):
    X, Y = stream
    young = EvolvingFuzzyClassifier(warm_up=100).partial_fit(X[:3], Y[:3])
    query, passed = ActiveLearner(young, 0.1, recent=5).watch(X[3:40])
    assert query.asked
    assert query.labels.all()
    assert passed == 9


def test_an_answer_nobody_asked_for_is_not_asked_for_later(classifier, stream):
    learner = ActiveLearner(classifier, 0.1, recent=9)
    for x, y in zip(stream[0][60:69], stream[1][60:69], strict=True):
        learner.update(learner.query(x), y)
    assert learner.query(stream[0][69]).about is None


def test_who_is_not_believed_teaches_nothing(classifier, stream):
    learner = ActiveLearner(classifier, 1.0, annotators=AnnotatorPool({"eve": 0.0}))
    before = classifier.n_samples_seen_
    learner.update(learner.query(stream[0][60]), stream[1][60], annotator="eve")
    assert classifier.n_samples_seen_ == before


def test_rules_stay_calm_while_a_label_appears(classifier, stream):
    learner = ActiveLearner(classifier, 1.0, mobility=0.0)
    centres = classifier._model.trained().arrays.c[1:4].copy()
    learner.update(learner.query(stream[0][60]), [*stream[1][60], 1.0])
    np.testing.assert_array_equal(classifier._model.trained().arrays.c[1:4], centres)


def test_a_classifier_fitted_anew_starts_with_moments_of_its_own(classifier, stream):
    X, Y = stream
    learner = ActiveLearner(classifier, 0.1)
    for x in X[60:100]:
        learner.update(learner.query(x), None)
    classifier.fit(X[20:90], Y[20:90])
    fresh = ActiveLearner(copy.deepcopy(classifier), 0.1)
    told, expected = (one.query(X[100]).scores["variance_reduction"] for one in (learner, fresh))
    np.testing.assert_array_equal(told, expected)


def test_learners_and_pools_are_written_in_one_line(classifier):
    told = repr(ActiveLearner(classifier, 0.2, "labels"))
    assert told == (
        "ActiveLearner(EvolvingFuzzyClassifier(max_rules=4), budget=0.2, per='labels', "
        "criteria=('ambiguity', 'leverage'), selection=QuantileFilter(tau=5.0))"
    )
    assert repr(ActiveLearner(classifier, recent=9)).endswith("recent=9)")
    assert (repr(AnnotatorPool()), repr(AnnotatorPool({"anna": 1}))) == (
        "AnnotatorPool()",
        "AnnotatorPool({'anna': 1.0})",
    )


@pytest.mark.parametrize("kind", [np.float64, np.float32, list])
def test_rows_without_the_names_the_classifier_knows_are_warned_of_once(stream, kind):
    X, Y = stream
    frame = pd.DataFrame(X[:60], columns=list("abcd"))
    named, nameless = (
        ActiveLearner(EvolvingFuzzyClassifier(max_rules=3).fit(known, Y[:60])) for known in (frame, X[:60])
    )
    rows = [x.tolist() if kind is list else x.astype(kind) for x in X[60:70]]
    with pytest.warns(UserWarning, match="does not have valid feature names"):
        first = named.query(rows[0])
    for query, x in zip((first, *map(named.query, rows[1:])), rows, strict=True):  # warnings are errors from here on
        np.testing.assert_array_equal(query.prediction, nameless.query(x).prediction)
    for wrong in (X[60, :3], X[60:60], np.full(4, np.inf)):
        with pytest.raises(DataError):
            nameless.query(wrong)
