"""Frames with columns of texts and categories: one-hot inside, raw columns outside, read by name."""

import pickle
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.model_selection import KFold, cross_val_predict

from evolabel import EvolvingFuzzyClassifier
from evolabel.errors import DataError, DataWarning, ModelFileError
from evolabel.persistence.model_file import read_model_file, write_model_file

LABELS = ["leak", "bearing"]


def plant(n=160, seed=3):
    """Columns of a plant: two sensors, two columns of texts, labels that depend on both kinds."""
    rng = np.random.default_rng(seed)
    heat, shift = rng.uniform(20, 95, n), rng.choice(["early", "late", "night"], n)
    machine = rng.choice(["M-1", "M-2", "M-3", "M-4"], n)
    columns = {"heat": heat, "shift": shift.tolist(), "rpm": rng.integers(900, 1500, n), "machine": machine.tolist()}
    return columns, np.column_stack([heat > 60, (shift == "late") & (heat > 30)]).astype(float)


def pandas_frame(columns):
    return pd.DataFrame(columns).astype({"machine": "category"})


def polars_frame(columns):
    return pl.DataFrame(columns).with_columns(pl.col("machine").cast(pl.Categorical))


@pytest.fixture(params=[pandas_frame, polars_frame], ids=["pandas", "polars"])
def frame(request):
    return request.param


def first_rows(columns, n):
    return {name: values[:n] for name, values in columns.items()}


def last_rows(columns, n):
    return {name: values[n:] for name, values in columns.items()}


def encoded(columns):
    """The features as a naive reader makes them."""
    shifts, machines = ("early", "late", "night"), ("M-1", "M-2", "M-3", "M-4")
    by_text = [[float(value == text) for value in columns["shift"]] for text in shifts]
    by_machine = [[float(value == text) for value in columns["machine"]] for text in machines]
    return np.column_stack([columns["heat"], *by_text, columns["rpm"], *by_machine])


@pytest.fixture
def trained(frame):
    columns, Y = plant()
    return EvolvingFuzzyClassifier(max_rules=4).fit(frame(columns), pd.DataFrame(Y, columns=LABELS))


def test_raw_columns_are_the_features_in_and_texts_are_one_hot_inside(trained, frame):
    columns, Y = plant()
    assert trained.feature_names_in_.tolist() == ["heat", "shift", "rpm", "machine"]
    assert trained.n_features_in_ == 4
    plain = EvolvingFuzzyClassifier(max_rules=4).fit(encoded(columns), Y)
    more, _ = plant(40, seed=4)
    assert np.array_equal(trained.decision_function(frame(more)), plain.decision_function(encoded(more)))


def test_partial_fit_and_test_then_train_take_such_frames(trained, frame):
    columns, Y = plant()
    plain = EvolvingFuzzyClassifier(max_rules=4).fit(encoded(columns), Y)
    more, Z = plant(60, seed=5)
    assert np.array_equal(
        trained.test_then_train(frame(first_rows(more, 30)), Z[:30]),
        plain.test_then_train(encoded(first_rows(more, 30)), Z[:30]),
    )
    trained.partial_fit(frame(last_rows(more, 30)), Z[30:])
    plain.partial_fit(encoded(last_rows(more, 30)), Z[30:])
    assert np.array_equal(trained.decision_function(frame(columns)), plain.decision_function(encoded(columns)))


def test_a_stream_may_begin_with_such_a_frame(frame):
    columns, Y = plant()
    stream = EvolvingFuzzyClassifier(max_rules=4).partial_fit(frame(columns), Y)
    plain = EvolvingFuzzyClassifier(max_rules=4).partial_fit(encoded(columns), Y)
    assert np.array_equal(stream.predict_proba(frame(columns)), plain.predict_proba(encoded(columns)))


def test_one_row_is_read_like_many(trained, frame):
    table = frame(plant(30, seed=6)[0])
    many = trained.decision_function(table)
    by_row = [trained.decision_function(table[row : row + 1]) for row in range(30)]
    assert np.allclose(np.vstack(by_row), many, rtol=0, atol=1e-12)


@pytest.mark.parametrize("n_more", [16, 17])
def test_one_row_of_few_or_many_columns_is_read_like_many(frame, n_more):
    columns, Y = plant(40)
    columns |= {f"s{j}": np.random.default_rng(j).normal(size=40) for j in range(n_more)}
    clf, table = EvolvingFuzzyClassifier(max_rules=3).fit(frame(columns), Y), frame(columns)
    by_row = [clf.decision_function(table[row : row + 1]) for row in range(40)]
    assert np.allclose(np.vstack(by_row), clf.decision_function(table), rtol=0, atol=1e-12)


def test_one_row_of_pandas_is_read_by_its_names_whatever_came_before():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"heat": rng.normal(size=40), "load": rng.normal(size=40), "mode": ["a", "b"] * 20})
    Y = (frame[["heat"]] > 0).astype(float)
    one, other = (EvolvingFuzzyClassifier(max_rules=3).fit(f, Y) for f in (frame, frame[["load", "heat", "mode"]]))
    renamed = frame.rename(columns={"heat": "load", "load": "heat"})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        for i in range(3):
            for f in (frame, renamed):
                for clf in (one, other, one):
                    row = f[i : i + 1]
                    np.testing.assert_allclose(clf.decision_function(row)[0], clf.decision_function(f)[i], rtol=1e-9)


@pytest.mark.parametrize("n", [1, 3])
def test_missing_texts_and_numbers_are_missing_features(trained, frame, n):
    columns = plant(n, seed=7)[0]
    columns["shift"][0], columns["heat"] = None, [None, *columns["heat"][1:].tolist()]
    expected = encoded({**columns, "heat": np.array(columns["heat"], dtype=float)})
    expected[0, 1:4] = np.nan
    plain = EvolvingFuzzyClassifier(max_rules=4).fit(encoded(plant()[0]), plant()[1])
    assert np.array_equal(trained.decision_function(frame(columns)), plain.decision_function(expected))


def test_another_order_and_more_columns_are_taken_by_name_with_a_note(trained, frame):
    columns = plant(20, seed=8)[0]
    known = trained.decision_function(frame(columns))
    turned = {name: columns[name] for name in ["machine", "heat", "rpm", "shift"]}
    with pytest.warns(DataWarning, match="another order"):
        assert np.array_equal(trained.decision_function(frame(turned)), known)
    times = pd.date_range("2026-01-01", periods=20).to_list()  # of a kind that could not be a feature
    with pytest.warns(DataWarning, match="does not use: time") as told:
        assert np.array_equal(trained.decision_function(frame({"time": times, **columns})), known)
    assert told[0].filename == __file__


def test_a_numeric_frame_is_taken_by_name_too():
    X, Y = encoded(plant()[0])[:, [0, 4]], plant()[1]
    clf = EvolvingFuzzyClassifier(max_rules=4).fit(pd.DataFrame(X, columns=["heat", "rpm"]), Y)
    turned = pd.DataFrame(X[:, ::-1], columns=["rpm", "heat"])
    with pytest.warns(DataWarning, match="another order"):
        assert np.array_equal(clf.predict(turned), clf.predict(pd.DataFrame(X, columns=["heat", "rpm"])))


def test_a_missing_column_is_one_clear_error(trained, frame, state_of, assert_same_state):
    columns, Y = plant(5)
    before = state_of(trained)
    short = pd.DataFrame({name: columns[name] for name in ("heat", "rpm")})
    for call in (trained.predict, trained.explain, lambda X: trained.partial_fit(X, Y)):
        with pytest.raises(DataError, match="X has no column for shift, machine; the model needs heat, shift, rpm"):
            call(short)
    assert_same_state(state_of(trained), before)


@pytest.mark.parametrize("n", [1, 5])
def test_a_text_never_seen_is_reported_and_is_none_of_the_known(trained, frame, n):
    columns = plant(n, seed=9)[0]
    columns["machine"] = ["M-99", *columns["machine"][1:]]
    with pytest.warns(DataWarning, match=r"machine = M-99 was never seen \(1 row, the first is row 0\)"):
        outputs = trained.decision_function(frame(columns))
    plain = EvolvingFuzzyClassifier(max_rules=4).fit(encoded(plant()[0]), plant()[1])
    assert np.array_equal(outputs, plain.decision_function(encoded(columns)))


def test_a_condition_names_the_text_once(frame):
    columns, Y = plant()
    rules_alone = EvolvingFuzzyClassifier(max_rules=4, threshold_rules=False)
    rules = rules_alone.fit(frame(columns), pd.DataFrame(Y, columns=LABELS)).rules_
    words = "\n".join(rule.text for rule in rules)
    assert "shift is" in words
    assert "shift=" not in words


def test_the_coding_is_saved_and_kept_by_pickle_and_clone(trained, frame, tmp_path):
    columns, Y = plant(40, seed=10)
    known = trained.decision_function(frame(columns))
    trained.save(tmp_path / "m.safetensors")
    loaded = EvolvingFuzzyClassifier.load(tmp_path / "m.safetensors")
    for twin in (loaded, pickle.loads(pickle.dumps(trained))):
        assert twin.feature_names_in_.tolist() == ["heat", "shift", "rpm", "machine"]
        assert np.array_equal(twin.decision_function(frame(columns)), known)
    assert np.array_equal(clone(trained).fit(frame(columns), Y).n_features_in_, 4)


def test_cross_validation_of_scikit_learn_takes_texts():
    columns, Y = plant()
    found = cross_val_predict(EvolvingFuzzyClassifier(max_rules=4), pandas_frame(columns), Y, cv=KFold(3))
    assert np.mean(found == Y) > 0.8


@pytest.mark.parametrize(
    "categories",
    [
        [None, ["early", "late"], None, ["M-1", "M-2", "M-3", "M-4"]],
        [None, ["late", "late", "early"], None, ["M-1", "M-2", "M-3", "M-4"]],
        [None, "abc", None, ["M-1", "M-2", "M-3", "M-4"]],
        [None, ["a", "b", 3], None, ["M-1", "M-2", "M-3", "M-4"]],
        [None] * 4,
    ],
)
def test_a_file_with_another_coding_is_refused(trained, tmp_path, categories):
    trained.save(tmp_path / "m.safetensors")
    arrays, manifest = read_model_file(tmp_path / "m.safetensors")
    manifest["columns"]["categories"] = categories
    write_model_file(tmp_path / "m.safetensors", arrays, manifest)
    with pytest.raises(ModelFileError, match="categories"):
        EvolvingFuzzyClassifier.load(tmp_path / "m.safetensors")


def test_classifiers_of_the_same_coding_are_merged_others_are_not(trained, frame):
    columns, Y = plant(60, seed=11)
    other = trained.sibling().partial_fit(frame(columns), Y)
    assert trained.merge(other).n_samples_seen_ == 220
    fewer = {**columns, "machine": ["M-1", "M-2"] * 30}
    with pytest.raises(DataError, match="different features"):
        trained.merge(EvolvingFuzzyClassifier(max_rules=4).fit(frame(fewer), Y))


def test_a_row_of_a_frame_is_explained_in_raw_columns():
    columns, Y = plant()
    table = pandas_frame(columns)
    clf = EvolvingFuzzyClassifier(max_rules=4).fit(table, Y)
    assert clf.explain(table.iloc[3]).text == clf.explain(table[3:4]).text
    assert "shift is" in clf.explain(table.iloc[3]).text


def test_a_model_named_after_training_on_arrays_reads_frames(frame):
    columns, Y = plant()
    clf = EvolvingFuzzyClassifier(max_rules=4).fit(encoded(columns), Y)
    known = clf.decision_function(encoded(columns))
    names = ["heat", *(f"shift={s}" for s in ("early", "late", "night"))]
    names += ["rpm", *(f"machine=M-{m}" for m in (1, 2, 3, 4))]
    clf.name_columns(names, LABELS)
    assert clf.feature_names_in_.tolist() == ["heat", "shift", "rpm", "machine"]
    assert np.array_equal(clf.decision_function(frame(columns)), known)


def test_an_array_of_another_width_is_refused_in_one_line(trained):
    with pytest.raises(DataError, match=r"X has 4 columns, the model has 4, some of texts .* become 9 features"):
        trained.predict(np.zeros((2, 4)))


def test_a_numeric_text_column_may_have_one_text_only(frame):
    columns, Y = plant(60)
    columns["shift"] = ["late"] * 60
    clf = EvolvingFuzzyClassifier(max_rules=4).fit(frame(columns), Y)
    assert clf.predict(frame(columns)).shape == (60, 2)


def test_a_frame_with_coded_columns_is_read_as_it_is(trained, frame):
    columns, names = plant()[0], trained.inner.columns.feature_names
    coded = pd.DataFrame(encoded(columns), columns=names)
    assert np.array_equal(trained.decision_function(coded), trained.decision_function(frame(columns)))


def test_one_sample_that_is_no_table_is_refused_with_the_way_to_pass_it(stream):
    X, Y = stream
    frame = pd.DataFrame(X, columns=list("abcd"))
    clf = EvolvingFuzzyClassifier().fit(frame, Y)
    with pytest.raises(DataError, match=r"X is a dictionary; pass a table .* pd.DataFrame\(\[sample\]\)"):
        clf.predict(dict(frame.iloc[0]))
    with pytest.raises(DataError, match=r"Reshape your data: pass frame.iloc\[\[i\]\] for one row"):
        clf.predict(frame.iloc[0])


def test_numbers_stored_as_texts_are_reported_unless_they_are_declared_categories(stream):
    X, Y = stream
    frame = pd.DataFrame({"heat": X[:, 0], "speed": [f"{value:.0f}" for value in X[:, 1]]})
    with pytest.warns(DataWarning, match="column 'speed' has numbers stored as texts"):
        EvolvingFuzzyClassifier().fit(frame, Y)
    EvolvingFuzzyClassifier().fit(frame.astype({"speed": "category"}), Y)
