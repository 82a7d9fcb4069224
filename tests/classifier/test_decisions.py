"""`optimise="subset_accuracy"` and `"balanced"`, and `class_weight`: other decisions, the same outputs."""

import copy
import json
import pickle
import warnings

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.metrics import balanced_accuracy_score

from evolabel import EvolvingFuzzyClassifier
from evolabel.active import ActiveLearner
from evolabel.errors import DataError, ModelFileError, ParameterError
from evolabel.evaluate import prequential
from evolabel.persistence.model_file import read_model_file, write_model_file
from evolabel.streams import DriftingStream

WAYS = {
    "balanced": {"optimise": "balanced"},
    "sets": {"optimise": "subset_accuracy"},
    "weights": {"class_weight": {"label0": 20, "label2": 0.2}},
}
LEARNED = ("balanced", "sets")


def fresh(way, **changes):
    return EvolvingFuzzyClassifier(**{"max_rules": 6, **WAYS[way], **changes})


@pytest.fixture(scope="module")
def rare_labels():
    """A stream with labels that are on in 9 to 20 % of the rows, and features that show it in part."""
    X, Y = DriftingStream(n_features=5, n_labels=3, drift_every=0, seed=5).take(1500)
    return X, Y * (np.random.default_rng(0).random(Y.shape) < 0.3)


@pytest.fixture(scope="module")
def linked_labels():
    """Labels that are on or off together; the features show them with noise."""
    rng = np.random.default_rng(3)
    group = rng.integers(0, 5, 900)
    Y = np.array([[1, 1, 0, 0], [0, 1, 1, 0], [0, 0, 1, 1], [1, 0, 0, 1], [0, 0, 0, 0]], float)[group]
    return np.eye(5)[group] + rng.normal(0.0, 0.7, (900, 5)), Y


@pytest.mark.parametrize("way", WAYS)
def test_outputs_probabilities_and_rules_are_those_of_the_default(way, gappy_stream, state_of, assert_same_state):
    X, Y = gappy_stream
    default, other = (EvolvingFuzzyClassifier(max_rules=6).fit(X[:60], Y[:60]), fresh(way).fit(X[:60], Y[:60]))
    for mine, theirs in zip(default.answer_then_train(X, Y)[:3], other.answer_then_train(X, Y)[:3], strict=True):
        np.testing.assert_array_equal(mine, theirs)
    learned = state_of(other)
    assert_same_state({name: learned[name] for name in state_of(default)}, state_of(default))


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("prepared", [True, False])
def test_decisions_are_the_predictions_of_single_steps(way, prepared, gappy_stream, state_of, assert_same_state):
    X, Y = gappy_stream
    weights = np.random.default_rng(0).choice([0.0, 0.5, 1.0, 3.0], len(X))
    one, two = (fresh(way, warm_up=30) for _ in range(2))
    for clf in (one, two):
        if prepared:
            clf.fit(X[:40], Y[:40])
        else:
            clf.partial_fit(X[:1], Y[1:2])
    decisions = one.answer_then_train(X[40:], Y[40:], sample_weight=weights[40:]).decisions
    for i in range(40, len(X)):
        row = slice(i, i + 1)
        np.testing.assert_array_equal(two.predict(X[row])[0], decisions[i - 40])
        two.partial_fit(X[row], Y[row], sample_weight=weights[row])
    assert_same_state(state_of(one), state_of(two))


@pytest.mark.parametrize("way", WAYS)
def test_decisions_do_not_depend_on_the_labels_of_their_row_or_later(way, linked_labels):
    X, Y = linked_labels
    for row in (60, 75, 119):
        later = Y.copy()
        later[row:] = 1.0 - later[row:]
        one, other = (
            fresh(way).fit(X[:60], Y[:60]).answer_then_train(X[60:120], labels[60:120]).decisions
            for labels in (Y, later)
        )
        np.testing.assert_array_equal(one[: row - 59], other[: row - 59])


# ---------------------------------------------------------------- whole label sets


def test_sets_are_right_more_often_where_labels_come_together(linked_labels):
    X, Y = linked_labels
    plain, sets = (
        EvolvingFuzzyClassifier(max_rules=6, optimise=optimise)
        .fit(X[:150], Y[:150])
        .answer_then_train(X[150:], Y[150:])
        for optimise in ("accuracy", "subset_accuracy")
    )
    right = [(found.decisions == Y[150:]).all(axis=1).mean() for found in (plain, sets)]
    assert right[1] > right[0] + 0.05
    known = {tuple(row) for row in Y}
    assert {tuple(row) for row in sets.decisions.astype(float)} <= known


def test_the_initial_batch_alone_can_bring_sets_into_use(linked_labels):
    X, Y = linked_labels
    clf = fresh("sets").fit(X[:300], Y[:300])
    assert clf.inner.any_model.decisions.by_sets
    assert {tuple(row) for row in clf.predict(X)} <= {tuple(row) for row in Y}


def test_sets_that_do_not_win_are_not_used(stream):
    X, Y = stream
    rng = np.random.default_rng(0)
    noise = (rng.random(Y.shape) < 0.5).astype(float)
    clf = fresh("sets").fit(X[:60], noise[:60])
    clf.inner.any_model.decisions.outcomes[1:] = 3.0, 9.0  # 6 rows won, 3 lost: may be chance
    np.testing.assert_array_equal(clf.predict(X), clf.decision_function(X) >= 0.5)
    clf.inner.any_model.decisions.outcomes[1:] = 4.0, 9.0
    assert not np.array_equal(clf.predict(X), clf.decision_function(X) >= 0.5)


def test_rows_with_unknown_labels_teach_no_sets(linked_labels):
    X, Y = linked_labels
    clf = fresh("sets").fit(X[:150], Y[:150])
    before = copy.deepcopy(clf.inner.any_model.decisions.stored())
    gaps = Y[150:300].copy()
    gaps[:, 2] = np.nan
    clf.partial_fit(X[150:300], gaps)
    for name, array in clf.inner.any_model.decisions.stored().items():
        np.testing.assert_array_equal(array, before[name])


def test_new_labels_widen_the_sets(linked_labels):
    X, Y = linked_labels
    clf = fresh("sets").fit(X[:300], Y[:300, :2]).partial_fit(X[300:], Y[300:])
    assert clf.predict(X).shape == Y.shape
    assert (clf.predict(X[600:])[:, 2] == Y[600:, 2]).mean() > 0.7


def test_merged_sets_add_up(linked_labels):
    import pandas as pd

    X, Y = linked_labels
    frames = [pd.DataFrame(Y[:, order], columns=[f"l{k}" for k in order]) for order in ([0, 1, 2, 3], [3, 1, 0, 2])]
    one, other = (fresh("sets").fit(X, frame) for frame in frames)
    mine, theirs = one.inner.any_model.decisions, other.inner.any_model.decisions
    total, rows = mine.counts.sum() + theirs.counts.sum(), mine.outcomes[0] + theirs.outcomes[0] - 1.0
    merged = one.merge(other).inner.any_model.decisions
    assert merged.counts.sum() == total
    assert merged.outcomes[0] == rows
    assert len({tuple(row) for row in merged.kept()[0]}) == len(merged.kept()[0]) == 5


# ---------------------------------------------------------------- balanced, weights


def test_balanced_predicts_where_the_probability_reaches_the_share(rare_labels):
    X, Y = rare_labels
    clf = fresh("balanced").fit(X[:500], Y[:500])
    share = Y[:500].mean(axis=0)
    np.testing.assert_array_equal(clf.predict(X[500:]), clf.predict_proba(X[500:]) >= share)


def test_balanced_accuracy_becomes_better_and_rare_labels_are_predicted(rare_labels):
    X, Y = rare_labels
    plain, balanced = (
        EvolvingFuzzyClassifier(optimise=optimise).fit(X[:300], Y[:300]).answer_then_train(X[300:], Y[300:]).decisions
        for optimise in ("accuracy", "balanced")
    )
    assert plain.sum() < 10 < balanced.sum()
    scores = [np.mean([balanced_accuracy_score(Y[300:, k], D[:, k]) for k in range(3)]) for D in (plain, balanced)]
    assert scores[1] > scores[0] + 0.1


def test_class_weight_balanced_is_optimise_balanced(rare_labels):
    X, Y = rare_labels
    one, other = (EvolvingFuzzyClassifier(**way).fit(X, Y) for way in (WAYS["balanced"], {"class_weight": "balanced"}))
    np.testing.assert_array_equal(one.predict(X), other.predict(X))
    one.merge(other)


def test_a_weight_is_the_cost_of_a_miss_in_false_alarms(rare_labels):
    X, Y = rare_labels
    clf = EvolvingFuzzyClassifier(class_weight={"label1": 20}).fit(X, Y)
    expected = clf.predict_proba(X) >= [0.5, 1.0 / 21.0, 0.5]
    np.testing.assert_array_equal(clf.predict(X), expected)
    assert clf.predict(X)[:, 1].sum() > 5 * EvolvingFuzzyClassifier().fit(X, Y).predict(X)[:, 1].sum()


def test_weights_lower_the_cost(rare_labels):
    X, Y = rare_labels

    def cost(**way):
        D = EvolvingFuzzyClassifier(**way).fit(X[:500], Y[:500]).answer_then_train(X[500:], Y[500:]).decisions
        return 10 * (~D & (Y[500:] > 0)).sum() + (D & (Y[500:] == 0)).sum()

    assert cost(class_weight=dict.fromkeys(("label0", "label1", "label2"), 10)) < 0.9 * cost()


@pytest.mark.parametrize("way", ["balanced", "weights"])
def test_thresholds_are_those_of_the_outputs(way, rare_labels):
    X, Y = rare_labels
    clf = fresh(way).fit(X, Y)
    np.testing.assert_array_equal(clf.decision_function(X) >= clf.thresholds_, clf.predict(X))


def test_a_weight_beyond_all_probabilities_decides_always(rare_labels):
    X, Y = rare_labels
    clf = EvolvingFuzzyClassifier(class_weight={"label0": 1e9, "label1": 1e-9}).fit(X, Y)
    assert clf.thresholds_[:2].tolist() == [-np.inf, np.inf]
    assert clf.predict(X)[:, 0].all()
    assert not clf.predict(X)[:, 1].any()
    clf.explain(X[0])


def test_labels_by_name_and_names_that_y_does_not_have(rare_labels):
    import pandas as pd

    X, Y = rare_labels
    frame = pd.DataFrame(Y, columns=["leak", "bearing", "belt"])
    clf = EvolvingFuzzyClassifier(class_weight={"leak": 30}).fit(X, frame)
    assert clf.predict(X)[:, 0].sum() > clf.predict(X)[:, 1].sum()
    with pytest.raises(ParameterError, match="'leek', which y does not have; use names of leak, bearing, belt"):
        EvolvingFuzzyClassifier(class_weight={"leek": 30}).fit(X, frame)


def test_weights_follow_labels_that_get_other_names(rare_labels):
    X, Y = rare_labels
    clf = EvolvingFuzzyClassifier(max_rules=3, class_weight={"label0": 20}).fit(X[:300], Y[:300])
    before = clf.predict(X)
    clf.name_columns([f"s{j}" for j in range(5)], ["leak", "label0", "seal"])
    assert clf.class_weight == {"leak": 20}
    with pytest.warns(UserWarning, match="feature names"):
        np.testing.assert_array_equal(clf.predict(X), before)


def test_weights_of_a_label_that_appears_later(rare_labels):
    X, Y = rare_labels
    clf = EvolvingFuzzyClassifier(class_weight={"label2": 50}).partial_fit(X[:200], Y[:200, :2])
    clf.partial_fit(X[200:], Y[200:])
    np.testing.assert_array_equal(clf.predict(X)[:, 2], clf.predict_proba(X)[:, 2] >= 1.0 / 51.0)


@pytest.mark.parametrize("optimise", ["macro_f1", "micro_f1", "subset_accuracy", "balanced"])
def test_weights_and_another_measure_do_not_go_together(optimise, stream):
    clf = EvolvingFuzzyClassifier(optimise=optimise, class_weight={"label0": 2})
    with pytest.raises(ParameterError, match="does not go with optimise"):
        clf.fit(*stream)


def test_models_of_other_weights_are_not_merged(stream):
    one, other = (EvolvingFuzzyClassifier(class_weight={"label0": w}).fit(*stream) for w in (2, 3))
    with pytest.raises(DataError, match="what they optimise"):
        one.merge(other)
    same = EvolvingFuzzyClassifier(class_weight={"label0": np.float64(2.0)}).fit(*stream)
    one.merge(same)


def test_weights_pass_scikit_learn_and_json():
    clf = EvolvingFuzzyClassifier(class_weight={"label0": 2})
    assert clone(clf).class_weight == {"label0": 2}
    assert EvolvingFuzzyClassifier(**json.loads(json.dumps(clf.get_params()))).class_weight == {"label0": 2}


# ---------------------------------------------------------------- classes


@pytest.fixture(scope="module")
def rare_class():
    """Three classes that overlap, one of them rare."""
    rng = np.random.default_rng(1)
    y = rng.choice(3, 900, p=[0.6, 0.35, 0.05])
    return np.eye(3)[y] * 1.2 + rng.normal(0.0, 1.0, (900, 3)), y


@pytest.mark.parametrize("way", [{"optimise": "balanced"}, {"class_weight": "balanced"}])
def test_rare_classes_are_predicted_when_balanced(way, rare_class):
    X, y = rare_class
    plain, balanced = (EvolvingFuzzyClassifier(**kind).fit(X[:500], y[:500]) for kind in ({}, way))
    scores = [balanced_accuracy_score(y[500:], clf.predict(X[500:])) for clf in (plain, balanced)]
    assert scores[1] > scores[0] + 0.03
    np.testing.assert_array_equal(plain.predict_proba(X), balanced.predict_proba(X))


def test_class_weights_multiply_probabilities(rare_class):
    X, y = rare_class
    clf = EvolvingFuzzyClassifier(class_weight={2: 8.0}).fit(X, y)
    np.testing.assert_array_equal(clf.predict(X), (clf.predict_proba(X) * [1.0, 1.0, 8.0]).argmax(axis=1))


@pytest.mark.parametrize("way", [{"optimise": "balanced"}, {"class_weight": {"2": 8}}])
def test_decisions_on_classes_are_the_predictions_of_single_steps(way, rare_class, tmp_path):
    X, y = rare_class
    one, two = (EvolvingFuzzyClassifier(max_rules=4, **way).partial_fit(X[:100], y[:100] % 2) for _ in range(2))
    decisions = one.answer_then_train(X[100:160], y[100:160]).decisions
    for i in range(100, 160):
        assert two.predict(X[[i]])[0] == decisions[i - 100].argmax()
        two.partial_fit(X[[i]], y[[i]])
    one.save(tmp_path / "model")
    np.testing.assert_array_equal(EvolvingFuzzyClassifier.load(tmp_path / "model").predict(X), one.predict(X))
    one.merge(two)
    assert one.explain(X[0]).predicted.argmax() == one.predict(X[:1])[0]


def test_names_of_weights_keep_their_type_in_a_file(rare_class, tmp_path):
    X, y = rare_class
    clf = EvolvingFuzzyClassifier(max_rules=3, class_weight={0: 1, np.int64(2): 20.0}).fit(X[:300], y[:300])
    clf.save(tmp_path / "model")
    loaded = EvolvingFuzzyClassifier.load(tmp_path / "model")
    assert loaded.class_weight == {0: 1, 2: 20.0}
    assert [type(name) for name in loaded.class_weight] == [int, int]
    np.testing.assert_array_equal(loaded.predict(X), clf.predict(X))


def test_whole_sets_of_classes_are_the_largest_output(rare_class):
    X, y = rare_class
    one, other = (EvolvingFuzzyClassifier(optimise=how).fit(X, y) for how in ("accuracy", "subset_accuracy"))
    np.testing.assert_array_equal(one.predict(X), other.predict(X))
    assert other.inner.any_model.decisions is None


# ---------------------------------------------------------------- files, explanations, others that decide


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("stored", [copy.deepcopy, lambda clf: pickle.loads(pickle.dumps(clf)), None])
def test_a_stored_classifier_goes_on_with_the_same_bits(way, stored, linked_labels, tmp_path):
    X, Y = linked_labels
    clf = fresh(way).fit(X[:150], Y[:150]).partial_fit(X[150:200], Y[150:200])
    if stored is None:
        clf.save(tmp_path / "model")
        twin = EvolvingFuzzyClassifier.load(tmp_path / "model")
    else:
        twin = stored(clf)
    for mine, theirs in zip(clf.answer_then_train(X, Y), twin.answer_then_train(X, Y), strict=True):
        np.testing.assert_array_equal(mine, theirs)


CRAFTED = [
    ("sets", "sets", lambda a: a[:, :2]),
    ("sets", "sets", lambda a: np.zeros_like(a)),
    ("sets", "sets", lambda a: a.astype(np.int64)),
    ("sets", "counts", lambda a: 0.0 * a),
    ("sets", "counts", lambda a: -a),
    ("sets", "counts", lambda a: a * 1e3),
    ("sets", "counts", lambda a: np.ones(300)),
    ("sets", "on", lambda a: a * 1e3),
    ("sets", "on", lambda a: 0.0 * a),
    ("sets", "on", lambda a: a[:1]),
    ("sets", "outcomes", lambda a: np.nan * a),
    ("sets", "outcomes", lambda a: a[:2]),
    ("sets", "outcomes", lambda a: a * [1.0, 1e3, 1.0] + [0.0, 1e3, 0.0]),
    ("sets", "outcomes", lambda a: a * [0.0, 1.0, 1.0]),
    ("balanced", "on", lambda a: a + 1e6),
    ("balanced", "seen", lambda a: -a),
    ("balanced", "seen", lambda a: a[:1]),
    ("balanced", "seen", lambda a: np.full_like(a, np.inf)),
]


@pytest.mark.parametrize(("way", "name", "change"), CRAFTED)
def test_crafted_files_are_refused(way, name, change, linked_labels, tmp_path):
    X, Y = linked_labels
    fresh(way).fit(X[:150], Y[:150]).save(tmp_path / "model")
    arrays, manifest = read_model_file(tmp_path / "model")
    arrays[f"decisions.{name}"] = change(arrays[f"decisions.{name}"])
    write_model_file(tmp_path / "crafted", arrays, manifest)
    with pytest.raises(ModelFileError, match="decisions: array"):
        EvolvingFuzzyClassifier.load(tmp_path / "crafted")


def test_arrays_of_decisions_that_are_not_learned_are_refused(linked_labels, tmp_path):
    X, Y = linked_labels
    fresh("weights").fit(X[:150], Y[:150]).save(tmp_path / "model")
    arrays, manifest = read_model_file(tmp_path / "model")
    write_model_file(tmp_path / "crafted", {**arrays, "decisions.seen": np.ones(4)}, manifest)
    with pytest.raises(ModelFileError, match="arrays of decisions are not expected"):
        EvolvingFuzzyClassifier.load(tmp_path / "crafted")


@pytest.mark.parametrize("way", WAYS)
def test_explanations_decide_as_predictions_do(way, linked_labels):
    X, Y = linked_labels
    clf = fresh(way).fit(X[:150], Y[:150])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = [clf.explain(x) for x in X[150:200]]
    np.testing.assert_array_equal([why.predicted for why in found], clf.predict(X[150:200]))
    if way == "sets":  # a change that turns one label alone would not turn the set
        assert all(change is None for why in found for change in why.counterfactuals)
    assert all(str(why) and json.dumps(why.to_dict(), allow_nan=False) for why in found[:3])


def test_an_explanation_says_that_a_label_set_is_decided_as_a_whole(linked_labels):
    X, Y = linked_labels
    clf = fresh("sets").fit(X[:150], Y[:150])
    for x in (X[150], np.full(5, np.nan)):
        why = clf.explain(x)
        on = why.predicted
        assert why.text.count(", in the most likely label set)") == on.sum()
        assert why.text.count(", not in the most likely label set)") == (~on).sum()
        assert "inf" not in why.text
        assert [label["threshold"] for label in why.to_dict()["labels"]] == [None] * 4
    whole = 'no change is offered: the label set is decided as a whole (optimise="subset_accuracy")'
    for text in (clf.explain(X[150]).text, clf.explain(X[150]).markdown()):
        assert text.count(whole) == 4


def test_an_explanation_says_that_classes_are_compared_by_weights(rare_class):
    X, y = rare_class
    text = EvolvingFuzzyClassifier(class_weight={2: 20}).fit(X[:300], y[:300]).explain(X[300]).text
    assert text.count(", of the largest weighted probability)") == 1
    assert text.count(", not of the largest weighted probability)") == 2
    assert text.count("no change is offered: classes are compared by their weighted probabilities") == 3


@pytest.mark.filterwarnings("ignore::evolabel.errors.DataWarning")
def test_a_row_without_features_is_explained_as_it_is_predicted(linked_labels):
    X, Y = linked_labels
    Y = Y[:, [0, 1, 1, 0]]  # pairs of labels: the set of plain decisions never occurred
    clf = fresh("sets").fit(X[:150], Y[:150])
    empty = np.full((1, 5), np.nan)
    np.testing.assert_array_equal(clf.explain(empty).predicted, clf.predict(empty)[0])


@pytest.mark.parametrize("way", WAYS)
def test_an_active_learner_decides_as_its_classifier(way, linked_labels):
    X, Y = linked_labels
    clf = fresh(way).fit(X[:150], Y[:150])
    learner = ActiveLearner(clf, 0.5)
    corrected = learner.decision_function(X[150:300])
    np.testing.assert_array_equal(learner.predict(X[150:300]), clf.inner.decide(corrected))
    if way == "sets":
        assert {tuple(row) for row in learner.predict(X[150:300])} <= {tuple(row) for row in Y}


@pytest.mark.parametrize("way", WAYS)
def test_late_labels_are_decided_as_predict_does(way, linked_labels):
    X, Y = linked_labels
    run = prequential(fresh(way), (X[:260], Y[:260]), initial=150, delay=500, metrics=("subset_accuracy", "pa"))
    (found,) = run.summary.values()
    decided = fresh(way).fit(X[:150], Y[:150]).predict(X[150:260])  # nothing arrives before the end
    assert found.metrics["subset_accuracy"] == pytest.approx((decided == Y[150:260]).all(axis=1).mean())
    assert found.metrics["pa"] == pytest.approx((decided == Y[150:260]).mean())
