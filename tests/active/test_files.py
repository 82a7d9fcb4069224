"""A learner that was loaded continues bit for bit."""

import copy
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest
from profiles import PAPER_PROFILE, classifier_of

from active.conftest import every_selection
from evolabel import EvolvingFuzzyClassifier
from evolabel.active import ActiveLearner, AnnotatorPool, Criterion
from evolabel.errors import ModelFileError, ModelWriteError


def go_on(learner, X, Y):
    """Return all queries and counts of a pass in which every question waits and some are answered, oldest first."""
    queries = []
    for i, (x, y) in enumerate(zip(X, Y, strict=True)):
        query = learner.query(x)
        queries.append((query.asked, query.labels.tolist(), query.reasons, query.prediction.tolist()))
        learner.mark_pending(query) if query.asked else learner.update(query)
        if i % 3 == 0 and learner.pending:
            oldest = next(iter(learner.pending.values()))
            learner.update(oldest, np.where(oldest.labels, y, np.nan), annotator="anna")
    return queries, list(learner.pending), learner.bucket.asked, learner.ledger


def check(learner, X, Y, path):
    go_on(learner, X[:30], Y[:30])
    assert learner.pending
    learner.save(path)
    loaded = ActiveLearner.load(path)
    assert go_on(loaded, X[30:50], Y[30:50]) == go_on(learner, X[30:50], Y[30:50])
    assert loaded.annotators.facts() == learner.annotators.facts()


@every_selection
def test_a_loaded_learner_goes_on_bit_for_bit(classifier, stream, selection, per, tmp_path):
    pool = AnnotatorPool({"anna": 0.7})
    learner = ActiveLearner(classifier, 0.4, per, credit=2, annotators=pool, **selection)
    check(learner, stream[0][60:], stream[1][60:], tmp_path / "learner.efc")


ITERATED = {"parent": "nearest", "follow_drift": False}


@pytest.mark.parametrize("profile", [{}, PAPER_PROFILE, ITERATED], ids=["default", "paper", "iterated"])
def test_learners_of_every_profile_are_loaded(batch, stream, per, profile, tmp_path):
    classifier = classifier_of(**{**profile, "max_rules": 4}).fit(*batch)
    check(ActiveLearner(classifier, 0.4, per), stream[0][60:], stream[1][60:], tmp_path / "learner.efc")


def test_a_learner_of_a_classifier_without_samples_is_loaded(classifier, stream, per, tmp_path):
    learner = ActiveLearner(classifier.sibling(), 0.6, per)
    for x in stream[0][60:70]:
        learner.update(learner.query(x))
    check(learner, stream[0][60:], stream[1][60:], tmp_path / "learner.efc")


def test_a_question_made_before_saving_is_answered_after_loading(classifier, stream, tmp_path):
    learner = ActiveLearner(classifier, 1.0)
    query = learner.query(stream[0][70])
    learner.mark_pending(query)
    learner.save(tmp_path / "learner.efc")
    loaded = ActiveLearner.load(tmp_path / "learner.efc")
    loaded.update(query, stream[1][70])
    assert not loaded.pending
    assert loaded.ledger.labels_answered == 3


def test_other_files_are_refused(classifier, tmp_path):
    classifier.save(tmp_path / "clf.efc")
    with pytest.raises(ModelFileError, match="not an active learner"):
        ActiveLearner.load(tmp_path / "clf.efc")
    ActiveLearner(classifier).save(tmp_path / "learner.efc")
    with pytest.raises(ModelFileError, match="not a classifier"):
        EvolvingFuzzyClassifier.load(tmp_path / "learner.efc")


def test_criteria_without_a_known_name_are_not_saved(classifier, tmp_path):
    @dataclass(frozen=True)
    class Secret(Criterion):
        name: ClassVar[str] = "secret"

        def score(self, rows):
            return rows.leverage

    learner = ActiveLearner(copy.deepcopy(classifier), criteria=Secret())
    with pytest.raises(ModelWriteError, match="register"):
        learner.save(tmp_path / "learner.efc")
    assert not (tmp_path / "learner.efc").exists()


def test_a_pending_question_with_a_drawn_label_is_learned_in_the_same_way_after_loading(stream):
    """Labels drawn at random move the thresholds of prediction sets, others do not."""
    X, Y = stream
    classifier = EvolvingFuzzyClassifier().fit(X[:60], Y[:60])
    learner = ActiveLearner(classifier, 0.5, "labels")
    for x in X[60:]:
        query = learner.query(x)
        if query.asked:
            learner.mark_pending(query)
        else:
            learner.update(query, None)
    drawn = [number for number, query in learner.pending.items() if "probe" in query.reasons]
    assert drawn
    loaded = ActiveLearner.from_bytes(learner.to_bytes())
    for number in drawn:
        for one in (learner, loaded):
            one.update(one.pending[number], Y[60 + number - 1])
    assert loaded.checksum() == learner.checksum()
