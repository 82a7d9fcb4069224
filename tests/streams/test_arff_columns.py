"""How values become numbers: nominal features in both modes, missing values, labels of any type, dropped attributes."""

from contextlib import suppress

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from evolabel.errors import FileFormatError
from evolabel.streams.arff import columns as arff_columns
from evolabel.streams.arff.columns import feature_reader, label_reader
from evolabel.streams.arff.header import Attribute
from evolabel.streams.arff.reader import read_arff

nan = np.nan


@pytest.fixture
def read(tmp_path):
    """Read a file with these attributes and rows, and a label behind them."""

    def read(attributes, rows, label="{0,1}", **options):
        declared = [f"@attribute {text}" for text in [*attributes, f"y {label}"]]
        (tmp_path / "pond.arff").write_text("\n".join(["@relation r", *declared, "@data", *rows]))
        return read_arff(tmp_path / "pond.arff", -1, **options)

    return read


COLUMNS = [
    feature_reader(Attribute("x", "numeric", (), 1), "codes"),
    feature_reader(Attribute("x", "nominal", ("a", "1", "nan"), 1), "codes"),
    feature_reader(Attribute("x", "nominal", ("2", "-1", "1e3"), 1), "codes"),
    feature_reader(Attribute("x", "nominal", ("2", "-1", "1e3"), 1), "one-hot"),
    label_reader(Attribute("x", "numeric", (), 1)),
]
cells = st.sampled_from(
    [None, "0", "1", "1.0", "-1", "1000", "a", "2", "nan", "inf", "1_0", "", " 1", "1e999", "\u0661"]
)


@pytest.mark.parametrize("column", COLUMNS)
@given(values=st.lists(cells | st.floats().map(str), min_size=1, max_size=4))
@example(values=["1", "1_0"])
@example(values=["1", "inf"])
def test_all_at_once_is_the_same_as_one_by_one_or_left_to_it(column, values):
    with suppress(KeyError, TypeError, ValueError):
        at_once = column.read_all(values)
        np.testing.assert_array_equal(at_once, [column.read_one(value) for value in values])


@pytest.mark.parametrize(
    ("declared", "values", "codes", "names", "one_hot"),
    [
        ("{a,b}", "ba?", [1, 0, nan], ["x=a", "x=b"], [[0, 1], [1, 0], [nan, nan]]),
        ("{2,5,1}", "15?", [1, 5, nan], ["x=2", "x=5", "x=1"], [[0, 0, 1], [0, 1, 0], [nan] * 3]),
        ("{0,1}", "10?", [1, 0, nan], ["x"], [[1], [0], [nan]]),
        ("{1,0}", "10?", [1, 0, nan], ["x"], [[1], [0], [nan]]),
        ("{7}", "77?", [7, 7, nan], ["x=7"], [[1], [1], [nan]]),
        ("{1,a}", "1a?", [0, 1, nan], ["x=1", "x=a"], [[1, 0], [0, 1], [nan, nan]]),
    ],
)
def test_nominal_features_in_both_modes(read, declared, values, codes, names, one_hot):
    rows = [f"{value},0" for value in values]
    coded, spread = (read([f"x {declared}"], rows, nominal=mode) for mode in ("codes", "one-hot"))
    np.testing.assert_array_equal(coded.X[:, 0], codes)
    assert coded.feature_names == ("x",)
    np.testing.assert_array_equal(spread.X, one_hot)
    assert spread.feature_names == tuple(names)


def test_numbers_of_a_list_may_be_written_otherwise(read):
    attributes, rows = ["x {2,10,.5}"], ["10.0,1.0", "5e-1,0", "+2,+1"]
    np.testing.assert_array_equal(read(attributes, rows, nominal="codes").X[:, 0], [10, 0.5, 2])
    np.testing.assert_array_equal(read(attributes, rows).X, [[0, 1, 0], [0, 0, 1], [1, 0, 0]])
    np.testing.assert_array_equal(read(attributes, rows).Y[:, 0], [1, 0, 1])


def test_values_that_are_the_same_number_stay_apart(read):
    np.testing.assert_array_equal(read(["x {1,1.0}"], ["1.0,0", "1,0"], nominal="codes").X[:, 0], [1, 0])


def test_a_quoted_question_mark_is_a_value(read):
    np.testing.assert_array_equal(read(["x {a,'?'}"], ["'?',0", "?,0"], nominal="codes").X[:, 0], [1, nan])


def test_missing_numbers(read):
    np.testing.assert_array_equal(read(["x real"], ["?,0", " NaN , ?", "-1.5e-3,1"]).X[:, 0], [nan, nan, -1.5e-3])


@pytest.mark.parametrize("label", ["numeric", "{0,1}", "{1,0}", "{0}", "{0,1,2}", "{?,0,1}"])
def test_labels_of_any_type_are_zero_one_or_missing(read, label):
    data = read(["x real"], ["5,0", "5,1", "5,?", "5,1.0"], label)
    np.testing.assert_array_equal(data.Y[:, 0], [0, 1, nan, 1])


def test_what_a_sparse_row_leaves_out_is_zero_or_the_first_value(read):
    attributes = ["n real", "m {a,b}", "z {0,1}"]
    data = read(attributes, ["{}", "{0 2.5,1 b,2 1,3 1}", "{3 ?, 0 ?}"], nominal="codes")
    np.testing.assert_array_equal(np.hstack([data.X, data.Y]), [[0, 0, 0, 0], [2.5, 1, 1, 1], [nan, 0, 0, nan]])
    np.testing.assert_array_equal(read(["n real"], ["{}"], "{1,0}").Y, [[1]])


@pytest.mark.parametrize("drop", [["id", "day"], ("day", "id")])
def test_dropped_attributes_are_not_looked_at(read, drop):
    attributes = ["id string", "x numeric", "day date yyyy-MM-dd"]
    data = read(attributes, ["'frog, green',1,?,0", "{1 2,2 '2024-01-01', 3 1}"], drop=drop)
    assert data.feature_names == ("x",)
    np.testing.assert_array_equal(data.X, [[1], [2]])


def test_one_name_can_be_dropped_without_a_list(read):
    assert read(["id string", "x numeric"], ["a,1,0"], drop="id").feature_names == ("x",)


@pytest.mark.parametrize("size", [1, 6, 7, 1000])
def test_blocks_join_in_order(read, monkeypatch, size):
    monkeypatch.setattr(arff_columns, "_VALUES_PER_BLOCK", size)
    data = read(["x real", "m {a,b}"], [f"{row},{'ab'[row % 2]},1" for row in range(9)], nominal="codes")
    np.testing.assert_array_equal(data.X, [[row, row % 2] for row in range(9)])


def test_arrays_are_ready_for_the_kernels(read):
    data = read(["x real", "m {a,b,c}"], ["1,a,0", "2,b,1"])
    for array in (data.X, data.Y):
        assert array.dtype == np.float64
        assert array.flags.c_contiguous


@pytest.mark.parametrize("values", ["no,yes", "FALSE,TRUE", "No,Yes,True", "0,true,1"])
def test_labels_may_be_said_in_words(read, values):
    off, *on = values.split(",")
    rows = [f"1,{off}", *(f"1,{word}" for word in on), "1,?", "{0 1}"]
    dataset = read(["x numeric"], rows[:-1], f"{{{values}}}")
    np.testing.assert_array_equal(dataset.Y[:, 0], [0, *[1] * len(on), nan])
    assert read(["x numeric"], rows[-1:], f"{{{values}}}").Y.item() == 0, "a sparse row means the first value"


def test_counts_are_on_where_they_are_more_than_zero(tmp_path):
    path = tmp_path / "river.arff"
    names = "".join(f"@attribute {name} numeric\n" for name in "xab")
    path.write_text(f"@relation r\n{names}@data\n1,3,0\n2,?,0.5\n")
    river = read_arff(path, -2, counts=True)
    np.testing.assert_array_equal(river.Y, [[1.0, 0.0], [np.nan, 1.0]])
    with pytest.raises(FileFormatError, match="because it is a label"):
        read_arff(path, -2)
