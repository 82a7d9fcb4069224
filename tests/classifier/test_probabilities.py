"""`predict_proba`, `predict_log_proba`, `predict_set`: what a user can rely on."""

from itertools import product

import numpy as np
import pytest
from choices import pairs
from sklearn.datasets import load_digits
from sklearn.metrics import log_loss

from evolabel import EvolvingFuzzyClassifier
from evolabel.active import ActiveLearner
from evolabel.errors import DataError, NotTrainedError, ParameterError
from evolabel.evaluate import set_coverage, set_size
from evolabel.evaluate.metrics.prediction_sets import covered
from evolabel.streams import DriftingStream

STREAM = DriftingStream(n_features=6, n_labels=3, n_regions=4, drift="none", noise=0.1, seed=0).take(900)
CALM = DriftingStream(n_features=6, n_labels=3, n_regions=4, drift="none", noise=0.1, seed=1).take(4000)
PROFILES = [
    {},
    {"threshold_rules": False},
    {"follow_drift": False, "threshold_rules": False},
    {"optimise": "macro_f1"},
    {"local_ridge": 0.1},
]


def calibration_error(p, y, bins=15):
    b = np.minimum((p * bins).astype(int), bins - 1)
    return np.abs(np.bincount(b, p, bins) - np.bincount(b, y, bins)).sum() / len(p)


def fitted(**parameters):
    X, Y = STREAM
    return EvolvingFuzzyClassifier(**parameters).fit(X[:300], Y[:300])


def state_of(clf):
    return clf.inner.any_model.calibration.arrays


def as_classes(Y):
    return np.where(Y[:, 0] > 0.5, "ash", np.where(Y[:, 1] > 0.5, "birch", "cedar"))


# ------------------------------------------------------------------ probabilities


@pytest.mark.compiled
def test_digits_after_fit_alone_have_probabilities_to_be_believed():
    X, y = load_digits(return_X_y=True)
    order = np.random.default_rng(7).permutation(len(X))
    train, test = order[:1200], order[1200:]
    clf = EvolvingFuzzyClassifier().fit(X[train], y[train])
    P = clf.predict_proba(X[test])
    right = clf.predict(X[test]) == y[test]
    assert calibration_error(P.max(axis=1), right) < 0.04
    assert log_loss(y[test], P) < 0.15
    assert (P > 0.0).all()


@pytest.mark.parametrize("parameters", PROFILES)
def test_probabilities_are_neither_0_nor_1_and_have_finite_logarithms(parameters):
    X, Y = STREAM
    clf = fitted(**parameters)
    clf.partial_fit(X[300:600], Y[300:600])
    rows = np.vstack([X, 1e3 * X, np.full((1, 6), 1e12)])
    P = clf.predict_proba(rows)
    assert ((P > 0.0) & (P < 1.0)).all()
    np.testing.assert_array_equal(clf.predict_log_proba(rows), np.log(P))


def test_probabilities_after_fit_and_along_the_stream_are_calibrated():
    X, Y = CALM
    clf = EvolvingFuzzyClassifier().fit(X[:1000], Y[:1000])
    after_fit = clf.predict_proba(X[1000:])
    along = clf.answer_then_train(X[1000:], Y[1000:])
    clipped = np.clip(along.outputs, 0.0, 1.0)
    errors = [calibration_error(p.ravel(), Y[1000:].ravel()) for p in (clipped, after_fit, along.probabilities)]
    assert errors[1] < 0.5 * errors[0]
    assert errors[2] < 0.5 * errors[0]


@pytest.mark.parametrize("parameters", PROFILES)
def test_outputs_and_labels_do_not_depend_on_probabilities(parameters):
    X, Y = STREAM
    asked, plain = fitted(**parameters), fitted(**parameters)
    for start in range(300, 900, 100):
        part = slice(start, start + 100)
        asked.predict_proba(X[part])
        asked.predict_set(X[part])
        found = asked.answer_then_train(X[part], Y[part]).outputs
        np.testing.assert_array_equal(found, plain.test_then_train(X[part], Y[part]))
    np.testing.assert_array_equal(asked.predict(X), plain.predict(X))
    np.testing.assert_array_equal(asked.decision_function(X), plain.decision_function(X))


@pytest.mark.parametrize(("parameters", "start"), pairs(PROFILES, product([0, 300], [False, True])))
def test_row_by_row_is_the_same_as_all_at_once(parameters, start):
    initial, classes = start
    if classes and "optimise" in parameters:
        return
    X, target = STREAM[0][:450], as_classes(STREAM[1][:450]) if classes else STREAM[1][:450]
    together, apart = EvolvingFuzzyClassifier(**parameters), EvolvingFuzzyClassifier(**parameters)
    if initial:
        together.fit(X[:initial], target[:initial])
        apart.fit(X[:initial], target[:initial])
    found = together.answer_then_train(X[initial:], target[initial:])
    for i in range(initial, len(X)):
        is_known = i > 0 and (not classes or (target[:i] == target[i]).any())  # a new class is there from its row on
        if is_known:
            x, follows = X[i : i + 1], {} if apart.memory is None else {"follows": 1}
            P, sets = apart.predict_proba(x, **follows)[0], apart.predict_set(x, **follows)[0]
            np.testing.assert_allclose(P, found.probabilities[i - initial, : len(P)], atol=1e-5)
            np.testing.assert_array_equal(sets, found.sets[i - initial, : len(P)])
        apart.partial_fit(X[i : i + 1], target[i : i + 1])
    assert all(map(np.array_equal, state_of(together), state_of(apart)))


def test_the_profile_of_the_paper_is_calibrated_too():
    X, Y = STREAM
    clf = EvolvingFuzzyClassifier.paper().fit(X[:300], Y[:300])
    found = clf.answer_then_train(X[300:], Y[300:])
    clipped = np.clip(found.outputs, 0.0, 1.0)
    assert ((found.probabilities > 0.0) & (found.probabilities < 1.0)).all()
    errors = [calibration_error(p.ravel(), Y[300:].ravel()) for p in (clipped, found.probabilities)]
    assert errors[1] < errors[0]


def test_half_of_the_labels_may_be_missing():
    X, Y = CALM
    seen = np.where(np.random.default_rng(3).random(Y.shape) < 0.5, Y, np.nan)
    clf = EvolvingFuzzyClassifier().fit(X[:1000], seen[:1000])
    found = clf.answer_then_train(X[1000:], seen[1000:])
    assert calibration_error(found.probabilities.ravel(), Y[1000:].ravel()) < 0.04
    assert set_coverage(Y[1000:], found.sets) >= 0.88


def test_a_label_without_answers_keeps_its_state():
    X, Y = STREAM
    clf = fitted()
    before = [array.copy() for array in state_of(clf)]
    hidden = Y[300:500].copy()
    hidden[:, 1] = np.nan
    clf.partial_fit(X[300:500], hidden)
    for name in ("delta", "D", "counts", "n", "alpha"):
        place = state_of(clf)._fields.index(name)
        assert np.array_equal(getattr(state_of(clf), name)[1], before[place][1])
        assert not np.array_equal(getattr(state_of(clf), name)[0], before[place][0])


def test_rows_of_weight_0_leave_no_trace():
    X, Y = STREAM
    clf = fitted()
    before = [array.copy() for array in state_of(clf)]
    clf.partial_fit(X[300:400], Y[300:400], sample_weight=np.zeros(100))
    assert all(map(np.array_equal, state_of(clf), before))


def test_a_new_label_has_the_shared_map_and_a_set_of_both_values():
    X, Y = STREAM
    clf = fitted().partial_fit(X[300:500], Y[300:500])
    wider = np.column_stack([Y[500:505], [1.0, 0.0, 1.0, 0.0, 0.0]])
    clf.partial_fit(X[500:505], wider)
    assert clf.predict_proba(X[:5]).shape == (5, 4)
    assert clf.predict_set(X)[:, 3].all()
    clf.partial_fit(X[505:605], np.column_stack([Y[505:605], Y[505:605, 0]]))
    assert not clf.predict_set(X)[:, 3].all()


def test_an_explanation_has_the_probability_beside_the_output():
    X, Y = STREAM
    clf = fitted().partial_fit(X[300:500], Y[300:500])
    why = clf.explain(X[600])
    np.testing.assert_allclose(why.probabilities, clf.predict_proba(X[600:601])[0], rtol=1e-9)
    shown = why.to_dict()["labels"]
    assert [label["probability"] for label in shown] == why.probabilities.tolist()
    np.testing.assert_allclose([label["output"] for label in shown], clf.decision_function(X[600:601])[0])


# ------------------------------------------------------------------ files, merging


@pytest.mark.parametrize("classes", [False, True])
def test_a_loaded_model_continues_with_the_same_bits(classes, tmp_path):
    X, target = STREAM[0], as_classes(STREAM[1]) if classes else STREAM[1]
    clf = EvolvingFuzzyClassifier().fit(X[:300], target[:300]).partial_fit(X[300:500], target[300:500])
    clf.save(tmp_path / "model")
    twin = EvolvingFuzzyClassifier.load(tmp_path / "model")
    np.testing.assert_array_equal(twin.predict_set(X), clf.predict_set(X))
    found = [each.answer_then_train(X[500:], target[500:]) for each in (clf, twin)]
    assert all(map(np.array_equal, *found))
    assert all(map(np.array_equal, state_of(clf), state_of(twin)))


def test_parts_that_are_merged_add_their_counts_and_curvatures():
    X, Y = CALM
    whole = EvolvingFuzzyClassifier().fit(X[:500], Y[:500])
    part = whole.sibling()
    whole.partial_fit(X[500:1500], Y[500:1500])
    part.partial_fit(X[1500:2500], Y[1500:2500])
    mine, theirs = ([array.copy() for array in state_of(each)] for each in (whole, part))
    names = state_of(whole)._fields
    whole.merge(part)
    merged = state_of(whole)
    for name in ("counts", "n"):
        place = names.index(name)
        np.testing.assert_allclose(getattr(merged, name), mine[place] + theirs[place], rtol=1e-12)
    place = names.index("A")
    np.testing.assert_allclose(merged.A, mine[place] + theirs[place] - np.eye(3), rtol=1e-9)
    P = whole.predict_proba(X[2500:])
    assert calibration_error(P.ravel(), Y[2500:].ravel()) < 0.06
    assert set_coverage(Y[2500:], whole.predict_set(X[2500:])) >= 0.87


def test_a_sibling_that_has_learned_nothing_changes_no_map():
    clf = fitted()
    before = [array.copy() for array in state_of(clf)]
    clf.merge(clf.sibling())
    for array, old in zip(state_of(clf), before, strict=True):
        np.testing.assert_allclose(array, old, rtol=1e-9, atol=1e-12)


# ------------------------------------------------------------------ sets


@pytest.mark.parametrize("coverage", [0.8, 0.9, 0.95, 0.99])
def test_sets_hold_the_truth_as_often_as_asked(coverage):
    X, Y = CALM
    clf = EvolvingFuzzyClassifier().fit(X[:500], Y[:500])
    found = clf.answer_then_train(X[500:], Y[500:], coverage=coverage)
    assert found.sets.shape == (3500, 3, 2)
    assert found.sets.any(axis=2).all()
    assert set_coverage(Y[500:], found.sets) >= coverage - 0.02
    assert (covered(Y[500:], found.sets).mean(axis=0) >= coverage - 0.03).all()


@pytest.mark.compiled
def test_sets_hold_the_truth_also_after_a_label_has_flipped():
    X, Y = CALM[0], CALM[1].copy()
    Y[2000:, 0] = 1.0 - Y[2000:, 0]
    clf = EvolvingFuzzyClassifier().fit(X[:500], Y[:500])
    found = covered(Y[500:], clf.answer_then_train(X[500:], Y[500:]).sets)[:, 0]
    windows = np.convolve(found, np.ones(250) / 250, "valid")
    assert windows.min() >= 0.83


@pytest.mark.compiled
def test_labels_that_are_asked_for_do_not_narrow_the_sets():
    X, Y = CALM
    learner = ActiveLearner(EvolvingFuzzyClassifier().fit(X[:500], Y[:500]), 0.1, per="labels")
    sets = []
    for x, y in zip(X[500:2500], Y[500:2500], strict=True):
        sets.append(learner.classifier.predict_set(x[None])[0])
        query = learner.query(x)
        learner.update(query, np.where(query.labels, y, np.nan) if query.asked else None)
    assert set_coverage(Y[500:2500], np.array(sets)) >= 0.88


def test_only_probes_of_a_budget_move_the_thresholds():
    X, Y = CALM
    learner = ActiveLearner(EvolvingFuzzyClassifier().fit(X[:300], Y[:300]), 0.3, per="labels")
    moved = {True: 0, False: 0}
    for x, y in zip(X[300:600], Y[300:600], strict=True):
        query = learner.query(x)
        counts, theta = state_of(learner.classifier).n.copy(), state_of(learner.classifier).theta.copy()
        learner.update(query, np.where(query.labels, y, np.nan) if query.asked else None)
        if query.asked:
            is_moved = not np.array_equal(state_of(learner.classifier).n, counts)
            assert is_moved == ("probe" in query.reasons)
            assert not np.array_equal(state_of(learner.classifier).theta, theta)
            moved[is_moved] += 1
    assert moved[True] > 0
    assert moved[False] > 0


@pytest.mark.parametrize("selection", ["random", "quantile"])
def test_random_questions_and_those_about_everything_move_the_thresholds(selection):
    X, Y = CALM
    budget = 0.3 if selection == "random" else 1.0
    learner = ActiveLearner(EvolvingFuzzyClassifier().fit(X[:300], Y[:300]), budget, selection=selection)
    before = state_of(learner.classifier).n.copy()
    for x, y in zip(X[300:330], Y[300:330], strict=True):
        query = learner.query(x)
        learner.update(query, y if query.asked else None)
    assert (state_of(learner.classifier).n > before).all()


def test_sets_of_classes_hold_the_most_likely_class():
    X, y = STREAM[0], as_classes(STREAM[1])
    clf = EvolvingFuzzyClassifier().fit(X[:300], y[:300])
    sets = clf.predict_set(X[300:], coverage=0.8)
    P = clf.predict_proba(X[300:])
    assert sets.shape == P.shape
    assert sets[np.arange(len(P)), P.argmax(axis=1)].all()
    assert 1.0 <= set_size(sets) <= 3.0
    np.testing.assert_array_equal(clf.classes_[P.argmax(axis=1)], clf.predict(X[300:]))


@pytest.mark.parametrize("coverage", [0.49, 0.991, 1.0, float("nan"), "much", None, True])
def test_a_coverage_without_thresholds_is_refused(coverage):
    X, Y = STREAM
    clf = fitted()
    before = [array.copy() for array in state_of(clf)]
    with pytest.raises(ParameterError, match="coverage"):
        clf.predict_set(X, coverage)
    with pytest.raises(ParameterError, match="coverage"):
        clf.answer_then_train(X, Y, coverage=coverage)
    assert all(map(np.array_equal, state_of(clf), before))
    assert clf.n_samples_seen_ == 300


def test_questions_before_training_and_bad_rows_are_refused():
    with pytest.raises(NotTrainedError):
        EvolvingFuzzyClassifier().predict_set(STREAM[0])
    with pytest.raises(NotTrainedError):
        EvolvingFuzzyClassifier().predict_log_proba(STREAM[0])
    with pytest.raises(DataError):
        fitted().predict_set(STREAM[0][:, :3])


def test_the_first_rows_have_probabilities_and_wide_sets():
    X, Y = STREAM
    clf = EvolvingFuzzyClassifier().partial_fit(X[:1], Y[:1])
    for i in range(1, 60):
        P, sets = clf.predict_proba(X[i : i + 1]), clf.predict_set(X[i : i + 1])
        assert ((P > 0.0) & (P < 1.0)).all()
        assert sets.all() or i >= 10
        clf.partial_fit(X[i : i + 1], Y[i : i + 1])
