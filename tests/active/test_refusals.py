"""Invalid input raises an error of one line and changes nothing."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest

from evolabel import EvolvingFuzzyClassifier, errors
from evolabel.active import ActiveLearner, Ambiguity, AnnotatorPool, Criterion, Leverage, SimulatedAnnotator, register
from evolabel.errors import DataError, DataTypeError, ParameterError, StateError


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        ({"budget": 0.0}, "budget"),
        ({"per": "words"}, "per"),
        ({"criteria": "boredom"}, "boredom"),
        ({"criteria": ()}, "at least one"),
        ({"criteria": ("ambiguity", Ambiguity())}, "twice"),
        ({"selection": "best"}, "selection"),
        ({"selection": "first_come", "criteria": "variance_reduction"}, "no threshold"),
        ({"min_labels": 0}, "min_labels"),
        ({"credit": 0.5}, "credit"),
        ({"credit": 10**13}, "credit"),
        ({"credit": 10**400}, "credit"),
    ],
)
def test_bad_parameters_raise_an_error(classifier, bad, message):
    with pytest.raises(ParameterError, match=message):
        ActiveLearner(classifier, **bad)


@pytest.mark.parametrize("bad", [{"threshold": 0.5}, {"threshold": 1.2}, {"weight": 0.0}])
def test_bad_thresholds_raise_an_error(bad):
    with pytest.raises(ParameterError, match=next(iter(bad))):
        Ambiguity(**bad)


@pytest.mark.parametrize("bad", [{"noise": 2}, {"refusals": -1}, {"delay": (3, 1)}, {"delay": 3}, {"delay": (1, 2, 3)}])
def test_bad_annotators_raise_an_error(bad):
    with pytest.raises(ParameterError, match=next(iter(bad))):
        SimulatedAnnotator(**bad)


@pytest.mark.parametrize(
    ("y", "annotator", "message"),
    [
        ([0, 1], None, "answers 2 labels"),
        ([0, 1, 7], None, "a label is 0, 1, or NaN"),
        ([[0, 1, 0], [0, 1, 0]], None, "one row of answers"),
        ([[0, 1, 0], [0, 1, 0]], ["a", "a"], "twice"),
        ("yes", None, "one answer per label"),
        ([0, 1, 0], 5, "an annotator is called 5; use text"),
        ([[0, 1, 0], [0, 1, 0]], ["a", 2], "an annotator is called 2; use text"),
    ],
)
def test_bad_answers_leave_everything_as_it_was(classifier, stream, frozen, y, annotator, message):
    learner = ActiveLearner(classifier, 1.0)
    query = learner.query(stream[0][70])
    before = frozen(learner)
    with pytest.raises((DataError, DataTypeError), match=message):
        learner.update(query, y, annotator)
    assert frozen(learner) == before
    assert query.number is None


def test_bad_samples_raise_an_error(classifier, stream):
    learner = ActiveLearner(classifier)
    with pytest.raises(DataError, match="one sample, got 3 rows"):
        learner.query(stream[0][:3])
    with pytest.raises(DataError, match="features"):
        learner.query([1.0, 2.0])
    with pytest.raises(DataError, match="inf"):
        learner.query([np.inf, 0.0, 0.0, 0.0])


def test_questions_are_counted_once(classifier, stream):
    learner = ActiveLearner(classifier, 1.0, criteria="first_feature", selection="first_come")
    query = learner.query([9.0, 0.0, 0.0, 0.0])
    learner.mark_pending(query)
    with pytest.raises(StateError, match="counted already"):
        learner.mark_pending(query)
    learner.update(query, stream[1][0])
    with pytest.raises(StateError, match="not pending"):
        learner.update(query, stream[1][0])
    assert learner.bucket.seen == 1
    with pytest.raises(StateError, match="nothing is asked"):
        learner.mark_pending(learner.query([0.0, 0.0, 0.0, 0.0]))


def test_queries_of_another_learner_are_refused(classifier, stream):
    wide = EvolvingFuzzyClassifier(max_rules=2).fit(np.hstack([stream[0]] * 2), stream[1])
    with pytest.raises(DataError, match="own queries"):
        ActiveLearner(classifier).update(ActiveLearner(wide).query(np.zeros(8)))


@pytest.mark.parametrize("what", [None, [1.0, 0.0, 0.0, 0.0]])
def test_what_is_no_query_is_refused(classifier, what):
    learner = ActiveLearner(classifier)
    for act in (learner.update, learner.mark_pending):
        with pytest.raises(DataTypeError, match="pass the result of query or next_query"):
            act(what)


def test_the_classifier_must_have_labels(blobs):
    with pytest.raises(errors.NotTrainedError, match="has no labels"):
        ActiveLearner(EvolvingFuzzyClassifier()).query([1.0])
    with pytest.raises(StateError, match="label matrix"):
        ActiveLearner(EvolvingFuzzyClassifier().fit(*blobs)).query(blobs[0][0])
    with pytest.raises(DataTypeError, match="EvolvingFuzzyClassifier is needed"):
        ActiveLearner("clf")


@pytest.mark.parametrize("scores", [np.nan, -1.0, [1.0, 2.0]])
def test_criteria_with_invalid_scores_raise_an_error(classifier, stream, scores):
    @dataclass(frozen=True)
    class Odd(Criterion):
        name: ClassVar[str] = "odd"

        def score(self, rows):
            return np.full(rows.n, scores) if np.isscalar(scores) else np.array(scores)

    with pytest.raises(DataError, match="'odd'"):
        ActiveLearner(classifier, criteria=Odd()).query(stream[0][0])


def test_names_are_given_once():
    with pytest.raises(ParameterError, match="taken by Leverage"):
        register(type("Other", (Leverage,), {}))
    with pytest.raises(ParameterError, match="no name"):
        register(type("Nameless", (Criterion,), {}))


def test_weights_of_annotators_are_checked():
    with pytest.raises(ParameterError, match="anna"):
        AnnotatorPool({"anna": 2.0})
    with pytest.raises(DataTypeError, match="dictionary of names"):
        AnnotatorPool(["anna"])
    with pytest.raises(ParameterError, match="twice"):
        AnnotatorPool().vote([[1], [1]], ["a", "a"])


@pytest.mark.parametrize(
    ("answers", "annotators", "message"),
    [
        ([[1, 0]], ["anna", "bob"], "1 rows for 2 annotators"),
        ([1, 0], ["anna"], "dimension"),
        ([[1, 2]], ["anna"], "a label is 0, 1, or NaN"),
        ([["yes", 0]], ["anna"], "numbers only"),
        ([[1, 0], [1]], ["anna", "bob"], "one table"),
        ([[1, 0], [1, 1]], ["anna", 7], "called 7"),
    ],
)
def test_a_pool_learns_nothing_from_a_vote_it_refuses(answers, annotators, message):
    pool = AnnotatorPool()
    with pytest.raises((DataError, DataTypeError), match=message):
        pool.vote(answers, annotators)
    assert pool.facts() == AnnotatorPool().facts()


def test_names_of_annotators_are_text():
    with pytest.raises(DataTypeError, match="called 1; use text"):
        AnnotatorPool({1: 0.5})


@pytest.mark.parametrize("whose", [{"per": "samples"}, {"per": "labels", "selection": "first_come"}])
def test_a_query_of_another_learner_is_refused_and_not_counted(classifier, stream, whose):
    learner = ActiveLearner(classifier, 1.0, per="labels", criteria=("ambiguity", "leverage"))
    foreign = ActiveLearner(classifier, 1.0, criteria=("ambiguity", "novelty"), **whose).query(stream[0][60])
    with pytest.raises(DataError, match="own queries"):
        learner.update(foreign, stream[1][60])
    assert learner.bucket.seen == 0


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        ({"min_labels": 3}, "min_labels=3 is for"),
        ({"per": "labels", "min_labels": 3, "selection": "random"}, "not for random questions"),
    ],
)
def test_options_that_would_be_ignored_are_refused(classifier, bad, message):
    with pytest.raises(ParameterError, match=message):
        ActiveLearner(classifier, 0.1, **{"criteria": "ambiguity", **bad})


def test_a_foreign_query_of_fewer_criteria_is_refused(classifier, stream):
    three = ("ambiguity", "leverage", "novelty")  # as many as labels
    learner = ActiveLearner(classifier, 1.0, per="labels", criteria=three, selection="tokens")
    foreign = ActiveLearner(classifier, 1.0, per="labels", criteria=three[:2], selection="tokens").query(stream[0][60])
    with pytest.raises(DataError, match="own queries"):
        learner.update(foreign, None)
