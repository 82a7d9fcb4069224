"""Data frames of three libraries become the same data set, the one that a naive reading gives."""

import math
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evolabel.errors import DataError, DataTypeError, ParameterError
from evolabel.streams.tabular.frames import from_frame

LIBRARIES = {
    "pandas": lambda columns: pd.DataFrame({name: pd.Series(values) for name, values in columns.items()}),
    "pandas nullable": lambda columns: pd.DataFrame(columns).convert_dtypes(),
    "polars": pl.DataFrame,
    "pyarrow": pa.table,
}
each_library = pytest.mark.parametrize("build", LIBRARIES.values(), ids=LIBRARIES)

KINDS = st.sampled_from(
    [
        st.booleans(),
        st.integers(-1000, 1000),
        st.floats(-1e6, 1e6),
        st.sampled_from(["north", "south", "", "Süd west", "a=b"]),
    ]
)


@st.composite
def tables(draw):
    """Columns of one kind each, with some values missing but never all."""
    rows = draw(st.integers(1, 6))
    columns = {}
    for j in range(draw(st.integers(1, 4))):
        kind = draw(KINDS)
        values = draw(st.lists(st.none() | kind, min_size=rows, max_size=rows))
        values[draw(st.integers(0, rows - 1))] = draw(kind)
        columns[f"x{j}"] = values
    labels = st.lists(st.sampled_from([True, False, None]), min_size=rows - 1, max_size=rows - 1)
    columns["y"] = [True, *draw(labels)]
    return columns


def naive(columns):
    """Feature names and rows, cell by cell."""
    names, rows = [], [[] for _ in columns["y"]]
    for name, values in columns.items():
        if name == "y":
            continue
        texts = sorted({value for value in values if isinstance(value, str)})
        names += [f"{name}={text}" for text in texts] or [name]
        for row, value in zip(rows, values, strict=True):
            if value is None:
                row += [math.nan] * max(len(texts), 1)
            else:
                row += [float(value == text) for text in texts] or [float(value)]
    return tuple(names), rows


@each_library
@given(columns=tables())
def test_every_library_gives_what_a_naive_reading_gives(build, columns):
    dataset = from_frame(build(columns), ["y"])
    names, rows = naive(columns)
    assert dataset.feature_names == names
    np.testing.assert_array_equal(dataset.X, rows)
    np.testing.assert_array_equal(dataset.Y[:, 0], [math.nan if y is None else float(y) for y in columns["y"]])
    assert dataset.X.dtype == dataset.Y.dtype == np.float64


def test_labels_come_in_the_order_asked_for_and_the_rest_are_features():
    frame = pl.DataFrame({"b": [1, 0], "x": [2.0, 3.0], "a": [0, 1]})
    dataset = from_frame(frame, ["a", "b"], name="pond")
    assert (dataset.label_names, dataset.feature_names, dataset.name) == (("a", "b"), ("x",), "pond")
    np.testing.assert_array_equal(dataset.Y, [[0, 1], [1, 0]])


@pytest.mark.parametrize(("count", "labels"), [(1, ("a",)), (2, ("a", "b")), (-1, ("c",)), (np.int64(-1), ("c",))])
def test_labels_may_be_counted(count, labels):
    assert from_frame(pl.DataFrame({"a": [1], "b": [0], "c": [1]}), count).label_names == labels


def test_a_single_label_may_be_given_as_text():
    assert from_frame(pl.DataFrame({"x": [1], "newts": [0]}), "newts").label_names == ("newts",)


@pytest.mark.parametrize(
    "frame",
    [
        pl.DataFrame({"size": pl.Series(["big", None], dtype=pl.Enum(["small", "mid", "big"])), "y": [1, 0]}),
        pd.DataFrame({"size": pd.Categorical(["big", None], ["small", "mid", "big"], ordered=True), "y": [1, 0]}),
    ],
)
def test_declared_values_keep_their_order_even_if_unseen(frame):
    dataset = from_frame(frame, ["y"])
    assert dataset.feature_names == ("size=small", "size=mid", "size=big")
    np.testing.assert_array_equal(dataset.X, [[0, 0, 1], [np.nan] * 3])


def test_ordered_categories_need_not_be_texts():
    deep = pd.cut([0.5, 1.5, np.nan], [0, 1, 2, 3])
    size = pd.Categorical([3, None, 1], [1, 2, 3], ordered=True)
    dataset = from_frame(pd.DataFrame({"size": size, "deep": deep, "y": [1, 0, 1]}), ["y"])
    intervals = [f"deep=({low}, {low + 1}]" for low in range(3)]
    assert dataset.feature_names == ("size=1", "size=2", "size=3", *intervals)
    none = [np.nan] * 3
    np.testing.assert_array_equal(dataset.X, [[0, 0, 1, 1, 0, 0], [*none, 0, 1, 0], [1, 0, 0, *none]])


@pytest.mark.parametrize(
    "labels",
    [
        pd.Series(["Yes", "no", None], dtype=object),
        pd.Categorical(["TRUE", "False", None]),
        pd.Series(["1", "FALSE", None], dtype="string"),
        pl.Series(["true", "0", None]),
    ],
)
def test_labels_may_be_said_in_words(labels):
    build = pl.DataFrame if isinstance(labels, pl.Series) else pd.DataFrame
    np.testing.assert_array_equal(from_frame(build({"x": [1, 2, 3], "y": labels}), ["y"]).Y, [[1], [0], [np.nan]])


@pytest.mark.parametrize(
    "frame",
    [
        pl.DataFrame({"c": pl.Series(["b", "a"], dtype=pl.Categorical), "y": [1, 0]}),
        pd.DataFrame({"c": pd.Categorical(["b", "a"]), "y": [1, 0]}),
        pa.table({"c": pa.array(["b", "a"]).dictionary_encode(), "y": [1, 0]}),
    ],
)
def test_categories_become_one_column_each(frame):
    dataset = from_frame(frame, ["y"])
    assert dataset.feature_names == ("c=a", "c=b")
    np.testing.assert_array_equal(dataset.X, [[0, 1], [1, 0]])


def test_pandas_objects_that_are_numbers_are_read_as_numbers():
    frame = pd.DataFrame({"x": pd.Series([True, None, 2.5, float("nan"), pd.NA], dtype=object), "y": 1})
    np.testing.assert_array_equal(from_frame(frame, ["y"]).X[:, 0], [1, np.nan, 2.5, np.nan, np.nan])


@pytest.mark.parametrize("kind", [pl.Null, pl.String, pl.Float64, pl.Boolean, pl.Enum([])])
def test_a_column_without_any_value_is_missing_throughout(kind):
    frame = pl.DataFrame({"x": pl.Series([None, None], dtype=kind), "y": pl.Series([None, None], dtype=kind)})
    dataset = from_frame(frame, ["y"])
    np.testing.assert_array_equal(dataset.X, [[np.nan], [np.nan]])
    np.testing.assert_array_equal(dataset.Y, [[np.nan], [np.nan]])
    assert dataset.feature_names == ("x",)


def test_numbers_as_column_names_become_texts():
    frame = pd.DataFrame({0: [0.5], 1: [1]})
    assert from_frame(frame, ["1"]).feature_names == from_frame(frame, [1]).feature_names == ("0",)


FRAME = pl.DataFrame({"depth": [0.5, 1.5], "site": ["n", "s"], "frogs": [1, 2]})


@pytest.mark.parametrize(
    ("frame", "labels", "problem"),
    [
        (FRAME, ["frogs"], r"row 1: label 'frogs' is 2; expected 0, 1"),
        (FRAME, ["site"], r"row 0: label 'site' is 'n'; expected 0, 1"),
        (FRAME, ["frog"], r"no column 'frog' for a label; did you mean 'frogs'"),
        (FRAME, ["%"], r"no column '%' for a label; the columns are depth, site, frogs$"),
        (pl.DataFrame({f"x{i}": [0.5] for i in range(11)}), ["%"], r"the columns are x0, .*, x7, \.\.\.$"),
        (FRAME, [], r"no column is named as label"),
        (FRAME, ["depth", "site", "frogs"], r"all columns are labels"),
        (FRAME, 3, r"3 of 3 columns cannot be labels; expected 1 to 2, or -1 to -2"),
        (FRAME, 0, r"0 of 3 columns cannot be labels"),
        (FRAME.head(0), ["frogs"], r"no rows"),
        (pl.DataFrame({"x": [1.0, -math.inf], "y": [1, 0]}), ["y"], r"row 1: 'x' is infinite"),
        (pl.DataFrame({"id": [f"n{i}" for i in range(257)], "y": 1}), ["y"], r"'id' has 257 different texts \(n0, n1"),
        (pd.DataFrame([[1, 2, 3]], columns=["x", "x", "y"]), ["y"], r"same name .*'x' 2 times.* rename"),
        (pd.DataFrame([[1, 2, 3]], columns=[1, "1", "y"]), ["y"], r"same name as text \('1'\); rename"),
    ],
)
def test_bad_tables_end_in_one_clear_error(frame, labels, problem):
    with pytest.raises(DataError, match=problem):
        from_frame(frame, labels)


@pytest.mark.parametrize(
    ("frame", "problem"),
    [
        (np.zeros((2, 2)), "ndarray is not a data frame"),
        (None, "NoneType is not a data frame"),
        (FRAME.lazy(), "LazyFrame is not a data frame .*collect"),
        (pl.DataFrame({"x": [[1, 2]], "y": [1]}), "column 'x' holds List"),
        (pd.DataFrame({"x": [pd.Timestamp("2026-01-01")], "y": [1]}), "column 'x' holds Datetime"),
        (pd.DataFrame({"x": pd.Series(["a", 1], dtype=object), "y": [1, 0]}), "column 'x' mixes objects"),
    ],
)
def test_things_that_cannot_be_read_are_reported(frame, problem):
    with pytest.raises(DataTypeError, match=problem):
        from_frame(frame, ["y"])


def test_a_signalling_nan_of_decimal_is_missing():
    frame = pd.DataFrame({"x": [Decimal("1.5"), Decimal("sNaN"), None, Decimal("NaN")], "y": [1, 0, 1, 1]})
    np.testing.assert_array_equal(from_frame(frame, ["y"]).X[:, 0], [1.5, np.nan, np.nan, np.nan])


@pytest.mark.parametrize("labels", [None, 1.5])
def test_labels_of_a_wrong_kind_are_reported(labels):
    with pytest.raises(ParameterError, match=f"labels={labels} names no columns; use their names"):
        from_frame(FRAME, labels)
