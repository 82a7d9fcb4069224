"""Learners with a budget report the events of their classifier, with rows of the stream."""

import numpy as np
import pytest
from choices import only_quick

from evolabel import EvolvingFuzzyClassifier
from evolabel.active import ActiveLearner, BudgetedLearner, RandomSelection, SimulatedAnnotator
from evolabel.core.events import SHIFTS
from evolabel.errors import ParameterError
from evolabel.evaluate import prequential
from evolabel.stages.drift.loops.alarm import CALM_COUNT
from evolabel.streams import Dataset

INITIAL, FLIP, ROWS = 200, 700, 1100
LEARNERS = {
    "samples": lambda: BudgetedLearner(budget=0.3),
    "labels": lambda: BudgetedLearner(budget=0.3, per="labels"),
    "late answers": lambda: BudgetedLearner(budget=0.3, annotator=SimulatedAnnotator(delay=(5, 20))),
    "random": lambda: RandomSelection(budget=0.3),
}


@pytest.fixture(scope="module")
def plant():
    """Two labels, of which the second becomes its opposite at row 700."""
    X = np.random.default_rng(0).normal(size=(ROWS, 2))
    Y = (X > 0.0).astype(float)
    Y[FLIP:, 1] = 1.0 - Y[FLIP:, 1]
    return Dataset(X, Y, feature_names=("heat", "load"), label_names=("fan", "pump"))


@pytest.mark.parametrize("learner", only_quick(LEARNERS, "labels", "late answers"))
def test_every_event_is_reported_once_with_its_row(plant, learner):
    reported = []
    budgeted, silent = (LEARNERS[learner]().fit(plant.X[:INITIAL], plant.Y[:INITIAL]) for _ in range(2))
    first = len(budgeted.learner_.classifier.events_)
    for start in range(INITIAL, ROWS, 300):
        rows = slice(start, start + 300)
        scores = budgeted.test_then_train(plant.X[rows], plant.Y[rows], on_event=reported.append)
        np.testing.assert_array_equal(scores, silent.test_then_train(plant.X[rows], plant.Y[rows]))
    logged = budgeted.learner_.classifier.events_[first:]
    assert [event._replace(sample=0) for event in reported] == [event._replace(sample=0) for event in logged]
    samples = [event.sample for event in reported]
    assert samples == sorted(samples)
    drifts = [event for event in reported if event.kind == "drift"]
    assert [event.label for event in drifts] == ["label1"]
    assert FLIP < drifts[0].sample < FLIP + 300


def test_shifts_of_learners_with_a_budget_are_in_the_results(plant):
    seen = []
    results = prequential(
        {"asking": BudgetedLearner(budget=0.3)},
        plant,
        initial=INITIAL,
        metrics="pa",
        on_event=lambda learner, event: seen.append((learner, event)),
    )
    shifts = results.summary["asking"].events
    assert ("drift", "pump") in [(event.kind, event.label) for event in shifts]
    assert tuple(event for _, event in seen if event.kind in SHIFTS) == shifts


def test_what_is_no_function_is_refused_before_anything_is_asked(plant):
    learner = BudgetedLearner(budget=0.3).fit(plant.X[:INITIAL], plant.Y[:INITIAL])
    with pytest.raises(ParameterError, match="on_event=3 is not allowed; use a function"):
        learner.test_then_train(plant.X[INITIAL:], plant.Y[INITIAL:], on_event=3)
    assert learner.learner_.bucket.seen == 0


def test_partial_fit_reports_too(plant):
    reported = []
    learner = BudgetedLearner(budget=0.3).fit(plant.X[:INITIAL], plant.Y[:INITIAL])
    learner.partial_fit(plant.X[INITIAL:], plant.Y[INITIAL:], on_event=reported.append)
    assert "drift" in [event.kind for event in reported]


def test_answers_that_are_chosen_are_not_compared_with_those_of_all_rows():
    """Chosen labels are harder: the alarms of a classifier that had all labels start again with the first answer."""
    X = np.random.default_rng(0).normal(size=(900, 3))
    Y = (X[:, :2] + 0.3 * X[:, ::-1][:, :2] > 0.0).astype(float)
    classifier = EvolvingFuzzyClassifier().fit(X[:300], Y[:300]).partial_fit(X[300:800], Y[300:800])
    model = classifier.inner.model
    assert model.drift.arrays.alarms[..., CALM_COUNT].min() > 400.0
    assert model.trees.arrays.alarms[:, CALM_COUNT].min() > 400.0
    learner = ActiveLearner(classifier, 0.5, "labels")
    n_answers = 0
    for x, y in zip(X[800:], Y[800:], strict=True):
        query = learner.query(x)
        learner.update(query, y if query.asked else None)
        n_answers += query.asked
    assert 0 < n_answers < 100
    assert model.drift.arrays.alarms[..., CALM_COUNT].max() <= n_answers
    assert model.trees.arrays.alarms[:, CALM_COUNT].max() <= n_answers


def test_shifts_of_an_active_learner_have_rows_of_the_stream():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(2500, 4))
    Y = (X[:, :2] + X[:, 2:] / 2.0 > 0.0).astype(float)
    Y[1500:, 0] = 1.0 - Y[1500:, 0]
    learner = ActiveLearner(EvolvingFuzzyClassifier().fit(X[:300], Y[:300]), 0.2)
    drifts = []
    for row in range(300, 2500):
        query = learner.query(X[row])
        learner.update(query, Y[row] if query.asked else None)
        drifts += [row + 1] * (len([e for e in learner.classifier.events_ if e.kind == "drift"]) - len(drifts))
    found = [event.sample for event in learner.classifier.events_ if event.kind == "drift"]
    assert found == drifts
    assert found[0] > 1500
    assert learner.classifier.drift_["label0"].since in {event.sample for event in learner.classifier.events_}


def test_update_reports_the_events_of_its_answer():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(900, 4))
    Y = (X[:, :2] + X[:, 2:] / 2.0 > 0.0).astype(float)
    Y[600:, 0] = 1.0 - Y[600:, 0]
    learner = ActiveLearner(EvolvingFuzzyClassifier().fit(X[:300], Y[:300]), 0.5)
    first, reported = len(learner.classifier.events_), []
    for x, y in zip(X[300:], Y[300:], strict=True):
        query = learner.query(x)
        learner.update(query, y if query.asked else None, on_event=reported.append)
    assert reported == learner.classifier.events_[first:]
    assert "drift" in [event.kind for event in reported]


def test_update_refuses_what_is_no_function_and_counts_nothing():
    X = np.random.default_rng(1).normal(size=(301, 2))
    learner = ActiveLearner(EvolvingFuzzyClassifier().fit(X[:300], (X[:300] > 0.0).astype(float)), 0.5)
    with pytest.raises(ParameterError, match="on_event='print' is not allowed; use a function"):
        learner.update(learner.query(X[300]), None, on_event="print")
    assert learner.bucket.seen == 0
