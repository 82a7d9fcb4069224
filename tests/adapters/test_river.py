"""The river face: the same model as the scikit-learn face, fed one dictionary at a time."""

import importlib
import pickle
import re
import sys

import numpy as np
import pytest
from choices import first_quick
from river import datasets, evaluate, metrics, preprocessing
from sklearn.metrics import f1_score, jaccard_score, roc_auc_score

from evolabel import EvolvingFuzzyClassifier
from evolabel._utils.optional import install_command
from evolabel.adapters.river import RiverEvolvingFuzzyClassifier, RiverSingleLabelClassifier
from evolabel.errors import DataError, DataTypeError, MissingDependencyError, ParameterError

PARAMETERS = {"warm_up": 40, "max_rules": 6}
FEATURES, LABELS = ["a", "b", "c", "d"], ["on", "hot", "wet"]


def dictionaries(X, Y):
    """The rows as river has them; what is NaN is absent."""
    for x, y in zip(X.tolist(), Y.tolist(), strict=True):
        yield (
            {name: value for name, value in zip(FEATURES, x, strict=True) if value == value},
            {name: bool(value) for name, value in zip(LABELS, y, strict=True) if value == value},
        )


@pytest.fixture
def complete_from_the_start(gappy_stream):
    """Gaps in features and labels, but not in the first row: it says what the columns are."""
    X, Y = (array.copy() for array in gappy_stream)
    X[0], Y[0] = 0.5, 1.0
    return X, Y


@pytest.fixture
def model(stream):
    """A river model past its warm-up."""
    model = RiverEvolvingFuzzyClassifier(**PARAMETERS)
    for x, y in dictionaries(*stream):
        model.learn_one(x, y)
    return model


def test_every_answer_is_the_scikit_learn_face_s(complete_from_the_start, state_of, assert_same_state):
    model, clf = RiverEvolvingFuzzyClassifier(**PARAMETERS), EvolvingFuzzyClassifier(**PARAMETERS)
    X, Y = complete_from_the_start
    for i, (x, y) in enumerate(dictionaries(X, Y)):
        if i > 0:
            shares, labels = clf.predict_proba(X[i : i + 1])[0], clf.predict(X[i : i + 1])[0]
            assert model.predict_proba_one(x) == {
                name: {False: 1.0 - share, True: share} for name, share in zip(LABELS, shares.tolist(), strict=True)
            }
            assert model.predict_one(x) == dict(zip(LABELS, labels.astype(bool).tolist(), strict=True))
        clf.partial_fit(X[i : i + 1], Y[i : i + 1])
        model.learn_one(x, y)
    expected = {**state_of(clf), "names": LABELS}
    assert clf.n_rules_ > 1
    assert_same_state(state_of(model.estimator), expected)


def test_the_order_of_the_names_does_not_matter(model, stream):
    for x, _ in dictionaries(*stream):
        assert model.predict_proba_one(dict(reversed(x.items()))) == model.predict_proba_one(x)


def test_weights_are_those_of_the_scikit_learn_face(stream):
    model, clf = RiverEvolvingFuzzyClassifier(**PARAMETERS), EvolvingFuzzyClassifier(**PARAMETERS)
    X, Y = stream
    weights = np.random.default_rng(0).integers(3, size=len(X)).astype(float)
    for (x, y), w in zip(dictionaries(X, Y), weights, strict=True):
        model.learn_one(x, y, w=w)
    clf.partial_fit(X, Y, sample_weight=weights)
    row = dict(zip(FEATURES, X[0], strict=True))
    shares = [model.predict_proba_one(row)[name][True] for name in LABELS]
    np.testing.assert_allclose(shares, clf.predict_proba(X[:1])[0], rtol=1e-12)


@pytest.fixture(scope="module")
def yeast_answers():
    """Labels of the first rows of Yeast, and what the scikit-learn face says before it learns each of them."""
    pairs = list(datasets.Yeast().take(400))
    X, Y = (np.array([list(pair[part].values()) for pair in pairs], float) for part in (0, 1))
    return Y[1:], EvolvingFuzzyClassifier(max_rules=10).test_then_train(X, Y)[1:]


# river's metrics, and the same by numpy and scikit-learn; the first sample is not predicted. River's area under the
# curve is an approximation.
SCORES = {
    "accuracy": (metrics.multioutput.MicroAverage(metrics.Accuracy()), lambda Y, S: np.mean((S >= 0.5) == Y), 1e-12),
    "exact match": (metrics.multioutput.ExactMatch(), lambda Y, S: np.mean(((S >= 0.5) == Y).all(axis=1)), 1e-12),
    "jaccard": (
        metrics.multioutput.MicroAverage(metrics.Jaccard()),
        lambda Y, S: jaccard_score(Y, S >= 0.5, average="micro"),
        1e-12,
    ),
    "f1 of the labels": (
        metrics.multioutput.MacroAverage(metrics.F1()),
        lambda Y, S: f1_score(Y, S >= 0.5, average="macro", zero_division=0.0),
        1e-12,
    ),
    "area under the curve": (
        metrics.multioutput.MicroAverage(metrics.ROCAUC(n_thresholds=200)),
        lambda Y, S: roc_auc_score(Y.ravel(), S.ravel().clip(0.0, 1.0)),
        5e-3,
    ),
}


@pytest.mark.compiled
@pytest.mark.parametrize("name", first_quick(*SCORES))
def test_river_evaluates_labels_and_probabilities(name, yeast_answers):
    metric, score, tolerance = SCORES[name]
    metric_value = evaluate.progressive_val_score(
        datasets.Yeast().take(400), RiverEvolvingFuzzyClassifier(max_rules=10), metric
    )
    assert metric_value.get() == pytest.approx(score(*yeast_answers), abs=tolerance)


@pytest.mark.compiled
def test_river_pipelines_take_it():
    model = preprocessing.StandardScaler() | RiverEvolvingFuzzyClassifier(warm_up=30, max_rules=4)
    metric = metrics.multioutput.MicroAverage(metrics.Accuracy())
    delayed = evaluate.progressive_val_score(datasets.Yeast().take(120), model, metric, delay=5)
    assert delayed.get() > 0.7


def test_before_anything_is_learned_there_is_no_answer():
    model = RiverEvolvingFuzzyClassifier()
    assert model.predict_one({"a": 1.0}) == model.predict_proba_one({"a": 1.0}) == {}
    model.learn_one({"a": 1.0}, {})
    model.learn_one({}, {"on": True})
    chances = model.predict_proba_one({"a": 1.0})["on"]  # no sample with a feature has shown the label
    assert 0.0 < chances[True] < 0.1
    assert chances[False] == 1.0 - chances[True]


def test_labels_appear_and_vanish(stream):
    X, Y = stream
    model, known = RiverEvolvingFuzzyClassifier(**PARAMETERS), set()
    for i, (x, y) in enumerate(dictionaries(X, Y)):
        there = {"on": i < 80, "hot": i > 20, "wet": i > 70}
        model.learn_one(x, {name: y[name] for name in LABELS if there[name]})
        known |= {name for name in LABELS if there[name]}
        assert model.predict_one(x).keys() == known
    assert list(model.estimator.label_names_) == LABELS
    wet = [model.predict_proba_one(x)["wet"][True] for x, _ in dictionaries(X, Y)]
    assert roc_auc_score(Y[:, 2], wet) > 0.7


def test_a_label_that_is_none_or_nan_is_as_good_as_absent(model, stream):
    x = dict(zip(FEATURES, stream[0][5].tolist(), strict=True))
    twins = [pickle.loads(pickle.dumps(model)) for _ in range(3)]
    for twin, answer in zip(twins, ({}, {"on": None}, {"on": float("nan")}), strict=True):
        twin.learn_one(x, {"hot": True, **answer})
    answers = [twin.predict_proba_one(x) for twin in twins]
    assert answers == [answers[0]] * 3
    assert answers[0]["hot"][True] > model.predict_proba_one(x)["hot"][True]


def test_kinds_of_truth_are_all_the_same(stream):
    kinds = [bool, int, float, np.bool_, np.float64, str, lambda v: np.int8(v)]
    answers = []
    for kind in kinds:
        model = RiverEvolvingFuzzyClassifier(**PARAMETERS)
        for x, y in dictionaries(*stream):
            model.learn_one(x, {name: kind(int(value)) for name, value in y.items()})
        answers.append(model.predict_proba_one(x))
    assert answers == [answers[0]] * len(kinds)


def test_names_need_not_be_text(stream):
    model = RiverEvolvingFuzzyClassifier(**PARAMETERS)
    for row, labels in zip(*stream, strict=True):
        model.learn_one({0: row[0], ("x", 1): row[1]}, {1: labels[0], None: labels[1]})
    assert model.predict_one({0: 1.0, ("x", 1): 0.0}).keys() == {1, None}
    assert list(model.estimator.feature_names_in_) == ["0", "('x', 1)"]


def test_asking_changes_nothing(model, stream):
    before = pickle.dumps(model)
    for x, _ in dictionaries(*stream):
        model.predict_one({**x, "unheard of": 3.0, "colour": "red"})
        model.predict_proba_one({"colour": "red"})
        model.predict_one({})
    assert pickle.dumps(model) == before


def test_pickled_models_go_on_alike(model, stream):
    twin = pickle.loads(pickle.dumps(model))
    for x, y in dictionaries(*stream):
        assert twin.predict_proba_one(x) == model.predict_proba_one(x)
        model.learn_one(x, {**y, "new": True})
        twin.learn_one(x, {**y, "new": True})


def test_clones_have_the_parameters_and_nothing_else(model):
    twin = model.clone({"novel_z": 4.0})
    assert twin._get_params() == {**PARAMETERS, "novel_z": 4.0, "follows": 1}
    assert twin.estimator.novel_z == 4.0
    assert twin.predict_one({"a": 1.0}) == {}
    assert model.clone(include_attributes=True).predict_one({"a": 1.0}) == model.predict_one({"a": 1.0})


def test_rules_are_read_and_saved_under_the_names_of_the_dictionaries(model, stream, tmp_path):
    rules = " ".join(str(rule) for rule in model.estimator.rules_)
    assert all(f" {name} " in rules for name in FEATURES + LABELS)
    model.estimator.save(tmp_path / "model.safetensors")
    loaded = EvolvingFuzzyClassifier.load(tmp_path / "model.safetensors")
    assert list(loaded.feature_names_in_) == FEATURES
    assert list(loaded.label_names_) == LABELS
    assert loaded.n_samples_seen_ == len(stream[0])


BAD = {
    "no dictionary": (([1.0, 2.0], {"on": True}), DataTypeError, "features are of type list; pass a dictionary"),
    "no labels": (({"a": 1.0}, True), DataTypeError, "labels are of type bool; pass a dictionary"),
    "nested": (({"a": 1.0, "b": [1.0]}, {"on": True}), DataTypeError, r"feature 'b' is \[1.0\]; a number is required"),
    "infinite": (({"a": 1.0, "z": np.inf}, {"on": True}), DataError, "feature 'z' is inf; leave it out"),
    "too long": (
        ({"a": 10**400}, {"on": True}),
        DataError,
        "feature 'a' is inf; leave it out",
    ),
    "fraction": (({"a": 1.0}, {"new": 0.5}), DataError, "label 'new' is 0.5; use True, False"),
    "text": (({"a": 1.0}, {"on": "yes"}), DataTypeError, "label 'on' is 'yes'; a number is required"),
    "weight": (({"a": 1.0, "e": "red"}, {"on": True}, -1.0), DataError, "sample_weight has entries that are negative"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input_is_one_clear_error_and_changes_nothing(case, model):
    sample, error, message = BAD[case]
    for before in (model, RiverEvolvingFuzzyClassifier()):
        state = pickle.dumps(before)
        with pytest.raises(error, match=message):
            before.learn_one(*sample)
        assert pickle.dumps(before) == state


def test_bad_parameters_are_refused():
    with pytest.raises(TypeError, match="max_rule"):
        RiverEvolvingFuzzyClassifier(max_rule=3)
    with pytest.raises(ParameterError, match="max_rules=0 is not allowed"):
        RiverEvolvingFuzzyClassifier(max_rules=0).learn_one({"a": 1.0}, {"on": True})


def test_without_river_the_error_names_the_command_that_installs_it(monkeypatch):
    monkeypatch.delitem(sys.modules, "evolabel.adapters.river")
    monkeypatch.setitem(sys.modules, "river.base", None)
    with pytest.raises(MissingDependencyError, match="needs river, .* " + re.escape(install_command("river"))):
        importlib.import_module("evolabel.adapters.river")


def test_people_write_rules_that_go_on_learning_or_stay(model, stream):
    number = model.rulebook.add('IF a ABOVE 1 THEN on LIKELY, hot UNLIKELY CALLED "far"')
    model.rulebook.lock("far")
    before = model.rulebook.form("far")
    for x, y in dictionaries(*stream):
        model.learn_one({**x, "new": x["a"] + x["b"]}, {**y, "late": True})
    assert model.estimator.n_features_in_ == 5
    assert model.rulebook.names == {number: "far"}
    assert model.rulebook.form("far") == before


def in_runs(n, run=10):
    """Samples whose labels last for `run` samples, whatever their features are."""
    rng = np.random.default_rng(0)
    states = np.repeat(rng.integers(0, 2, n // run), run)
    return [({"a": rng.normal(), "b": rng.normal()}, bool(state)) for state in states.tolist()]


def progress(model, pairs, read):
    """Predictions of all samples, each before it is learned."""
    found = []
    for x, y in pairs:
        found.append(model.predict_one(x))
        model.learn_one(x, read(y))
    return found


@pytest.mark.parametrize(
    ("kind", "read"),
    [(RiverSingleLabelClassifier, bool), (RiverEvolvingFuzzyClassifier, lambda y: {"on": y})],
)
def test_the_last_answers_count_where_every_sample_is_learned_right_after_it(kind, read):
    pairs = in_runs(600)
    follows, late, without = (progress(kind(**how), pairs, read) for how in ({}, {"follows": None}, {"memory": None}))
    assert late == without
    right = np.mean([found == read(y) for found, (_, y) in list(zip(follows, pairs, strict=True))[300:]])
    assert right > 0.85
    assert np.mean([found == read(y) for found, (_, y) in list(zip(late, pairs, strict=True))[300:]]) < 0.7


def test_predicting_changes_nothing_where_samples_follow():
    asked, other = (RiverSingleLabelClassifier(warm_up=30) for _ in range(2))
    for x, y in in_runs(200):
        asked.predict_proba_one(x)
        asked.predict_one(x)
        asked.learn_one(x, y)
        other.learn_one(x, y)
    assert asked.predict_proba_one({"a": 1.0}) == other.predict_proba_one({"a": 1.0})


def test_follows_is_a_parameter_of_clones():
    assert RiverSingleLabelClassifier(follows=2).clone().follows == 2
    assert RiverSingleLabelClassifier().clone().follows == 1
    assert RiverSingleLabelClassifier(memory=None).clone({"follows": None}).follows is None
    with pytest.raises(ParameterError, match="follows=0"):
        RiverSingleLabelClassifier(follows=0)
    with pytest.raises(ParameterError, match=r'follows=2 needs memory="answers"'):
        RiverSingleLabelClassifier(follows=2, memory=None)
