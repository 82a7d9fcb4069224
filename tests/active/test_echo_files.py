"""Files keep what recent errors tell; older files can be read, broken ones are refused."""

import numpy as np
import pytest

from active.courses_of_events import echo_of, trained, walked
from evolabel.active import ActiveLearner
from evolabel.core.echo import Echo
from evolabel.core.feature_growth import grow_features
from evolabel.core.model import LABEL_ARRAYS
from evolabel.core.snapshot import put_together, take_apart
from evolabel.errors import DataError
from evolabel.kernels.echo import AGAIN, BACK


@pytest.mark.parametrize("rows", [0, 3, 40])
def test_files_keep_the_echo(events, tmp_path, rows):
    X, Y = events
    learner = walked(ActiveLearner(trained(X, Y), 0.3), X[200 : 200 + rows], Y[200 : 200 + rows])
    learner.save(tmp_path / "learner.evolabel")
    loaded = ActiveLearner.load(tmp_path / "learner.evolabel")
    walked(learner, X[240:300], Y[240:300])
    walked(loaded, X[240:300], Y[240:300])
    np.testing.assert_array_equal(learner.decision_function(X[300:310]), loaded.decision_function(X[300:310]))
    assert loaded._scout.experience.known().echo.gains.min() > 0.0


def test_files_keep_the_echo_of_labels_that_have_just_appeared(events, tmp_path):
    X, Y = events
    learner = walked(ActiveLearner(trained(X, Y), 0.3), X[200:240], Y[200:240])
    learner.classifier.partial_fit(X[240:245], np.column_stack([Y[240:245], [0, 1, 0, 1, 1]]))
    learner.save(tmp_path / "learner.evolabel")
    loaded = ActiveLearner.load(tmp_path / "learner.evolabel")
    assert loaded._scout.experience.haste == learner._scout.experience.haste


def test_files_from_before_the_first_answer_know_what_the_classifier_learns_elsewhere(events, tmp_path):
    X, Y = events
    learner = ActiveLearner(trained(X, Y), 0.3)
    learner.save(tmp_path / "learner.evolabel")
    loaded = ActiveLearner.load(tmp_path / "learner.evolabel")
    for each in (learner, loaded):
        each.classifier.partial_fit(X[240:245], np.column_stack([Y[240:245], [0, 1, 0, 1, 1]]))
    known, also = (each._scout.experience.arrays() for each in (learner, loaded))
    for name, array in known.items():
        np.testing.assert_array_equal(also[name], array)


def older_arrays(echo, still_older):
    """As files held them that knew of sums over all answers only, and not of features."""
    evidence = echo.evidence[AGAIN]
    return {
        "errors": np.array([0.5, -0.2, 0.1]),
        "weights": np.array([2.0, 1.0, 3.0]),
        "evidence": evidence[:4].sum(axis=1) if still_older else evidence,
        "at": np.array([17]),
    }


@pytest.mark.parametrize("still_older", [False, True])
def test_older_files_of_learners_can_be_read(events, still_older):
    echo = echo_of(trained(*events))
    arrays = older_arrays(echo, still_older)
    older = Echo.from_arrays(arrays, 3, 4)
    known = older.evidence[AGAIN, :4].sum(axis=1) if still_older else older.evidence[AGAIN]
    np.testing.assert_allclose(known, arrays["evidence"], rtol=1e-12)
    assert older.gains.min() > 0.3
    assert not older.slopes[BACK].any()
    assert older.next_number == 18
    shift = older.correction(events[0][:1], np.array([18]), 3).shift[0]
    np.testing.assert_array_equal(np.sign(shift), [1.0, -1.0, 1.0])
    older.answer(events[0][0], 18, events[1][0], np.full(3, 0.5))


def test_older_files_from_before_the_first_answer_can_be_read(events):
    arrays = older_arrays(echo_of(trained(*events)), still_older=False)
    nothing = {name: np.zeros_like(arrays[name]) for name in ("errors", "weights", "at")}
    older = Echo.from_arrays(arrays | nothing, 3, 4)
    assert older.next_number == 1
    assert not older.correction(events[0][:1], np.array([1]), 3).shift.any()


@pytest.mark.parametrize("still_older", [False, True])
@pytest.mark.parametrize("n_labels", [3, 4])
def test_classifiers_from_older_files_know_whether_errors_repeat(events, n_labels, still_older):
    X, Y = events
    clf = trained(X, Y)
    if n_labels > 3:
        clf.partial_fit(X[200:205], np.column_stack([Y[200:205], [0, 1, 0, 1, 1]]))
    arrays, facts = take_apart(clf._model)
    arrays = {name: array for name, array in arrays.items() if name != "carried"}
    evidence = clf._model.echo_evidence[AGAIN]
    older = put_together(arrays | {"echo_evidence": evidence[:4].sum(axis=1) if still_older else evidence}, facts)
    np.testing.assert_allclose(older.echo_evidence[AGAIN, :4].sum(axis=1), evidence[:4].sum(axis=1), rtol=1e-12)
    echo = older.new_echo()
    assert echo.gains[:3].min() > 0.3
    assert not echo.slopes[BACK].any()
    np.testing.assert_array_equal(echo.rates[:3], 0.5)


def test_the_oldest_files_of_classifiers_tell_of_no_labels_that_are_never_there(events):
    """They hold nothing of the initial batch, so base rates are those of a coin, not 0."""
    arrays, facts = take_apart(trained(*events)._model)
    for name in LABEL_ARRAYS:
        del arrays[name]
    np.testing.assert_array_equal(put_together(arrays, facts).new_echo().rates, 0.5)


@pytest.mark.parametrize("name", ["r", "c", "evidence", "Z", "rates"])
def test_what_is_not_finite_is_refused(events, name):
    arrays = echo_of(trained(*events)).arrays()
    with pytest.raises(ValueError, match="not finite"):
        Echo.from_arrays({**arrays, name: np.full(arrays[name].shape, np.inf)}, 3, 4)


@pytest.mark.parametrize("name", ["r", "c", "evidence", "Z", "rates", "at"])
def test_what_does_not_fit_together_is_refused(events, name):
    arrays = echo_of(trained(*events)).arrays()
    with pytest.raises(ValueError, match="fit together"):
        Echo.from_arrays({**arrays, name: arrays[name][:1]}, 3, 4)


@pytest.mark.parametrize("name", ["echo_evidence", "annotated", "carried"])
def test_a_batch_that_is_not_finite_is_refused(events, name):
    arrays, facts = take_apart(trained(*events)._model)
    with pytest.raises(DataError, match=name):
        put_together({**arrays, name: np.full(arrays[name].shape, np.nan)}, facts)


@pytest.mark.parametrize("per", ["samples", "labels"])
def test_files_from_between_new_features_and_the_next_answer_can_be_read(events, tmp_path, per):
    X, Y = events
    learner = walked(ActiveLearner(trained(X, Y), 0.3, per), X[200:240], Y[200:240])
    grow_features(learner.classifier._model, [np.linspace(-1.0, 1.0, 50)])
    learner.classifier.n_features_in_ = 5
    wider = np.column_stack([X[240:280], X[240:280, 0]])
    expected = learner.decision_function(wider)
    learner.save(tmp_path / "learner.evolabel")
    loaded = ActiveLearner.load(tmp_path / "learner.evolabel")
    np.testing.assert_array_equal(loaded.decision_function(wider), expected)
    both = [walked(each, wider, Y[240:280]) for each in (learner, loaded)]
    np.testing.assert_array_equal(*(each.decision_function(wider) for each in both))


def test_the_papers_profile_has_none(events):
    X, Y = events
    learner = walked(ActiveLearner.paper(trained(X, Y), 0.5), X[200:230], Y[200:230])
    np.testing.assert_array_equal(
        learner.decision_function(X[230:240]), learner.classifier.decision_function(X[230:240])
    )
