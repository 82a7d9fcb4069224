"""Recent errors correct outputs where errors repeat, and nowhere else."""

import copy

import numpy as np
import pytest
from callable_kernels import callable_kernel

from active.ordered_streams import feedback_of_classifier, trained, walked
from evolabel import EvolvingFuzzyClassifier
from evolabel.active import ActiveLearner, AnnotatorPool, BudgetedLearner
from evolabel.errors import ParameterError
from evolabel.evaluate import partial_accuracy
from evolabel.stages.feedback.loops import SHRINK, all_slopes

LATER = np.arange(41, 46)


@pytest.mark.parametrize("per", ["samples", "labels"])
def test_feedback_helps_where_errors_repeat(events, per):
    X, Y = events
    scores = {}
    for error_feedback in (False, True):
        learner = BudgetedLearner(EvolvingFuzzyClassifier(max_rules=4), 0.2, per, error_feedback=error_feedback).fit(
            X[:200], Y[:200]
        )
        scores[error_feedback] = partial_accuracy(Y[200:], learner.test_then_train(X[200:], Y[200:]))
    assert scores[True] > scores[False] + 0.02


@pytest.mark.parametrize("optimise", ["accuracy", "macro_f1"])
def test_predictions_of_the_learner_are_corrected(events, optimise):
    X, Y = events
    clf = EvolvingFuzzyClassifier(max_rules=4, optimise=optimise).fit(X[:200], Y[:200])
    learner = ActiveLearner(clf, budget=0.5, per="labels")
    for x, y in zip(X[200:300], Y[200:300], strict=True):
        query = learner.query(x)
        learner.update(query, y if query.asked else None)
    predicted, outputs = learner.predict(X[300:400]), learner.decision_function(X[300:400])
    assert predicted.dtype == np.int64
    np.testing.assert_array_equal(predicted, outputs >= clf.thresholds_)
    assert (predicted != clf.predict(X[300:400])).any()


def test_nothing_changes_where_errors_do_not_repeat(shuffled):
    X, Y = shuffled
    outputs = []
    for error_feedback in (False, True):
        learner = BudgetedLearner(EvolvingFuzzyClassifier(max_rules=4), 0.2, error_feedback=error_feedback).fit(
            X[:200], Y[:200]
        )
        outputs.append(learner.test_then_train(X[200:260], Y[200:260]))
    np.testing.assert_array_equal(*outputs)


def test_queries_and_outputs_are_corrected_for_the_same_row(events):
    X, Y = events
    learner = walked(ActiveLearner(trained(X, Y), 0.3), X[200:260], Y[200:260])
    following = X[260:264]
    outputs = learner.decision_function(following)
    assert np.abs(outputs - learner.classifier.decision_function(following)).max() > 0.01
    for i, x in enumerate(following):
        query = learner.query(x)
        np.testing.assert_allclose(query.prediction, outputs[i], rtol=1e-9, atol=1e-9)
        learner.update(query, None)
    np.testing.assert_allclose(learner.decision_function(following, first=61), outputs, rtol=1e-12)


def test_the_correction_decays_with_the_rows_that_pass(events):
    X, Y = events
    learner = walked(ActiveLearner(trained(X, Y), 0.3), X[200:260], Y[200:260])
    feedback, plain = (
        learner.strategy.context.of_model(learner.classifier.inner.any_model).feedback,
        learner.classifier.decision_function(X[:1]),
    )
    shrunk = plain + feedback.slopes[SHRINK] * (feedback.rates - plain)  # all that is left in the end
    corrections = np.abs(learner.decision_function(np.tile(X[:1], (300, 1))) - shrunk)
    assert (np.diff(corrections, axis=0) <= 1e-12).all()
    assert corrections[0].max() > 0.01
    assert corrections[-1].max() < 1e-6


def test_the_classifier_itself_is_not_corrected(events):
    X, Y = events
    outputs = []
    for error_feedback in (True, False):
        learner = ActiveLearner(trained(X, Y), error_feedback=error_feedback)
        for x, y in zip(X[200:240], Y[200:240], strict=True):
            learner.update(learner.query(x), y)
        outputs.append(learner.classifier.decision_function(X[240:]))
    np.testing.assert_array_equal(*outputs)


def test_answers_may_come_in_any_order(events):
    X, Y = events
    clf = trained(X, Y)
    one, other = feedback_of_classifier(clf), feedback_of_classifier(clf)
    order = np.random.default_rng(0).permutation(40)
    for feedback, numbers in ((one, range(40)), (other, order.tolist())):
        for i in numbers:
            feedback.record_error(X[i], i + 1, Y[i], np.full(3, 0.5))
        feedback.slopes[:] = [[0.0], [1.0]]  # what is expected again differs, as what came late was no evidence
        feedback.recent.r[:] = np.sign(feedback.recent.r)  # nor were outputs drawn back by the same
    shifts = [feedback.correction(X[200:205], LATER, 3).offset for feedback in (one, other)]
    np.testing.assert_allclose(*shifts, rtol=1e-9)
    assert np.abs(shifts[0]).max() > 0.1


def test_labels_that_appear_are_not_corrected_yet(events):
    X, Y = events
    learner = walked(ActiveLearner(trained(X, Y), 0.5), X[200:240], Y[200:240])
    learner.classifier.partial_fit(X[240:245], np.column_stack([Y[240:245], [0, 1, 0, 1, 1]]))
    shift = learner.decision_function(X[245:247]) - learner.classifier.decision_function(X[245:247])
    np.testing.assert_array_equal(shift[:, 3], 0.0)
    assert np.abs(shift[:, :3]).max() > 0.01
    query = learner.query(X[245])
    learner.update(query, np.append(Y[245], 1.0))
    assert learner.strategy.context.of_model(learner.classifier.inner.any_model).feedback.gains.shape == (4,)


def test_a_classifier_fitted_anew_has_feedback_of_its_own(events, shuffled):
    learner = walked(ActiveLearner(trained(*events), 0.5), events[0][200:240], events[1][200:240])
    learner.classifier.fit(shuffled[0][:200], shuffled[1][:200])
    np.testing.assert_array_equal(
        learner.decision_function(events[0][240:250]), learner.classifier.decision_function(events[0][240:250])
    )


def test_there_is_no_feedback_before_there_is_a_model(events):
    X, Y = events
    classifier = EvolvingFuzzyClassifier(warm_up=60).partial_fit(X[:1], Y[:1])
    learner = ActiveLearner(classifier, 1.0)
    for x, y in zip(X[1:40], Y[1:40], strict=True):
        learner.update(learner.query(x), y)
    np.testing.assert_array_equal(learner.decision_function(X[40:45]), classifier.decision_function(X[40:45]))
    for x, y in zip(X[40:80], Y[40:80], strict=True):
        learner.update(learner.query(x), y)
    assert learner.strategy.context.of_model(learner.classifier.inner.any_model).feedback.next_number > 40


def test_late_answers_about_new_labels_are_used(events):
    """A new label widens all arrays, also where its answer comes late."""
    X, Y = events
    feedback = feedback_of_classifier(trained(X, Y))
    for i in range(20):
        feedback.record_error(X[i], i + 1, Y[i], np.full(3, 0.5))
    feedback.record_error(X[4], 5, np.append(Y[4], 1.0), np.full(4, 0.5))
    assert feedback.gains.shape == (4,)
    assert feedback.evidence.shape == (2, 5, 4)
    expected = np.zeros((2, 4))
    callable_kernel(all_slopes)(feedback.evidence, feedback.rates, expected)
    np.testing.assert_array_equal(feedback.slopes, expected)


def test_new_or_removed_features_keep_the_evidence(events):
    X, Y = events
    feedback = feedback_of_classifier(trained(X, Y))
    for i in range(20):
        feedback.record_error(X[i], i + 1, Y[i], np.full(3, 0.5))
    gains, correction = feedback.gains.copy(), feedback.correction(X[20:21, :3], np.array([21]), 3)
    assert not correction.n_effective.any()
    np.testing.assert_allclose(correction.of(feedback.rates), feedback.rates[None], rtol=1e-12)
    feedback.record_error(X[20, :3], 21, np.full(3, np.nan), np.full(3, 0.5))
    np.testing.assert_allclose(feedback.gains, gains, rtol=0.01)


def test_outputs_are_shrunk_to_the_base_rates_where_that_was_right():
    """Labels follow a slow wave; features are related to them by chance in the first rows only."""
    rng = np.random.default_rng(3)
    wave = np.sin(np.arange(600) / 12.0)[:, None]
    Y = (wave + rng.normal(size=(600, 3)) > 0.0).astype(float)
    X = rng.normal(size=(600, 12))
    clf = EvolvingFuzzyClassifier(ridge=1e-3, follow_drift=False).fit(X[:120], Y[:120])
    feedback = feedback_of_classifier(clf)
    assert feedback.slopes[SHRINK].min() > 0.1
    correction = feedback.correction(clf.inner.any_model.standardise(X[120:]), np.arange(1, 481), 3)
    plain = clf.decision_function(X[120:])
    np.testing.assert_allclose(
        correction.of(plain), plain + feedback.slopes[SHRINK] * (feedback.rates - plain), rtol=1e-9
    )
    assert np.square(Y[120:] - correction.of(plain)).mean() < 0.8 * np.square(Y[120:] - plain).mean()


def test_copies_go_on_alike(events):
    X, Y = events
    learner = walked(ActiveLearner(trained(X, Y), 0.3), X[200:240], Y[200:240])
    twin = copy.deepcopy(learner)
    walked(learner, X[240:260], Y[240:260])
    walked(twin, X[240:260], Y[240:260])
    np.testing.assert_array_equal(learner.decision_function(X[260:270]), twin.decision_function(X[260:270]))


def test_answers_of_low_confidence_correct_little(events):
    X, Y = events
    clf = trained(X, Y)
    sure, doubtful = feedback_of_classifier(clf), feedback_of_classifier(clf)
    for i in range(5):
        sure.record_error(X[i], i + 1, Y[i], np.full(3, 0.5))
        doubtful.record_error(X[i], i + 1, Y[i], np.full(3, 0.5), confidence=np.full(3, 0.1))
    for feedback in (sure, doubtful):
        feedback.slopes[:] = [[0.0], [1.0]]
    unsure, shift = (feedback.correction(X[5:10], np.arange(6, 11), 3).offset for feedback in (doubtful, sure))
    assert (np.abs(unsure) < np.abs(shift)).all()


def test_answers_correct_by_the_weight_of_their_annotator(events):
    X, Y = events
    learner = ActiveLearner(trained(X, Y), 1.0, annotators=AnnotatorPool({"anna": 0.3}))
    learner.update(learner.query(X[200]), Y[200], annotator="anna")
    np.testing.assert_array_equal(
        learner.strategy.context.of_model(learner.classifier.inner.any_model).feedback.recent.c.max(axis=0), 0.3
    )


@pytest.mark.parametrize("first", [0, 1.5, "next"])
def test_rows_have_numbers_from_1_on(events, first):
    learner = ActiveLearner(trained(*events))
    with pytest.raises(ParameterError, match="first"):
        learner.decision_function(events[0][200:202], first=first)


@pytest.mark.parametrize("kind", [float, np.float32, np.uint64])
def test_numbers_of_rows_may_be_whole_numbers_of_any_kind(events, kind):
    X, Y = events
    learner = walked(ActiveLearner(trained(X, Y), 0.3), X[200:260], Y[200:260])
    expected = learner.decision_function(X[260:264])
    np.testing.assert_array_equal(learner.decision_function(X[260:264], first=kind(61)), expected)


def test_rows_before_the_last_answer_are_corrected_too(events):
    X, Y = events
    learner = walked(ActiveLearner(trained(X, Y), 0.3), X[200:260], Y[200:260])
    assert np.isfinite(learner.decision_function(X[:3], first=1)).all()
