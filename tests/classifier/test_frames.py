"""pandas and polars frames: names are learned, checked and used."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

from evolabel import EvolvingFuzzyClassifier
from evolabel.errors import DataError, DataTypeError

FEATURES = ["heat", "flow", "load", "age"]
LABELS = ["rain", "snow", "wind"]


def pandas_frame(values, names):
    return pd.DataFrame(np.asarray(values), columns=names)


def polars_frame(values, names):
    return pl.DataFrame(np.asarray(values), schema=names)


@pytest.fixture(params=[pandas_frame, polars_frame], ids=["pandas", "polars"])
def frame(request):
    return request.param


@pytest.fixture
def clf(frame, stream):
    X, Y = stream
    return EvolvingFuzzyClassifier(max_rules=4).fit(frame(X[:60], FEATURES), frame(Y[:60], LABELS))


@pytest.fixture
def plain(stream):
    return EvolvingFuzzyClassifier(max_rules=4).fit(stream[0][:60], stream[1][:60])


def test_names_come_from_the_columns(clf):
    assert clf.feature_names_in_.tolist() == FEATURES
    assert clf.label_names_.tolist() == LABELS
    assert clf.n_features_in_ == 4


def test_frames_teach_the_same_bits_as_arrays(clf, plain, frame, stream):
    X, Y = stream
    clf.partial_fit(frame(X[60:], FEATURES), frame(Y[60:], LABELS))
    plain.partial_fit(X[60:], Y[60:])
    assert np.array_equal(clf.decision_function(frame(X, FEATURES)), plain.decision_function(X))


def test_label_columns_may_come_in_another_order(clf, plain, frame, stream, state_of, assert_same_state):
    X, Y = stream
    clf.partial_fit(frame(X[60:], FEATURES), frame(Y[60:][:, [2, 0, 1]], ["wind", "rain", "snow"]))
    plain.partial_fit(X[60:], Y[60:])
    assert clf.label_names_.tolist() == LABELS
    assert_same_state(state_of(clf) | {"names": None}, state_of(plain) | {"names": None})


def test_a_label_column_left_out_is_not_annotated(clf, plain, frame, stream, state_of, assert_same_state):
    X, Y = stream
    clf.partial_fit(frame(X[60:], FEATURES), frame(Y[60:, [1]], ["snow"]))
    plain.partial_fit(X[60:], np.where([False, True, False], Y[60:], np.nan))
    assert_same_state(state_of(clf) | {"names": None}, state_of(plain) | {"names": None})


def test_a_new_label_column_mid_stream_makes_the_model_grow(clf, plain, frame, stream, state_of, assert_same_state):
    X, Y = stream
    wider = np.column_stack([Y[60:, 0], Y[60:]])
    clf.partial_fit(frame(X[60:], FEATURES), frame(wider, ["hail", *LABELS]))
    plain.partial_fit(X[60:], wider[:, [1, 2, 3, 0]])
    assert clf.label_names_.tolist() == [*LABELS, "hail"]
    assert clf.predict(frame(X, FEATURES)).shape == (len(X), 4)
    assert_same_state(state_of(clf) | {"names": None}, state_of(plain) | {"names": None})


def test_a_wider_array_names_its_new_labels_by_position(plain, stream):
    X, Y = stream
    plain.partial_fit(X[60:], np.column_stack([Y[60:], Y[60:, 0]]))
    assert plain.label_names_.tolist() == ["label0", "label1", "label2", "label3"]


def test_nulls_are_missing_features_and_labels(frame, stream, state_of, assert_same_state):
    X, Y = stream[0][:60].copy(), stream[1][:60].copy()
    X[::7, 1] = np.nan
    Y[::5, 2] = np.nan
    if frame is pandas_frame:
        frames = frame(X, FEATURES).astype("Float64"), frame(Y, LABELS).astype("Int64")
    else:
        frames = frame(X, FEATURES).fill_nan(None), frame(Y, LABELS).fill_nan(None).cast(pl.Boolean)
    clf = EvolvingFuzzyClassifier(max_rules=4).fit(*frames)
    plain = EvolvingFuzzyClassifier(max_rules=4).fit(X, Y)
    assert_same_state(state_of(clf) | {"names": None}, state_of(plain) | {"names": None})


def test_pandas_own_null_is_missing_in_columns_of_mixed_kinds(stream, state_of, assert_same_state):
    X, Y = stream[0].copy(), stream[1].copy()
    X[5, 0], Y[7, 1] = np.nan, np.nan
    features = pandas_frame(X, FEATURES).astype({"heat": "Float64"}).astype({"flow": object})
    labels = pandas_frame(Y, LABELS).astype({"rain": bool, "snow": "boolean"})
    assert features["heat"].isna()[5]
    assert labels["snow"].isna()[7]
    named = EvolvingFuzzyClassifier(max_rules=4).fit(features, labels)
    plain = EvolvingFuzzyClassifier(max_rules=4).fit(X, Y)
    assert_same_state(state_of(named) | {"names": None}, state_of(plain) | {"names": None})


def test_a_series_is_a_target_of_classes(frame, blobs):
    X, y = blobs
    names = np.array(["ash", "birch", "cedar"])[y].tolist()
    names[::6] = [None] * len(names[::6])
    series = pd.Series(names) if frame is pandas_frame else pl.Series(names)
    clf = EvolvingFuzzyClassifier(max_rules=4).fit(frame(X, FEATURES[:3]), series)
    assert clf.classes_.tolist() == ["ash", "birch", "cedar"]


def test_a_pandas_series_of_objects_may_hold_its_own_null(blobs):
    series = pd.Series(["ash", "birch", pd.NA] * 10, dtype=object)
    assert EvolvingFuzzyClassifier().fit(blobs[0][:30], series).classes_.tolist() == ["ash", "birch"]


@pytest.mark.parametrize("names", [["heat", "flow", "load", "size"], FEATURES[:3]])
def test_wrong_feature_names_are_refused_in_one_line(clf, frame, stream, names, state_of, assert_same_state):
    X, Y = stream
    before = state_of(clf)
    for call in (clf.predict, lambda rows: clf.partial_fit(rows, frame(Y[:5], LABELS))):
        with pytest.raises(DataError) as error:
            call(frame(X[:5, : len(names)], names))
        assert "\n" not in str(error.value).strip()
    assert_same_state(state_of(clf), before)


def test_names_of_mixed_kinds_are_refused(stream):
    X, Y = stream
    with pytest.raises(DataTypeError, match="string names"):
        EvolvingFuzzyClassifier().fit(pd.DataFrame(X, columns=[0, "flow", "load", "age"]), Y)


def test_two_labels_of_the_same_name_are_refused_in_one_line(stream):
    X, Y = stream
    with pytest.raises(DataError) as error:
        EvolvingFuzzyClassifier().fit(X, pd.DataFrame(Y, columns=["rain", "rain", "wind"]))
    assert "\n" not in str(error.value)


def test_text_in_a_frame_is_refused(clf, frame):
    with pytest.raises((DataError, DataTypeError), match="numbers only"):
        clf.predict(frame([["a", "b", "c", "d"]], FEATURES))


def test_a_second_fit_without_names_forgets_them(clf, stream):
    clf.fit(*stream)
    assert not hasattr(clf, "feature_names_in_")
    assert clf.label_names_.tolist() == ["label0", "label1", "label2"]
