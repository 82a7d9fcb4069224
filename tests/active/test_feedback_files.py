"""Files keep recent errors; broken files are refused."""

import numpy as np
import pytest

from active.ordered_streams import feedback_of_classifier, trained, walked
from evolabel import EvolvingFuzzyClassifier
from evolabel.active import ActiveLearner
from evolabel.classifier.storage import classifier_from_arrays, classifier_to_arrays
from evolabel.errors import DataError
from evolabel.model.growth import grow_features
from evolabel.stages.feedback.stage import ErrorFeedback


@pytest.mark.parametrize("rows", [0, 3, 40])
def test_files_keep_the_feedback(events, tmp_path, rows):
    X, Y = events
    learner = walked(ActiveLearner(trained(X, Y), 0.3), X[200 : 200 + rows], Y[200 : 200 + rows])
    learner.save(tmp_path / "learner.evolabel")
    loaded = ActiveLearner.load(tmp_path / "learner.evolabel")
    walked(learner, X[240:300], Y[240:300])
    walked(loaded, X[240:300], Y[240:300])
    np.testing.assert_array_equal(learner.decision_function(X[300:310]), loaded.decision_function(X[300:310]))
    assert loaded.strategy.context.of_model(loaded.classifier.inner.any_model).feedback.gains.min() > 0.0


def test_files_keep_the_feedback_of_labels_that_have_just_appeared(events, tmp_path):
    X, Y = events
    learner = walked(ActiveLearner(trained(X, Y), 0.3), X[200:240], Y[200:240])
    learner.classifier.partial_fit(X[240:245], np.column_stack([Y[240:245], [0, 1, 0, 1, 1]]))
    learner.save(tmp_path / "learner.evolabel")
    loaded = ActiveLearner.load(tmp_path / "learner.evolabel")
    one, other = (each.strategy.context.urgency(each.classifier.inner.any_model) for each in (learner, loaded))
    assert one == other


def test_files_saved_before_the_first_answer_follow_the_classifier(events, tmp_path):
    X, Y = events
    learner = ActiveLearner(trained(X, Y), 0.3)
    learner.save(tmp_path / "learner.evolabel")
    loaded = ActiveLearner.load(tmp_path / "learner.evolabel")
    for each in (learner, loaded):
        each.classifier.partial_fit(X[240:245], np.column_stack([Y[240:245], [0, 1, 0, 1, 1]]))
    known, also = (each.strategy.context.arrays(each.classifier.inner.any_model) for each in (learner, loaded))
    for name, array in known.items():
        np.testing.assert_array_equal(also[name], array)


def arrays_of(events):
    """Arrays of an feedback that has met one answer."""
    feedback = feedback_of_classifier(trained(*events))
    feedback.record_error(events[0][0], 1, events[1][0], np.full(3, 0.5))
    return feedback.arrays()


@pytest.mark.parametrize("name", ["r", "c", "evidence", "Z", "n_initial", "n_initial_positive"])
def test_what_is_not_finite_is_refused(events, name):
    arrays = arrays_of(events)
    with pytest.raises(DataError, match=f"array {name} holds values from inf to inf"):
        ErrorFeedback.from_arrays({**arrays, name: np.full(arrays[name].shape, np.inf)}, 3, 1)


@pytest.mark.parametrize("name", ["r", "c", "evidence", "Z", "n_initial", "at"])
def test_what_does_not_fit_together_is_refused(events, name):
    arrays = arrays_of(events)
    with pytest.raises(DataError, match=r"array \w+ has shape"):
        ErrorFeedback.from_arrays({**arrays, name: arrays[name][:1]}, 3, 1)


def test_a_part_of_the_recent_errors_is_refused(events):
    arrays = arrays_of(events)
    del arrays["at"]
    with pytest.raises(DataError, match="array at is missing"):
        ErrorFeedback.from_arrays(arrays, 3, 1)


@pytest.mark.parametrize("name", ["evidence", "n_initial", "n_initial_positive"])
def test_a_batch_that_is_not_finite_is_refused(events, name):
    arrays, manifest = classifier_to_arrays(trained(*events))
    broken = np.full(arrays[f"feedback.{name}"].shape, np.nan)
    with pytest.raises(DataError, match=f"feedback: array {name}"):
        classifier_from_arrays(EvolvingFuzzyClassifier, {**arrays, f"feedback.{name}": broken}, manifest)


@pytest.mark.parametrize("per", ["samples", "labels"])
def test_files_saved_between_new_features_and_the_next_answer_can_be_read(events, tmp_path, per):
    X, Y = events
    learner = walked(ActiveLearner(trained(X, Y), 0.3, per), X[200:240], Y[200:240])
    grow_features(learner.classifier.inner.any_model, [np.linspace(-1.0, 1.0, 50)])
    learner.classifier.n_features_in_ = 5
    wider = np.column_stack([X[240:280], X[240:280, 0]])
    expected = learner.decision_function(wider)
    learner.save(tmp_path / "learner.evolabel")
    loaded = ActiveLearner.load(tmp_path / "learner.evolabel")
    np.testing.assert_array_equal(loaded.decision_function(wider), expected)
    both = [walked(each, wider, Y[240:280]) for each in (learner, loaded)]
    np.testing.assert_array_equal(*(each.decision_function(wider) for each in both))


def test_the_papers_learner_has_no_feedback(events):
    X, Y = events
    learner = walked(ActiveLearner.paper(trained(X, Y), 0.5), X[200:230], Y[200:230])
    np.testing.assert_array_equal(
        learner.decision_function(X[230:240]), learner.classifier.decision_function(X[230:240])
    )
