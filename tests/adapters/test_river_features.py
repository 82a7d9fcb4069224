"""Features in dictionaries: they appear, vanish, wait until they can be scaled, and may be text."""

import pickle

import numpy as np
import pandas as pd
import pytest
from choices import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from river import compose, preprocessing

from evolabel import EvolvingFuzzyClassifier
from evolabel.adapters.dictionaries import (
    MAX_CATEGORIES,
    MAX_TEXT_FEATURES,
    MAX_WAITING_FEATURES,
    FeatureColumns,
    WaitingFeatures,
)
from evolabel.adapters.river import RiverEvolvingFuzzyClassifier
from evolabel.core.rows import Rows

PARAMETERS = {"warm_up": 40, "max_rules": 6}
NEEDED = 20


def named(row, names="abcd"):
    return {name: value for name, value in zip(names, row, strict=True) if value == value}


def sampled(rows, seed=0):
    """Three features; "on" depends on b alone, "up" by a and c."""
    rng = np.random.default_rng(seed)
    for a, b, c in rng.normal(size=(rows, 3)).tolist():
        yield {"a": a, "b": b, "c": c}, {"on": b > 0.0, "up": a + c > 0.0}


def without(x, *names):
    return {name: value for name, value in x.items() if name not in names}


def share_right(model, label, change=dict, rows=200):
    """How often the model is right about fresh samples."""
    return np.mean([model.predict_one(change(x))[label] == y[label] for x, y in sampled(rows, seed=99)])


@pytest.fixture
def model():
    """A model that has never seen b."""
    model = RiverEvolvingFuzzyClassifier(**PARAMETERS)
    for x, y in sampled(60):
        model.learn_one(without(x, "b"), y)
    return model


def test_a_feature_that_appears_during_the_warm_up_was_missing_before(stream, state_of, assert_same_state):
    X, Y = (array.copy() for array in stream)
    X[:15, 2] = X[70:, 0] = np.nan
    model, clf = RiverEvolvingFuzzyClassifier(**PARAMETERS), EvolvingFuzzyClassifier(**PARAMETERS)
    for row, labels in zip(X, Y, strict=True):
        model.learn_one(named(row), named(labels, "xyz"))
    order = [0, 1, 3, 2]
    assert list(model.estimator.feature_names_in_) == list("abdc")
    clf.partial_fit(np.ascontiguousarray(X[:, order]), Y)
    assert_same_state(state_of(model.estimator), {**state_of(clf), "names": list("xyz")})


def test_a_later_feature_counts_as_missing_until_it_has_shown_enough(model):
    twin = pickle.loads(pickle.dumps(model))
    for i, (x, y) in enumerate(sampled(NEEDED + 5, seed=1)):
        assert (model.predict_one(x) == twin.predict_one(x)) or i >= NEEDED
        model.learn_one(x, y)
        twin.learn_one(without(x, "b"), y)
        assert ("b" in model.estimator.feature_names_in_) == (i >= NEEDED - 1)
        if i < NEEDED - 1:
            assert model.predict_proba_one(x) == twin.predict_proba_one(x)
    assert model.predict_proba_one(x) != twin.predict_proba_one(x)


def test_a_later_feature_is_learned_and_may_vanish_again(model):
    assert share_right(model, "on") < 0.65
    for x, y in sampled(300, seed=2):
        model.learn_one(x, y)
    assert share_right(model, "on") > 0.9
    assert share_right(model, "on", lambda x: without(x, "b")) < 0.65
    assert share_right(model, "up", lambda x: without(x, "b")) > 0.85
    for x, y in sampled(100, seed=3):
        model.learn_one(without(x, "b"), y)
    assert share_right(model, "on") > 0.9


@pytest.mark.parametrize("parameters", [{}, {"scaling": "none"}, {"follow_drift": False}])
def test_features_come_to_every_kind_of_model(parameters):
    model = RiverEvolvingFuzzyClassifier(**{**PARAMETERS, **parameters})
    for i, (x, y) in enumerate(sampled(260)):
        model.learn_one(x if i > 60 else without(x, "b"), y)
    assert share_right(model, "on") > 0.8


@pytest.mark.parametrize("seldom", [0, 5, NEEDED - 1])
def test_a_feature_shown_too_seldom_during_the_warm_up_waits_on(seldom):
    model = RiverEvolvingFuzzyClassifier(**PARAMETERS)
    for i, (x, y) in enumerate(sampled(40)):
        model.learn_one(x if i < seldom else without(x, "b"), y)
        assert ("b" in model.estimator.feature_names_in_) == (seldom > 0 and i < 39)
    for i, (x, y) in enumerate(sampled(NEEDED, seed=4)):
        model.learn_one(x, y)
        assert ("b" in model.estimator.feature_names_in_) == (i >= NEEDED - seldom - 1)


def test_a_feature_that_is_constant_at_first_is_learned_once_it_varies():
    model = RiverEvolvingFuzzyClassifier(**PARAMETERS)
    for x, y in sampled(100):
        model.learn_one({**x, "b": 0}, y)
    assert list(model.estimator.feature_names_in_) == ["a", "c"]
    for x, y in sampled(300, seed=5):
        model.learn_one({**x, "b": int(x["b"] > 0.0)}, y)
    assert share_right(model, "on", lambda x: {**x, "b": x["b"] > 0.0}) > 0.95


def test_a_machine_that_idles_through_its_warm_up_is_learned_once_it_runs():
    model = RiverEvolvingFuzzyClassifier(**PARAMETERS)
    for _ in range(200):
        model.learn_one({"speed": 0.0, "temp": 20.0}, {"hot": False})
    rows = np.random.default_rng(0).normal(size=(500, 2)).tolist()
    for speed, above in rows[:300]:
        model.learn_one({"speed": speed, "temp": 20.0 + above}, {"hot": speed + above > 0.0})
    answers = [model.predict_one({"speed": speed, "temp": 20.0 + above})["hot"] for speed, above in rows[300:]]
    assert np.mean([answer == (sum(row) > 0.0) for answer, row in zip(answers, rows[300:], strict=True)]) > 0.9


def test_features_stay_if_none_has_shown_enough():
    model = RiverEvolvingFuzzyClassifier(**PARAMETERS)
    for i, (x, y) in enumerate(sampled(60)):
        model.learn_one({"abc"[i % 3]: x["abc"[i % 3]]}, y)
    assert sorted(model.estimator.feature_names_in_) == ["a", "b", "c"]
    assert model.estimator.n_rules_ > 0


def test_a_sample_of_unknown_features_is_answered_like_the_mean_and_teaches_nothing(model):
    state = pickle.dumps(model.estimator)
    inner = model.estimator.inner.any_model
    rows = Rows(np.full((1, inner.n_features), np.nan))
    rows.Z = inner.rules.arrays.c[:1].copy()
    inner.rules.answer(rows)
    inner.drift.answer(rows)
    mean = inner.calibration.probabilities(rows.outputs)[0]
    for x in ({}, {"b": 1.0}, {"a": None}, {"a": float("nan"), "text": "red"}):
        assert [share[True] for share in model.predict_proba_one(x).values()] == mean.tolist()
        model.learn_one(x, {"on": True})
        assert pickle.dumps(model.estimator) == state


def test_all_features_may_be_replaced_by_others(model):
    for x, y in sampled(400, seed=6):
        model.learn_one({"new a": x["a"], "new b": x["b"], "new c": x["c"]}, y)
    assert share_right(model, "on", lambda x: {f"new {name}": value for name, value in x.items()}) > 0.85


def coloured(x, colours=("red", "green")):
    return {"a": x["a"], "c": x["c"], "colour": colours[int(x["b"] > 0.0)]}


def test_text_is_a_category():
    model = RiverEvolvingFuzzyClassifier(**PARAMETERS)
    for x, y in sampled(150):
        model.learn_one(coloured(x), y)
    assert share_right(model, "on", coloured) > 0.95
    assert {"colour=red", "colour=green"} < set(model.estimator.feature_names_in_)
    for x, y in sampled(150, seed=7):
        model.learn_one(coloured(x, ("red", "blue")), y)
    assert share_right(model, "on", lambda x: coloured(x, ("red", "blue"))) > 0.95
    assert "colour=blue" in model.estimator.feature_names_in_
    assert model.predict_proba_one({"a": 0.0, "colour": "never seen"}).keys() == {"on", "up"}


def test_river_s_encoder_does_as_well():
    encoder = compose.SelectType(str) | preprocessing.OneHotEncoder()
    model = (encoder + compose.SelectType(float)) | RiverEvolvingFuzzyClassifier(**PARAMETERS)
    for x, y in sampled(200):
        model.learn_one(coloured(x), y)
    assert share_right(model, "on", coloured) > 0.95


def test_numbers_may_be_written_as_text(stream):
    models = [RiverEvolvingFuzzyClassifier(**PARAMETERS) for _ in range(2)]
    for row, labels in zip(*stream, strict=True):
        x, y = named(row.tolist()), named(labels.tolist(), "xyz")
        models[0].learn_one(x, y)
        models[1].learn_one({name: str(value) for name, value in x.items()} | {"e": " "}, y | {"w": ""})
    assert models[0].predict_proba_one(x) == models[1].predict_proba_one({name: str(x[name]) for name in x})
    assert models[1].predict_one(x).keys() == set("xyz")


def test_names_that_never_repeat_do_not_fill_the_model():
    model = RiverEvolvingFuzzyClassifier(**PARAMETERS)
    for i, (x, y) in enumerate(sampled(200)):
        model.learn_one({**x, "id": f"customer {i}"}, y)
    assert len(model.estimator.feature_names_in_) <= 3 + MAX_CATEGORIES
    assert share_right(model, "on") > 0.85


def test_names_that_wait_are_forgotten_the_longest_unseen_first(model):
    for i in range(MAX_WAITING_FEATURES + 100):
        x = {"a": 1.0, f"word {i}": 1.0, **({"rare": 1.0} if i % 300 == 0 else {})}
        model.learn_one(x, {"on": True})
    waiting = list(model._waiting.shown)
    assert len(waiting) == MAX_WAITING_FEATURES
    assert "rare" in waiting
    assert waiting[-1] == f"word {MAX_WAITING_FEATURES + 99}"
    assert "word 0" not in waiting


@pytest.mark.parametrize("nothing", [None, float("nan"), pd.NA, pd.NaT, " "])
def test_whatever_means_missing_is_missing(model, nothing):
    expected = model.predict_proba_one({"c": 1.0})
    assert model.predict_proba_one({"a": nothing, "c": 1.0, "colour": nothing}) == expected
    model.learn_one({"a": nothing, "c": 1.0}, {"on": nothing, "up": True})


def test_text_under_names_that_never_repeat_is_not_kept_for_ever():
    columns = FeatureColumns().read({"colour": "red"})[1]
    for i in range(MAX_TEXT_FEATURES + 5):
        columns = columns.read({f"note {i}": "any"})[1].only([0])
    assert len(columns.categories) == MAX_TEXT_FEATURES
    assert columns.read({"colour": "blue"})[1].categories["colour"] == ["red", "blue"]


def test_categories_are_not_copied_where_there_is_none_new():
    columns = FeatureColumns().read({"colour": "red"})[1]
    assert columns.read({"colour": "red", "new": 1.0})[1].categories is columns.categories


NAMES = st.sampled_from(["a", "b", 3, ("c",)])
NUMBERS = st.none() | st.booleans() | st.integers(-5, 5) | st.floats(-1e3, 1e3)


@given(st.lists(st.dictionaries(NAMES, NUMBERS), max_size=8))
def test_columns_stand_in_the_order_of_their_first_values(samples):
    columns, order = FeatureColumns(), []
    for sample in samples:
        order += [name for name, value in sample.items() if name not in order and value is not None]
        before = list(columns.names)
        row, wider = columns.read(sample)
        assert columns.names == before
        columns = wider
        assert columns.names == order
        expected = [np.nan if sample.get(name) is None else float(sample[name]) for name in order]
        np.testing.assert_array_equal(row, [expected])
        np.testing.assert_array_equal(columns.read(sample)[0], row)


@given(st.lists(st.dictionaries(NAMES, st.sampled_from(["red", "green", "1.5", " "]) | NUMBERS), max_size=8))
def test_a_category_is_one_among_those_known(samples):
    columns, known = FeatureColumns(), {}
    for sample in samples:
        row, columns = columns.read(sample)
        numbers = dict(zip(columns.names, row[0].tolist(), strict=True))
        for name, value in sample.items():
            if value in ("red", "green"):
                known.setdefault(name, [])
                known[name] += [value] * (value not in known[name])
                assert [numbers[f"{name}={one}"] for one in known[name]] == [one == value for one in known[name]]
                assert np.isnan(numbers.get(name, np.nan))
            elif value in (None, " "):
                assert np.isnan(numbers.get(name, np.nan))
            else:
                assert numbers[name] == float(value)
    assert columns.categories == known


@given(st.lists(st.floats(-2.0, 2.0) | st.sampled_from([0.0, 0.0, float("nan")]), max_size=30), st.integers(1, 8))
@settings(max_examples=examples(200))
def test_a_feature_that_waits_is_ready_when_it_has_shown_enough_and_varies(values, needed):
    waiting, shown = WaitingFeatures(), []
    for value in values:
        shown += [value] if value == value else []
        ready = waiting.add("a", [value], needed)
        kept = waiting.shown["a"]
        assert ready == (len(kept) >= needed and min(kept) < max(kept))
        assert len(kept) <= max(needed, 2)
        assert kept == shown[len(shown) - len(kept) :]
        if len(shown) < needed:
            assert kept == shown
        if ready:
            return
