"""A model finds its columns by name, in every kind of file, and looks at no others."""

import numpy as np
import pytest

from evolabel.errors import DataError, DatasetNotFoundError, DataWarning
from evolabel.streams import Dataset, for_model, read_dataset, read_for_model, write_dataset
from evolabel.streams.files.for_model import read_with_coding
from evolabel.streams.tabular.column_coding import ColumnCoding

FEATURES, LABELS = ("depth", "site=north", "site=south"), ("frogs", "newts")
X = np.array([[0.5, 1.0, 0.0], [np.nan, 0.0, 1.0]])


@pytest.mark.parametrize("ending", ["npz", "parquet"])
def test_files_of_data_sets(tmp_path, ending):
    path = tmp_path / f"pond.{ending}"
    backwards = Dataset(X[:, ::-1], np.array([[1.0], [0.0]]), FEATURES[::-1], ("frogs",))
    write_dataset(backwards, path)
    for pond in (read_for_model(path, FEATURES, LABELS), for_model(backwards, FEATURES, LABELS)):
        np.testing.assert_array_equal(pond.X, X)
        np.testing.assert_array_equal(pond.Y, [[1.0, np.nan], [0.0, np.nan]])
        assert (pond.feature_names, pond.label_names) == (FEATURES, LABELS)


def test_arff_files(tmp_path):
    path = tmp_path / "pond.arff"
    head = "@relation pond\n@attribute site {north,south}\n@attribute depth numeric\n@attribute frogs {0,1}\n"
    path.write_text(f"{head}@data\nnorth,0.5,1\nsouth,?,0\n")
    np.testing.assert_array_equal(read_for_model(path, FEATURES, ("frogs",)).X, X)


def test_frames_with_dates(tmp_path):
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"site": ["north", "south"], "day": pd.Timestamp("2024-01-01"), "depth": [0.5, None]})
    frame.to_parquet(tmp_path / "pond.parquet")
    np.testing.assert_array_equal(read_for_model(tmp_path / "pond.parquet", FEATURES, LABELS).X, X)


def test_numbers_that_were_texts_once(tmp_path):
    path = tmp_path / "pond.csv"
    path.write_text("site,depth\n3,NA\n,0.5\n")
    pond = read_for_model(path, ("site=3", "site=other", "depth"), LABELS)
    np.testing.assert_array_equal(pond.X, [[1, 0, np.nan], [np.nan, np.nan, 0.5]])


def test_a_column_without_any_value_is_missing(tmp_path):
    path = tmp_path / "pond.csv"
    path.write_text("a,b\n1,\n2,NA\n")
    np.testing.assert_array_equal(read_for_model(path, ("a", "b"), LABELS).X, [[1, np.nan], [2, np.nan]])


def test_what_is_not_there_is_reported(tmp_path):
    path = tmp_path / "pond.csv"
    path.write_text("depth,frogs\n1,0\n")
    with pytest.raises(DataError, match="no column for site=north, site=south; the model needs depth, site=north"):
        read_for_model(path, FEATURES, LABELS)
    with pytest.raises(DatasetNotFoundError, match="there is no file"):
        read_for_model(tmp_path / "sea.csv", FEATURES, LABELS)


@pytest.mark.parametrize(
    ("text", "line", "cell"),
    [
        ('depth,flow\n"3,5",1\n"4,5",2\n', 2, "3,5"),  # decimal commas are numbers in semicolon files only
        ('depth,flow\n3.5,1\n"4,5",2\n', 3, "4,5"),
        ("depth;flow\n3,5;1\nlow;2\n", 3, "low"),
    ],
)
def test_a_number_that_cannot_be_read_is_refused_and_not_lost(tmp_path, text, line, cell):
    path = tmp_path / "pond.csv"
    path.write_text(text)
    with pytest.raises(DataError, match=f"line {line}: 'depth' is '{cell}'; expected a number"):
        read_for_model(path, ("depth", "flow"), LABELS)


def test_decimal_commas_are_read_as_in_a_fresh_file(tmp_path):
    path = tmp_path / "pond.csv"
    path.write_text("depth;flow;frogs\n3,5;1.5;0\n4;;1\n")
    np.testing.assert_array_equal(
        read_for_model(path, ("depth", "flow"), ("frogs",)).X, read_dataset(path, ["frogs"]).X
    )


def test_numbers_in_a_column_of_texts_are_refused(tmp_path):
    pl = pytest.importorskip("polars")
    path = tmp_path / "pond.parquet"
    pl.DataFrame({"depth": [None, "3.5"], "site": [None, None]}, {"depth": pl.String, "site": pl.String}).write_parquet(
        path
    )
    with pytest.raises(DataError, match=r"row 1: 'depth' is '3\.5', a text; expected a number"):
        read_for_model(path, ("depth",), LABELS)
    np.testing.assert_array_equal(read_for_model(path, ("site",), LABELS).X, [[np.nan], [np.nan]])


def test_keys_that_no_line_has_are_missing_values(tmp_path):
    path = tmp_path / "pond.jsonl"
    path.write_text('{"depth": 0.5}\n')
    with pytest.warns(DataWarning, match=r"no line of .*pond.jsonl has site; read as missing"):
        rows = read_with_coding(path, ColumnCoding(("depth", "site"), (None, ("north", "south"))), LABELS)
    np.testing.assert_array_equal(rows.dataset.X, [[0.5, np.nan, np.nan]])
    path.write_text('{"width": 0.5}\n')
    with pytest.raises(DataError, match="has no column for"):
        read_for_model(path, FEATURES, LABELS)


def test_a_model_without_names_reads_columns_in_their_order(tmp_path):
    path = tmp_path / "pond.csv"
    path.write_text("depth,frogs,width\n0.5,1,2\n,0,3\n")
    rows = read_with_coding(path, 2, ("frogs",))
    np.testing.assert_array_equal(rows.dataset.X, [[0.5, 2.0], [np.nan, 3.0]])
    np.testing.assert_array_equal(rows.dataset.Y, [[1.0], [0.0]])
    with pytest.raises(DataError, match=r"has 3 columns \(depth, frogs, width\), the model has 2 features without"):
        read_with_coding(path, 2, ("newts",))
