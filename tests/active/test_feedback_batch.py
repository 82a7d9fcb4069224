"""Base rates, and whether errors repeat, are estimated from the initial batch."""

import numpy as np
import pytest

from active.ordered_streams import feedback_of_classifier, trained, walked
from evolabel import EvolvingFuzzyClassifier
from evolabel.active import ActiveLearner
from evolabel.stages.feedback.loops import ANSWERS


def test_the_initial_batch_shows_whether_errors_repeat(events, shuffled):
    assert feedback_of_classifier(trained(*events)).gains.min() > 0.3
    assert feedback_of_classifier(trained(*shuffled)).mean_gain == 0.0


def test_only_the_second_half_of_the_batch_counts(events, shuffled):
    """In the first half the model has seen too few rows: its errors repeat in any stream."""
    ordered_first = [np.concatenate([one[:200], other[:200]]) for one, other in zip(events, shuffled, strict=True)]
    ordered_last = [np.concatenate([other[:200], one[:200]]) for one, other in zip(events, shuffled, strict=True)]
    assert feedback_of_classifier(trained(*ordered_first, rows=400)).mean_gain == 0.0
    assert feedback_of_classifier(trained(*ordered_last, rows=400)).mean_gain > 0.3


def test_rows_of_weight_0_are_no_evidence(shuffled):
    """The second half of the batch has weight 0; its labels would repeat from row to row."""
    X, Y = shuffled[0][:200], shuffled[1][:200].copy()
    Y[100:] = np.repeat([0.0, 1.0], 50)[:, None]
    weights = np.repeat([1.0, 0.0], 100)
    clf = EvolvingFuzzyClassifier(max_rules=4).fit(X, Y, sample_weight=weights)
    assert feedback_of_classifier(clf).mean_gain == 0.0
    assert feedback_of_classifier(EvolvingFuzzyClassifier(max_rules=4).fit(X, Y)).gains.min() > 0.5


def test_rows_of_weight_0_do_not_count_in_base_rates(events):
    X, Y = events[0][:200], events[1][:200].copy()
    Y[100:] = 1.0
    clf = EvolvingFuzzyClassifier(max_rules=4).fit(X, Y, sample_weight=np.repeat([1.0, 0.0], 100))
    np.testing.assert_allclose(feedback_of_classifier(clf).rates, Y[:100].mean(axis=0), rtol=1e-12)


@pytest.mark.parametrize("ended_outside", [False, True])
@pytest.mark.parametrize("saved", [False, True])
def test_a_batch_of_rows_that_were_asked_for_is_not_ordered(events, tmp_path, saved, ended_outside):
    """Its rows were ten samples apart; as neighbours they would show errors that repeat."""
    X, _ = events
    rows, labels = X[:40], np.repeat([[0.0, 1.0, 0.0], [1.0, 0.0, 1.0]], 20, axis=0)
    classifier = EvolvingFuzzyClassifier(max_rules=4, warm_up=30).partial_fit(rows[:1], labels[:1])
    learner = ActiveLearner(classifier, 0.1)
    for row in range(1, 40):
        for _ in range(9):
            learner.update(learner.query(rows[row]), None)
        query = learner.query(rows[row])
        if saved and row == 20:
            learner.save(tmp_path / "learner.evolabel")
            learner = ActiveLearner.load(tmp_path / "learner.evolabel")
        if learner.classifier.inner.any_model.warm_up is not None:
            assert query.asked
            if ended_outside and row > 20:
                learner.classifier.partial_fit(rows[row:], labels[row:])
            else:
                learner.update(query, labels[row])
    assert learner.classifier.inner.any_model.warm_up is None
    assert learner.strategy.context.of_model(learner.classifier.inner.any_model).feedback.mean_gain == 0.0
    assert feedback_of_classifier(learner.classifier).mean_gain == 0.0
    assert feedback_of_classifier(EvolvingFuzzyClassifier(max_rules=4).fit(rows, labels)).mean_gain > 0.5


def test_base_rates_are_those_of_the_batch(events):
    X, Y = events[0][:200], events[1][:200].copy()
    Y[:50, 1] = np.nan
    clf = EvolvingFuzzyClassifier(max_rules=4).fit(X, Y)
    np.testing.assert_allclose(feedback_of_classifier(clf).rates, np.nanmean(Y, axis=0), rtol=1e-12)
    clf.partial_fit(X[:5], np.column_stack([Y[:5], [0, 1, 0, 1, 1]]))
    assert np.isnan(feedback_of_classifier(clf).rates[3])


def test_siblings_share_base_rates_and_no_evidence(events):
    X, Y = events
    clf = trained(X, Y)
    clf.partial_fit(X[200:205], np.column_stack([Y[200:205], [0, 1, 0, 1, 1]]))
    twin = feedback_of_classifier(clf.sibling())
    np.testing.assert_array_equal(twin.rates, feedback_of_classifier(clf).rates)
    assert not twin.evidence.any()


@pytest.mark.parametrize("scaling", ["quantile", "standard", "minmax", "none"])
def test_samples_are_compared_alike_in_any_scaling(events, scaling):
    X, Y = 1000.0 * events[0], events[1]
    clf = EvolvingFuzzyClassifier(max_rules=4, scaling=scaling).fit(X[:200], Y[:200])
    spread = clf.inner.any_model.standardise(X[:200]).std(axis=0)
    assert spread.min() > 0.5
    assert spread.max() < 1.5


def test_units_of_features_do_not_matter(events):
    evidence, outputs = [], []
    for unit in (1.0, 1024.0):
        X, Y = unit * events[0], events[1]
        learner = ActiveLearner(trained(X, Y), 0.3)
        evidence.append(feedback_of_classifier(learner.classifier).evidence)
        outputs.append(walked(learner, X[200:240], Y[200:240]).decision_function(X[240:250]))
    np.testing.assert_allclose(*evidence, rtol=1e-6)
    np.testing.assert_allclose(*outputs, rtol=1e-6)


@pytest.mark.parametrize(("weight", "believed"), [(0.25, 0.25), (4.0, 1.0)])
def test_rows_of_the_batch_count_by_their_weight_and_at_most_once(events, weight, believed):
    X, Y = events[0][:200], events[1][:200]
    clf = EvolvingFuzzyClassifier(max_rules=4).fit(X, Y, sample_weight=np.full(200, weight))
    answers = [feedback_of_classifier(each).evidence[:, ANSWERS] for each in (clf, trained(X, Y))]
    np.testing.assert_allclose(answers[0], believed * answers[1], rtol=1e-9)
