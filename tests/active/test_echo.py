"""Recent errors shift outputs where errors repeat, and nowhere else."""

import copy

import numpy as np
import pytest

from evolabel import EvolvingFuzzyClassifier
from evolabel.active import ActiveLearner, BudgetedLearner, experience
from evolabel.core.echo import Echo
from evolabel.core.snapshot import put_together, take_apart
from evolabel.errors import ParameterError
from evolabel.evaluate import partial_accuracy
from evolabel.kernels.echo import gains

LATER = np.arange(41.0, 46.0)


def course_of_events(n=500, seed=0):
    """Labels that follow a slow wave nobody measures, besides their features."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4))
    wave = np.sin(np.arange(n) / 15.0)[:, None] * np.array([1.5, -1.5, 1.5])
    return X, (X[:, :3] + wave + 0.3 * rng.normal(size=(n, 3)) > 0.0).astype(float)


@pytest.fixture(scope="module")
def events():
    return course_of_events()


@pytest.fixture(scope="module")
def shuffled(events):
    order = np.random.default_rng(1).permutation(len(events[0]))
    return events[0][order], events[1][order]


def trained(X, Y, rows=200):
    return EvolvingFuzzyClassifier(max_rules=4).fit(X[:rows], Y[:rows])


def echo_of(clf):
    return Echo(clf._model.n_labels, clf._model.echo_evidence)


def test_the_initial_batch_tells_whether_errors_repeat(events, shuffled):
    assert echo_of(trained(*events)).gains.min() > 0.3
    assert echo_of(trained(*shuffled)).mean_gain == 0.0


@pytest.mark.parametrize("per", ["samples", "labels"])
def test_an_echo_helps_where_errors_repeat(events, per):
    X, Y = events
    scores = {}
    for echo in (False, True):
        learner = BudgetedLearner(EvolvingFuzzyClassifier(max_rules=4), 0.2, per, echo=echo).fit(X[:200], Y[:200])
        scores[echo] = partial_accuracy(Y[200:], learner.test_then_train(X[200:], Y[200:]))
    assert scores[True] > scores[False] + 0.02


@pytest.mark.parametrize("optimise", ["accuracy", "macro_f1"])
def test_predictions_of_the_learner_have_the_echo_in_them(events, optimise):
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
    for echo in (False, True):
        learner = BudgetedLearner(EvolvingFuzzyClassifier(max_rules=4), 0.2, echo=echo).fit(X[:200], Y[:200])
        outputs.append(learner.test_then_train(X[200:260], Y[200:260]))
    np.testing.assert_array_equal(*outputs)


def walked(learner, X, Y):
    for x, y in zip(X, Y, strict=True):
        query = learner.query(x)
        learner.update(query, y if query.asked else None)
    return learner


def test_queries_and_outputs_speak_of_the_same_moment(events):
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


def test_an_echo_fades_with_the_samples_that_pass(events):
    X, Y = events
    learner = walked(ActiveLearner(trained(X, Y), 0.3), X[200:260], Y[200:260])
    shifts = np.abs(learner.decision_function(np.tile(X[:1], (300, 1))) - learner.classifier.decision_function(X[:1]))
    assert (np.diff(shifts, axis=0) <= 1e-12).all()
    assert shifts[0].max() > 0.01
    assert shifts[-1].max() < 1e-6


def test_the_classifier_itself_knows_of_no_echo(events):
    X, Y = events
    outputs = []
    for echo in (True, False):
        learner = ActiveLearner(trained(X, Y), echo=echo)
        for x, y in zip(X[200:240], Y[200:240], strict=True):
            learner.update(learner.query(x), y)
        outputs.append(learner.classifier.decision_function(X[240:]))
    np.testing.assert_array_equal(*outputs)


@pytest.mark.parametrize("delay", [1, 30])
def test_late_answers_count_as_what_they_are(events, delay):
    """Once all answers are in, late ones have left the same errors behind as answers at once."""
    X, Y = events
    sums = []
    for late in (0, delay):
        echo, letters = echo_of(trained(X, Y)), []
        for i in range(60):
            letters.append((i + 1, Y[i], 0.5 * np.ones(3)))
            if i >= late:
                echo.answer(*letters.pop(0))
        while letters:
            echo.answer(*letters.pop(0))
        sums.append(echo)
    np.testing.assert_allclose(sums[0].errors, sums[1].errors, rtol=1e-9)
    np.testing.assert_allclose(sums[0].weights, sums[1].weights, rtol=1e-9)


def test_answers_may_come_in_any_order(events):
    X, Y = events
    clf = trained(X, Y)
    one, other = echo_of(clf), echo_of(clf)
    order = np.random.default_rng(0).permutation(40)
    for i in range(40):
        one.answer(i + 1, Y[i], np.full(3, 0.5))
        other.answer(int(order[i]) + 1, Y[order[i]], np.full(3, 0.5))
    np.testing.assert_allclose(one.shift(LATER, 3) / one.gains, other.shift(LATER, 3) / other.gains, rtol=1e-9)


def test_labels_that_appear_have_no_echo_yet(events):
    X, Y = events
    learner = walked(ActiveLearner(trained(X, Y), 0.5), X[200:240], Y[200:240])
    learner.classifier.partial_fit(X[240:245], np.column_stack([Y[240:245], [0, 1, 0, 1, 1]]))
    shift = learner.decision_function(X[245:247]) - learner.classifier.decision_function(X[245:247])
    np.testing.assert_array_equal(shift[:, 3], 0.0)
    assert np.abs(shift[:, :3]).max() > 0.01
    query = learner.query(X[245])
    learner.update(query, np.append(Y[245], 1.0))
    assert learner._scout.experience.known().echo.errors.shape == (4,)


def test_a_classifier_fitted_anew_has_an_echo_of_its_own(events, shuffled):
    learner = walked(ActiveLearner(trained(*events), 0.5), events[0][200:240], events[1][200:240])
    learner.classifier.fit(shuffled[0][:200], shuffled[1][:200])
    np.testing.assert_array_equal(
        learner.decision_function(events[0][240:250]), learner.classifier.decision_function(events[0][240:250])
    )


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


def test_rows_of_no_weight_tell_nothing(shuffled):
    """The second half of the batch is not to be learned; what is written there would repeat from row to row."""
    X, Y = shuffled[0][:200], shuffled[1][:200].copy()
    Y[100:] = np.repeat([0.0, 1.0], 50)[:, None]
    weights = np.repeat([1.0, 0.0], 100)
    clf = EvolvingFuzzyClassifier(max_rules=4).fit(X, Y, sample_weight=weights)
    assert echo_of(clf).mean_gain == 0.0
    assert echo_of(EvolvingFuzzyClassifier(max_rules=4).fit(X, Y)).gains.min() > 0.5


def test_a_learner_that_looks_back_speaks_of_the_same_moment(events):
    X, Y = events
    learner = walked(ActiveLearner(trained(X, Y), 0.3, recent=1), X[200:260], Y[200:260])
    for x in X[260:270]:
        outputs, query = learner.decision_function(x[None])[0], learner.query(x)
        np.testing.assert_allclose(query.prediction, outputs, rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose(query.arrived.prediction, outputs, rtol=1e-9, atol=1e-9)
        learner.update(query, None)


def test_there_is_no_echo_before_there_is_a_model(events):
    X, Y = events
    classifier = EvolvingFuzzyClassifier(warm_up=60).partial_fit(X[:1], Y[:1])
    learner = ActiveLearner(classifier, 1.0)
    for x, y in zip(X[1:40], Y[1:40], strict=True):
        learner.update(learner.query(x), y)
    np.testing.assert_array_equal(learner.decision_function(X[40:45]), classifier.decision_function(X[40:45]))
    for x, y in zip(X[40:80], Y[40:80], strict=True):
        learner.update(learner.query(x), y)
    assert learner._scout.experience.known().echo.at > 40


@pytest.mark.parametrize("saved", [False, True])
def test_a_batch_of_rows_that_were_asked_for_is_no_course_of_events(events, tmp_path, saved):
    """Its rows stood ten samples apart; as neighbours they would tell of an echo that has died away long since."""
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
        if learner.classifier._model.warm_up is not None:
            assert query.asked
            learner.update(query, labels[row])
    assert learner.classifier._model.warm_up is None
    assert learner._scout.experience.known().echo.mean_gain == 0.0
    assert echo_of(learner.classifier).mean_gain == 0.0
    assert echo_of(EvolvingFuzzyClassifier(max_rules=4).fit(rows, labels)).mean_gain > 0.5


def test_a_query_changes_nothing_while_there_is_an_echo(events, frozen):
    X, Y = events
    learner = walked(ActiveLearner(trained(X, Y), 0.3, "labels"), X[200:260], Y[200:260])
    before = frozen(learner)
    for x in X[260:280]:
        learner.query(x)
    learner.decision_function(X[260:280])
    assert frozen(learner) == before


def test_watching_is_querying_while_there_is_an_echo(events):
    X, Y = events
    one, other = (ActiveLearner(trained(X, Y), 0.3) for _ in range(2))
    walked(one, X[200:350], Y[200:350])
    at = 200
    while at < 350:
        query, passed = other.watch(X[at:350])
        at += passed
        if query is not None:
            other.update(query, Y[at])
            at += 1
    assert one.bucket.asked == other.bucket.asked > 20
    np.testing.assert_allclose(one.decision_function(X[350:355]), other.decision_function(X[350:355]), rtol=1e-9)


def test_evidence_from_older_files_is_shared_by_all_labels(events):
    echo = echo_of(trained(*events))
    arrays = {**echo.arrays(), "evidence": echo.evidence[:4].sum(axis=1)}
    older = Echo.from_arrays(arrays, 3)
    np.testing.assert_allclose(older.evidence[:4].sum(axis=1), arrays["evidence"], rtol=1e-12)
    assert (older.gains == older.gains[0]).all()
    assert older.gains[0] > 0.3


def test_late_answers_about_labels_that_appeared_are_weighed(events):
    """A label that was unknown at first widens everything, also where its answer comes late."""
    X, Y = events
    echo = echo_of(trained(X, Y))
    for i in range(20):
        echo.answer(i + 1, Y[i], np.full(3, 0.5))
    echo.answer(5, np.append(Y[4], 1.0), np.full(4, 0.5))
    assert echo.gains.shape == (4,)
    assert echo.evidence.shape == (5, 4)
    expected = np.zeros(4)
    gains(echo.evidence, expected)
    np.testing.assert_array_equal(echo.gains, expected)


@pytest.mark.parametrize("n_labels", [3, 4])
def test_classifiers_from_older_files_share_their_evidence(events, n_labels):
    X, Y = events
    clf = trained(X, Y)
    if n_labels > 3:
        clf.partial_fit(X[200:205], np.column_stack([Y[200:205], [0, 1, 0, 1, 1]]))
    arrays, facts = take_apart(clf._model)
    older = put_together({**arrays, "echo_evidence": clf._model.echo_evidence[:4].sum(axis=1)}, facts)
    np.testing.assert_allclose(
        older.echo_evidence[:4].sum(axis=1), clf._model.echo_evidence[:4].sum(axis=1), rtol=1e-12
    )
    assert Echo(older.n_labels, older.echo_evidence).gains[:3].min() > 0.3


def test_evidence_that_is_not_finite_is_refused(events):
    arrays = echo_of(trained(*events)).arrays()
    with pytest.raises(ValueError, match="not finite"):
        Echo.from_arrays({**arrays, "evidence": np.full((5, 3), np.nan)}, 3)


def test_questions_hurry_where_errors_repeat_and_only_there(events, shuffled):
    hurried = {}
    for name, (X, Y) in {"events": events, "shuffled": shuffled}.items():
        for echo in (True, False):
            learner = ActiveLearner(trained(X, Y), 0.1, echo=echo)
            _, passed = learner.watch(X[200:])
            hurried[name, echo] = learner._scout.experience.haste, passed
    assert hurried["shuffled", True] == hurried["shuffled", False]
    assert hurried["events", False][0] == 1.0
    assert hurried["events", True][0] > 4.0
    assert hurried["events", True][1] <= hurried["events", False][1]


@pytest.mark.parametrize("by_row", [False, True])
def test_haste_shortens_the_wait(events, monkeypatch, by_row):
    """Samples that pass while a question could be paid, over a whole stream."""
    X, Y = events

    def waited():
        learner, waits = ActiveLearner(trained(X, Y), 0.1), 0
        for x, y in zip(X[200:], Y[200:], strict=True):
            payable = learner.bucket.affordable(3) >= 1
            query = learner.query(x) if by_row else learner.watch(x[None])[0]
            if query is not None:
                learner.update(query, y if query.asked else None)
            waits += payable and (query is None or not query.asked)
        return waits

    hurried = waited()
    monkeypatch.setattr(experience, "HASTE", 0.0)
    assert hurried < 0.8 * waited()


def test_the_papers_profile_has_none(events):
    X, Y = events
    learner = walked(ActiveLearner.paper(trained(X, Y), 0.5), X[200:230], Y[200:230])
    np.testing.assert_array_equal(
        learner.decision_function(X[230:240]), learner.classifier.decision_function(X[230:240])
    )


def test_copies_go_on_alike(events):
    X, Y = events
    learner = walked(ActiveLearner(trained(X, Y), 0.3), X[200:240], Y[200:240])
    twin = copy.deepcopy(learner)
    walked(learner, X[240:260], Y[240:260])
    walked(twin, X[240:260], Y[240:260])
    np.testing.assert_array_equal(learner.decision_function(X[260:270]), twin.decision_function(X[260:270]))


def test_answers_that_are_hardly_believed_hardly_echo(events):
    X, Y = events
    clf = trained(X, Y)
    sure, doubtful = echo_of(clf), echo_of(clf)
    for i in range(5):
        sure.answer(i + 1, Y[i], np.full(3, 0.5))
        doubtful.answer(i + 1, Y[i], np.full(3, 0.5), np.full(3, 0.1))
    assert (np.abs(doubtful.shift(LATER, 3)) < np.abs(sure.shift(LATER, 3))).all()


@pytest.mark.parametrize("first", [0, 1.5, "next"])
def test_rows_have_numbers_from_1_on(events, first):
    learner = ActiveLearner(trained(*events))
    with pytest.raises(ParameterError, match="first"):
        learner.decision_function(events[0][200:202], first=first)


def test_rows_from_before_the_last_answer_have_its_echo(events):
    X, Y = events
    learner = walked(ActiveLearner(trained(X, Y), 0.3), X[200:260], Y[200:260])
    assert np.isfinite(learner.decision_function(X[:3], first=1)).all()
