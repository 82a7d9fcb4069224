"""Recent errors shift outputs where errors repeat, and nowhere else."""

import copy

import numpy as np
import pytest

from evolabel import EvolvingFuzzyClassifier
from evolabel.active import ActiveLearner, AnnotatorPool, BudgetedLearner, experience
from evolabel.core.echo import Echo
from evolabel.core.feature_growth import grow_features
from evolabel.core.model import BATCH_ARRAYS
from evolabel.core.snapshot import put_together, take_apart
from evolabel.errors import DataError, ParameterError
from evolabel.evaluate import partial_accuracy
from evolabel.kernels.echo import AGAIN, BACK, weigh_all
from evolabel.kernels.evidence import ANSWERS

LATER = np.arange(41, 46)


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
    return clf._model.new_echo()


def test_the_initial_batch_tells_whether_errors_repeat(events, shuffled):
    assert echo_of(trained(*events)).gains.min() > 0.3
    assert echo_of(trained(*shuffled)).mean_gain == 0.0


def test_only_the_second_half_of_the_batch_tells(events, shuffled):
    """Before, outputs know too little: their errors repeat in any stream."""
    course_ends = [np.concatenate([one[:200], other[:200]]) for one, other in zip(events, shuffled, strict=True)]
    course_begins = [np.concatenate([other[:200], one[:200]]) for one, other in zip(events, shuffled, strict=True)]
    assert echo_of(trained(*course_ends, rows=400)).mean_gain == 0.0
    assert echo_of(trained(*course_begins, rows=400)).mean_gain > 0.3


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
    echo, plain = learner._scout.experience.known().echo, learner.classifier.decision_function(X[:1])
    back = plain + echo.slopes[BACK] * (echo.rates - plain)  # all that is left in the end
    shifts = np.abs(learner.decision_function(np.tile(X[:1], (300, 1))) - back)
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


def test_answers_may_come_in_any_order(events):
    X, Y = events
    clf = trained(X, Y)
    one, other = echo_of(clf), echo_of(clf)
    order = np.random.default_rng(0).permutation(40)
    for echo, numbers in ((one, range(40)), (other, order.tolist())):
        for i in numbers:
            echo.answer(X[i], i + 1, Y[i], np.full(3, 0.5))
        echo.slopes[:] = [[0.0], [1.0]]  # what is expected again differs, as what came late was no evidence
        echo.answered.r[:] = np.round(echo.answered.r)  # nor were outputs drawn back by the same
    shifts = [echo.correction(X[200:205], LATER, 3).shift for echo in (one, other)]
    np.testing.assert_allclose(*shifts, rtol=1e-9)
    assert np.abs(shifts[0]).max() > 0.1


def test_labels_that_appear_have_no_echo_yet(events):
    X, Y = events
    learner = walked(ActiveLearner(trained(X, Y), 0.5), X[200:240], Y[200:240])
    learner.classifier.partial_fit(X[240:245], np.column_stack([Y[240:245], [0, 1, 0, 1, 1]]))
    shift = learner.decision_function(X[245:247]) - learner.classifier.decision_function(X[245:247])
    np.testing.assert_array_equal(shift[:, 3], 0.0)
    assert np.abs(shift[:, :3]).max() > 0.01
    query = learner.query(X[245])
    learner.update(query, np.append(Y[245], 1.0))
    assert learner._scout.experience.known().echo.gains.shape == (4,)


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


def test_rows_of_no_weight_tell_nothing(shuffled):
    """The second half of the batch is not to be learned; what is written there would repeat from row to row."""
    X, Y = shuffled[0][:200], shuffled[1][:200].copy()
    Y[100:] = np.repeat([0.0, 1.0], 50)[:, None]
    weights = np.repeat([1.0, 0.0], 100)
    clf = EvolvingFuzzyClassifier(max_rules=4).fit(X, Y, sample_weight=weights)
    assert echo_of(clf).mean_gain == 0.0
    assert echo_of(EvolvingFuzzyClassifier(max_rules=4).fit(X, Y)).gains.min() > 0.5


def test_rows_of_no_weight_have_no_part_in_base_rates(events):
    X, Y = events[0][:200], events[1][:200].copy()
    Y[100:] = 1.0
    clf = EvolvingFuzzyClassifier(max_rules=4).fit(X, Y, sample_weight=np.repeat([1.0, 0.0], 100))
    np.testing.assert_allclose(clf._model.base_rates(), Y[:100].mean(axis=0), rtol=1e-12)


def test_a_learner_that_looks_back_speaks_of_the_same_moment(events):
    X, Y = events
    learner = walked(ActiveLearner(trained(X, Y), 0.3, recent=1), X[200:260], Y[200:260])
    for x in X[260:270]:
        outputs, query = learner.decision_function(x[None])[0], learner.query(x)
        np.testing.assert_allclose(query.prediction, outputs, rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose(query.arrived.prediction, outputs, rtol=1e-9, atol=1e-9)
        learner.update(query, None)


def test_a_learner_that_looks_back_counts_the_rows_it_has_passed(events):
    X, Y = events
    learner = walked(ActiveLearner(trained(X, Y), 0.1, recent=1), X[200:261], Y[200:261])
    query, passed = learner.watch(X[261:280])
    assert passed > 3
    outputs = learner.decision_function(X[261 + passed : 262 + passed])[0]
    np.testing.assert_allclose(query.arrived.prediction, outputs, rtol=1e-9)


def test_there_is_no_echo_before_there_is_a_model(events):
    X, Y = events
    classifier = EvolvingFuzzyClassifier(warm_up=60).partial_fit(X[:1], Y[:1])
    learner = ActiveLearner(classifier, 1.0)
    for x, y in zip(X[1:40], Y[1:40], strict=True):
        learner.update(learner.query(x), y)
    np.testing.assert_array_equal(learner.decision_function(X[40:45]), classifier.decision_function(X[40:45]))
    for x, y in zip(X[40:80], Y[40:80], strict=True):
        learner.update(learner.query(x), y)
    assert learner._scout.experience.known().echo.next_number > 40


@pytest.mark.parametrize("ended_outside", [False, True])
@pytest.mark.parametrize("saved", [False, True])
def test_a_batch_of_rows_that_were_asked_for_is_no_course_of_events(events, tmp_path, saved, ended_outside):
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
            if ended_outside and row > 20:
                learner.classifier.partial_fit(rows[row:], labels[row:])
            else:
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


@pytest.mark.parametrize("per", ["samples", "labels"])
def test_watching_is_querying_while_there_is_an_echo(events, per):
    X, Y = events
    one, other = (ActiveLearner(trained(X, Y), 0.3, per) for _ in range(2))
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


def test_late_answers_about_labels_that_appeared_are_weighed(events):
    """A label that was unknown at first widens everything, also where its answer comes late."""
    X, Y = events
    echo = echo_of(trained(X, Y))
    for i in range(20):
        echo.answer(X[i], i + 1, Y[i], np.full(3, 0.5))
    echo.answer(X[4], 5, np.append(Y[4], 1.0), np.full(4, 0.5))
    assert echo.gains.shape == (4,)
    assert echo.evidence.shape == (2, 5, 4)
    expected = np.zeros((2, 4))
    weigh_all(echo.evidence, echo.rates, expected)
    np.testing.assert_array_equal(echo.slopes, expected)


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
    for name in BATCH_ARRAYS:
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


def test_features_that_come_or_go_leave_the_evidence(events):
    X, Y = events
    echo = echo_of(trained(X, Y))
    for i in range(20):
        echo.answer(X[i], i + 1, Y[i], np.full(3, 0.5))
    gains, correction = echo.gains.copy(), echo.correction(X[20:21, :3], np.array([21]), 3)
    assert not correction.told.any()
    np.testing.assert_allclose(correction.of(echo.rates), echo.rates[None], rtol=1e-12)
    echo.answer(X[20, :3], 21, np.full(3, np.nan), np.full(3, 0.5))
    np.testing.assert_allclose(echo.gains, gains, rtol=0.01)


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


def test_outputs_are_drawn_back_to_the_base_rates_where_that_was_right():
    """Labels that a slow wave drives, and features that only seemed to tell of them in the first rows."""
    rng = np.random.default_rng(3)
    wave = np.sin(np.arange(600) / 12.0)[:, None]
    Y = (wave + rng.normal(size=(600, 3)) > 0.0).astype(float)
    X = rng.normal(size=(600, 12))
    clf = EvolvingFuzzyClassifier(ridge=1e-3).fit(X[:120], Y[:120])
    echo = echo_of(clf)
    assert echo.slopes[BACK].min() > 0.1
    correction = echo.correction(clf._model.standardise(X[120:]), np.arange(1, 481), 3)
    plain = clf.decision_function(X[120:])
    np.testing.assert_allclose(correction.of(plain), plain + echo.slopes[BACK] * (echo.rates - plain), rtol=1e-9)
    assert np.square(Y[120:] - correction.of(plain)).mean() < 0.8 * np.square(Y[120:] - plain).mean()


def test_base_rates_are_those_of_the_batch(events):
    X, Y = events[0][:200], events[1][:200].copy()
    Y[:50, 1] = np.nan
    clf = EvolvingFuzzyClassifier(max_rules=4).fit(X, Y)
    np.testing.assert_allclose(clf._model.base_rates(), np.nanmean(Y, axis=0), rtol=1e-12)
    clf.partial_fit(X[:5], np.column_stack([Y[:5], [0, 1, 0, 1, 1]]))
    assert np.isnan(clf._model.base_rates()[3])


def test_siblings_share_base_rates_and_no_evidence(events):
    X, Y = events
    clf = trained(X, Y)
    clf.partial_fit(X[200:205], np.column_stack([Y[200:205], [0, 1, 0, 1, 1]]))
    arrays, facts = take_apart(clf.sibling()._model)
    twin = put_together(arrays, facts)
    np.testing.assert_array_equal(twin.base_rates(), clf._model.base_rates())
    assert not twin.echo_evidence.any()


@pytest.mark.parametrize("scaling", ["quantile", "standard", "minmax", "none"])
def test_samples_are_compared_alike_in_any_scaling(events, scaling):
    X, Y = 1000.0 * events[0], events[1]
    clf = EvolvingFuzzyClassifier(max_rules=4, scaling=scaling).fit(X[:200], Y[:200])
    spread = clf._model.standardise(X[:200]).std(axis=0)
    assert spread.min() > 0.5
    assert spread.max() < 1.5


def test_units_of_features_do_not_matter(events):
    evidence, outputs = [], []
    for unit in (1.0, 1024.0):
        X, Y = unit * events[0], events[1]
        learner = ActiveLearner(trained(X, Y), 0.3)
        evidence.append(learner.classifier._model.echo_evidence)
        outputs.append(walked(learner, X[200:240], Y[200:240]).decision_function(X[240:250]))
    np.testing.assert_allclose(*evidence, rtol=1e-6)
    np.testing.assert_allclose(*outputs, rtol=1e-6)


def test_questions_are_worth_less_where_recent_answers_tell_of_the_sample(events):
    X, Y = events
    worths = {}
    for per in ("samples", "labels"):
        learner = ActiveLearner(trained(X, Y), 0.5, per)
        before = learner._scout.experience.of_next(X[200:202]).worth
        query = learner.query(X[200])
        learner.update(query, Y[200])
        worths[per] = before, learner._scout.experience.of_next(X[[200, 201]]).worth
    before, (same, other) = worths["samples"]
    np.testing.assert_array_equal(before, 1.0)
    assert same < other < 1.0
    assert worths["labels"] == (None, None)


def test_worth_changes_what_the_measured_filter_sees_and_no_other(events):
    X, Y = events
    parts = {}
    for selection in (None, "tokens"):
        for asked in (False, True):
            learner = ActiveLearner(trained(X, Y), 0.5, selection=selection)
            if asked:
                learner.update(learner.query(X[200]), Y[200])
            worth = learner._scout.experience.of_next(X[201:203]).worth
            query = learner.query(X[201])
            plain = learner._scout.chooser.parts(
                [np.array(score).reshape(1, -1)[:, 0] for score in query.scores.values()]
            )
            parts[selection, asked] = query.arrived.part, plain[0], worth[0]
    for asked in (False, True):
        part, plain, worth = parts[None, asked]
        np.testing.assert_allclose(part, worth * plain, rtol=1e-9)
        np.testing.assert_allclose(parts["tokens", asked][0], parts["tokens", asked][1], rtol=1e-9)
    assert parts[None, True][2] < 1.0


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
        sure.answer(X[i], i + 1, Y[i], np.full(3, 0.5))
        doubtful.answer(X[i], i + 1, Y[i], np.full(3, 0.5), np.full(3, 0.1))
    for echo in (sure, doubtful):
        echo.slopes[:] = [[0.0], [1.0]]
    unsure, shift = (echo.correction(X[5:10], np.arange(6, 11), 3).shift for echo in (doubtful, sure))
    assert (np.abs(unsure) < np.abs(shift)).all()


def test_answers_echo_as_far_as_who_gave_them_is_believed(events):
    X, Y = events
    learner = ActiveLearner(trained(X, Y), 1.0, annotators=AnnotatorPool({"anna": 0.3}))
    learner.update(learner.query(X[200]), Y[200], annotator="anna")
    np.testing.assert_array_equal(learner._scout.experience.known().echo.answered.c.max(axis=0), 0.3)


@pytest.mark.parametrize(("weight", "believed"), [(0.25, 0.25), (4.0, 1.0)])
def test_rows_of_the_batch_tell_as_much_as_they_weigh_and_no_more_than_once(events, weight, believed):
    X, Y = events[0][:200], events[1][:200]
    clf = EvolvingFuzzyClassifier(max_rules=4).fit(X, Y, sample_weight=np.full(200, weight))
    answers = [each._model.echo_evidence[:, ANSWERS] for each in (clf, trained(X, Y))]
    np.testing.assert_allclose(answers[0], believed * answers[1], rtol=1e-9)


def test_an_answer_about_an_earlier_sample_is_remembered_at_its_place(events):
    X, Y = events
    learner, about = ActiveLearner(trained(X, Y), 0.2, recent=5), set()
    for row in range(200, 260):
        query = learner.query(X[row])
        number = row - 199 if query.about is None else query.about
        about |= {number} if query.asked else set()
        learner.update(query, Y[199 + number] if query.asked else None)
    answered = learner._scout.experience.known().echo.answered
    assert about == set(answered.at[answered.at > 0].tolist())
    assert not about <= set(range(5, 61, 5))  # some were not the latest


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


def test_rows_from_before_the_last_answer_have_its_echo(events):
    X, Y = events
    learner = walked(ActiveLearner(trained(X, Y), 0.3), X[200:260], Y[200:260])
    assert np.isfinite(learner.decision_function(X[:3], first=1)).all()
