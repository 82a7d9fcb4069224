"""An answer changes only the labels that were answered, at any time and by any annotator."""

import copy

import numpy as np
import pytest

from evolabel.active import ActiveLearner, AnnotatorPool
from evolabel.errors import StateError


def test_only_answered_labels_change_their_weights(classifier, stream):
    learner = ActiveLearner(classifier, 1.0, "labels", criteria="every_label", selection="first_come")
    rules = classifier.inner.any_model.trained()
    before = np.array([rules.weights(slot) for slot in range(rules.n_rules + 1)])
    query = learner.query(stream[0][70])
    learner.update(query, [np.nan, 1.0, np.nan])
    changed = np.abs([rules.weights(slot) for slot in range(len(before))] - before).max(axis=(0, 1))
    assert changed[1] > 1e-6
    assert changed[[0, 2]].max() < 1e-10


def test_answers_without_a_question_are_learned_and_free(classifier, stream):
    learner = ActiveLearner(classifier, 0.1)
    seen = classifier.n_samples_seen_
    learner.update(learner.query(stream[0][70]), stream[1][70])
    assert (learner.bucket.seen, learner.bucket.asked, learner.ledger.labels_volunteered) == (1, 0, 3)
    assert classifier.n_samples_seen_ == seen + 1


def test_late_answers_are_learned_when_they_arrive(classifier, stream, assert_same_state, state_of):
    plain = copy.deepcopy(classifier)
    learner = ActiveLearner(classifier, 1.0, criteria="first_feature", selection="first_come", antecedent_rate=1.0)
    rows = stream[0][60:63] + np.array([9.0, 0.0, 0.0, 0.0])
    queries = [learner.query(x) for x in rows]
    for query in queries:
        learner.mark_pending(query)
    plain.inner.model.advance(3)  # all rows were seen before the first answer
    for i in (2, 0):
        learner.update(queries[i], stream[1][60 + i])
        plain.inner.model.advance(-1)
        plain.partial_fit(rows[i : i + 1], stream[1][60 + i : 61 + i])
    assert list(learner.pending) == [2]
    assert_same_state(state_of(classifier), state_of(plain))


def test_the_oldest_pending_question_is_given_up_first(classifier, stream, tmp_path):
    learner = ActiveLearner(classifier, 1.0, criteria="first_feature", selection="first_come", max_pending=2)
    queries = [learner.query(x + 9.0) for x in stream[0][60:63]]
    for query in queries:
        learner.mark_pending(query)
    assert list(learner.pending) == [2, 3]
    assert (learner.ledger.questions_refused, learner.bucket.asked) == (1, 3)  # what was asked stays spent
    with pytest.raises(StateError, match="given up"):
        learner.update(queries[0], stream[1][60])
    learner.save(tmp_path / "learner")
    assert ActiveLearner.load(tmp_path / "learner").max_pending == 2


def test_labels_may_appear_while_questions_are_pending(classifier, stream):
    learner = ActiveLearner(classifier, 1.0, "labels", criteria="ambiguity")
    early = learner.query(stream[0][70])
    learner.mark_pending(early)
    learner.update(learner.query(stream[0][71]), [*stream[1][71], 1.0])
    assert len(classifier.label_names_) == 4
    learner.update(early, stream[1][70])
    assert len(learner.query(stream[0][72]).labels) == 4
    assert learner.bucket.earning == 6


def test_annotators_of_less_weight_change_the_model_less(classifier, stream):
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


def test_annotators_of_weight_0_change_nothing(classifier, stream):
    learner = ActiveLearner(classifier, 1.0, annotators=AnnotatorPool({"eve": 0.0}))
    before = classifier.n_samples_seen_
    learner.update(learner.query(stream[0][60]), stream[1][60], annotator="eve")
    assert classifier.n_samples_seen_ == before


def test_answers_move_rules_as_far_as_antecedent_rate_allows(classifier, stream):
    def movement(antecedent_rate):
        learner = ActiveLearner(copy.deepcopy(classifier), 1.0, criteria="ambiguity", antecedent_rate=antecedent_rate)
        before = learner.classifier.inner.any_model.trained().arrays.c[1:4].copy()
        for x, y in zip(stream[0][60:80], stream[1][60:80], strict=True):
            learner.update(learner.query(x), y)
        after = learner.classifier.inner.any_model.trained()
        assert after.antecedent_rate == 1.0  # only answers to questions are held back
        return np.abs(after.arrays.c[1:4] - before).sum()

    assert movement(0.0) == 0.0 < movement(0.2) < movement(1.0)


def test_rules_do_not_move_while_a_label_appears(classifier, stream):
    learner = ActiveLearner(classifier, 1.0, antecedent_rate=0.0)
    centres = classifier.inner.any_model.trained().arrays.c[1:4].copy()
    learner.update(learner.query(stream[0][60]), [*stream[1][60], 1.0])
    np.testing.assert_array_equal(classifier.inner.any_model.trained().arrays.c[1:4], centres)
