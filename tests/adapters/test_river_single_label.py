"""One class per sample in river, and metrics of river where a label or a class appears mid-stream."""

import pickle

import numpy as np
import pandas as pd
import pytest
from river import evaluate, metrics
from river.datasets import synth

from evolabel import EvolvingFuzzyClassifier
from evolabel.adapters.river import RiverEvolvingFuzzyClassifier, RiverSingleLabelClassifier
from evolabel.errors import DataError, DataTypeError

SETTINGS = {"warm_up": 40, "max_rules": 6}
NAMES = ["a", "b", "c", "d"]


def samples(X):
    return [dict(zip(NAMES, row, strict=True)) for row in X.tolist()]


@pytest.fixture
def classes(stream):
    """Rows, and the class of each: three from the start, "late" from row 90 on."""
    X = stream[0]
    kinds = np.array(["low", "mid", "high"], dtype=object)[(X[:, 0] > 0.0).astype(int) + (X[:, 1] > 0.0)]
    kinds[90:][X[90:, 2] > 0.5] = "late"
    return X, kinds.tolist()


@pytest.mark.compiled
def test_river_scores_a_stream_of_one_class():
    metric = evaluate.progressive_val_score(
        synth.SEA(seed=1).take(600), RiverSingleLabelClassifier(), metrics.Accuracy()
    )
    assert metric.get() > 0.9


def test_every_answer_is_that_of_the_scikit_learn_face(classes):
    X, kinds = classes
    model, clf = RiverSingleLabelClassifier(**SETTINGS), EvolvingFuzzyClassifier(**SETTINGS)
    for i, (x, kind) in enumerate(zip(samples(X), kinds, strict=True)):
        if i > 0:
            row = X[i : i + 1]
            assert model.predict_one(x) == clf.predict(row, follows=1)[0]
            chances = clf.predict_proba(row, follows=1)[0].tolist()
            assert model.predict_proba_one(x) == dict(zip(clf.classes_.tolist(), chances, strict=True))
        model.learn_one(x, kind)
        clf.partial_fit(X[i : i + 1], [kind])
    assert "late" in clf.classes_
    np.testing.assert_array_equal(model.estimator.predict(pd.DataFrame(X, columns=NAMES)), clf.predict(X))


def test_saved_and_pickled_models_answer_alike(classes, tmp_path):
    X, kinds = classes
    model = RiverSingleLabelClassifier(follows=None, **SETTINGS)
    for x, kind in zip(samples(X), kinds, strict=True):
        model.learn_one(x, kind)
    model.estimator.save(tmp_path / "m.safetensors")
    loaded = EvolvingFuzzyClassifier.load(tmp_path / "m.safetensors")
    again = pickle.loads(pickle.dumps(model))
    assert loaded.predict(pd.DataFrame(X, columns=NAMES)).tolist() == [model.predict_one(x) for x in samples(X)]
    for x in samples(X[:20]):
        assert again.predict_proba_one(x) == model.predict_proba_one(x)


@pytest.mark.parametrize("kinds", [[True, False], [3, 1, 2], ["x", "y"], [np.bool_(True), np.bool_(False)]], ids=repr)
def test_classes_come_back_as_they_came(kinds):
    model = RiverSingleLabelClassifier()
    assert model.predict_one({"a": 1.0}) is None
    assert model.predict_proba_one({"a": 1.0}) == {}
    for i in range(30):
        model.learn_one({"a": float(i % len(kinds))}, kinds[i % len(kinds)])
    assert list(model.predict_proba_one({"a": 0.0})) == kinds
    assert [model.predict_one({"a": float(i)}) for i in range(len(kinds))] == kinds


def test_a_missing_class_adds_none():
    model = RiverSingleLabelClassifier()
    for kind in [None, float("nan")]:
        model.learn_one({"a": 1.0}, kind)
        assert model.predict_proba_one({"a": 1.0}) == {}
    model.learn_one({"a": 1.0}, "on")
    model.learn_one({"a": 1.0}, None)
    assert list(model.predict_proba_one({"a": 1.0})) == ["on"]


@pytest.mark.parametrize(
    ("wrong", "error", "words"),
    [
        ({"a": True}, DataTypeError, "the class is a dict; .* RiverEvolvingFuzzyClassifier"),
        (("x", "y"), DataTypeError, "the class is a tuple"),
        (0.5, DataError, "fractions"),
        (3, DataError, "mixes kinds"),
    ],
)
def test_what_is_no_class_is_one_clear_error_and_changes_nothing(wrong, error, words):
    model = RiverSingleLabelClassifier()
    model.learn_one({"a": 1.0}, "on")
    before = pickle.dumps(model)
    with pytest.raises(error, match=words):
        model.learn_one({"a": 2.0}, wrong)
    assert pickle.dumps(model) == before


def test_the_multi_label_class_names_the_one_for_single_labels():
    with pytest.raises(DataTypeError, match=r"are of type bool; .* RiverSingleLabelClassifier"):
        RiverEvolvingFuzzyClassifier().learn_one({"a": 1.0}, True)


MULTI = metrics.multioutput
MULTI_LABEL = {
    "micro": lambda: MULTI.MicroAverage(metrics.F1()),
    "macro": lambda: MULTI.MacroAverage(metrics.Accuracy()),
    "per output": lambda: MULTI.PerOutput(metrics.F1()),
    "samples": lambda: MULTI.SampleAverage(metrics.Jaccard()),
    "exact": lambda: MULTI.ExactMatch(),
    "log loss": lambda: MULTI.MicroAverage(metrics.LogLoss()),
    "ROC": lambda: MULTI.MicroAverage(metrics.ROCAUC()),
}


@pytest.mark.parametrize("name", MULTI_LABEL)
def test_a_label_that_appears_in_mid_stream_breaks_no_metric(name, stream):
    X, Y = stream
    labels = [{"on": bool(y[0]), "hot": bool(y[1])} | ({"late": True} if i > 60 else {}) for i, y in enumerate(Y)]
    rows = list(zip(samples(X), labels, strict=True))
    model = RiverEvolvingFuzzyClassifier(**SETTINGS)
    metric = evaluate.progressive_val_score(rows, model, MULTI_LABEL[name]())
    if name == "per output":
        assert metric.get()["late"].cm.n_samples == len(rows) - 61
    else:
        assert 0.0 < metric.get() <= 1.0
    assert "late" in model.predict_one(rows[0][0])


def test_a_label_that_was_never_seen_is_off_with_even_chances():
    model = RiverEvolvingFuzzyClassifier()
    model.learn_one({"a": 1.0}, {"on": True})
    answer, chances = model.predict_one({"a": 1.0}), model.predict_proba_one({"a": 1.0})
    assert answer["late"] is False
    assert chances["late"] == {False: 0.5, True: 0.5}
    assert set(answer) == set(chances) == {"on"}  # looking a name up adds none


@pytest.mark.parametrize(
    "metric",
    [metrics.Accuracy, metrics.MacroF1, metrics.CohenKappa, metrics.CrossEntropy, metrics.LogLoss, metrics.ROCAUC],
)
def test_a_class_that_appears_in_mid_stream_breaks_no_metric(metric, classes):
    X, kinds = classes
    if metric in (metrics.LogLoss, metrics.ROCAUC):  # of two classes, the second of which comes late
        kinds = [kind == "late" for kind in kinds]
    stream = list(zip(samples(X), kinds, strict=True))
    value = evaluate.progressive_val_score(stream, RiverSingleLabelClassifier(**SETTINGS), metric()).get()
    assert np.isfinite(value)
    assert value != 0.0
