"""Tables in text files are read as a naive reading would, and broken ones are reported with their lines."""

import csv
import gzip
import io
import math
from pathlib import Path
from tempfile import TemporaryDirectory
from zipfile import ZipFile

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evolabel.errors import DataError, DatasetNotFoundError, FileFormatError
from evolabel.streams.tabular.csv_file import from_csv

MISSING = st.sampled_from(["", "NA", "nan", "NaN", "?", "na", "null", "None", "N/A", "#N/A", "<NA>"])
NUMBERS = st.floats(-1e9, 1e9).map(repr) | st.integers(-99, 99).map(str)
WORDS = st.sampled_from(["north", "Süd", 'say "hi"', "a,b", "c;d", "two words", "two\nlines", "1_000", "0x"])


@pytest.fixture
def write(tmp_path):
    def put(text, name="pond.csv"):
        path = tmp_path / name
        path.write_bytes(text.encode())
        return path

    return put


@st.composite
def tables(draw):
    """Cells as texts: columns of numbers or words with some missing, then a label."""
    rows = draw(st.integers(1, 6))
    columns = {}
    for j in range(draw(st.integers(2, 4))):
        kind = draw(st.sampled_from([NUMBERS, WORDS]))
        columns[f"x{j}"] = draw(st.lists(MISSING | kind, min_size=rows, max_size=rows))
    label = st.sampled_from(["0", "1", "1.0", ""])
    columns["y"] = draw(st.lists(label, min_size=rows, max_size=rows))
    return columns


def naive_cell(text):
    if text.lower() in ("", "na", "nan", "?", "null", "none", "n/a", "#n/a", "<na>"):
        return None
    try:
        return text if "_" in text else float(text)
    except ValueError:
        return text


def naive(columns):
    names, rows = [], [[] for _ in columns["y"]]
    for name, texts in columns.items():
        cells = [naive_cell(text) for text in texts]
        words = any(isinstance(cell, str) for cell in cells)
        values = sorted({text for text, cell in zip(texts, cells, strict=True) if words and cell is not None})
        names += [f"{name}={value}" for value in values] or [name]
        for row, text, cell in zip(rows, texts, cells, strict=True):
            missing = math.nan if cell is None else cell
            row += [math.nan if cell is None else float(text == value) for value in values] or [missing]
    return names, np.array(rows, dtype=float)


@given(columns=tables(), separator=st.sampled_from(",;\t"), end=st.sampled_from(["\n", "\r\n"]))
def test_tables_are_read_as_a_naive_reading_would(columns, separator, end):
    text = io.StringIO(newline="")
    writer = csv.writer(text, delimiter=separator, lineterminator=end)
    writer.writerow(columns)
    writer.writerows(zip(*columns.values(), strict=True))
    with TemporaryDirectory() as folder:
        path = Path(folder, "pond.csv")
        path.write_bytes(text.getvalue().encode())
        dataset = from_csv(path, ["y"])
    names, rows = naive(columns)
    assert [*dataset.feature_names, *dataset.label_names] == names
    np.testing.assert_array_equal(np.hstack([dataset.X, dataset.Y]), rows)


def test_truth_values_are_numbers(write):
    dataset = from_csv(write("wet,y\nTRUE,true\nfalse,False\n,NA\n"), ["y"])
    np.testing.assert_array_equal(np.hstack([dataset.X, dataset.Y]), [[1, 1], [0, 0], [np.nan, np.nan]])
    assert dataset.feature_names == ("wet",)


@pytest.mark.parametrize("nothing", ["null", "None", "N/A", "#N/A", "<NA>", "?", "nan", ""])
def test_there_are_many_ways_to_write_nothing(write, nothing):
    dataset = from_csv(write(f"a,y\n{nothing},1\n2,{nothing}\n"), ["y"])
    np.testing.assert_array_equal(np.hstack([dataset.X, dataset.Y]), [[np.nan, 1], [2, np.nan]])


@pytest.mark.parametrize("words", [("yes", "No"), ("TRUE", "false"), ("1", "no"), ("true", "0"), ("1.0", "False")])
def test_labels_may_be_said_in_words(write, words):
    on, off = words
    np.testing.assert_array_equal(from_csv(write(f"a,y\n1,{on}\n2,{off}\n3,\n"), ["y"]).Y, [[1], [0], [np.nan]])


def test_semicolon_files_may_have_decimal_commas(write):
    np.testing.assert_array_equal(from_csv(write("a;b;y\n1,5;2.5;1\n-2,25;3;0\n"), -1).X, [[1.5, 2.5], [-2.25, 3]])


def test_numbers_with_commas_are_texts_elsewhere(write):
    assert from_csv(write('a,y\n"1,5",1\n'), -1).feature_names == ("a=1,5",)


def test_names_made_of_digits_are_texts(write):
    assert from_csv(write("a,y\n1_000,1\n2_000,0\n"), -1).feature_names == ("a=1_000", "a=2_000")


def test_blank_lines_and_blanks_around_cells_do_not_count(write):
    dataset = from_csv(write('\ufeff a , "b",y\n\n 1, x ,1\n\n2,x,0\n\n'), ["y"])
    assert dataset.feature_names == ("a", "b=x")
    np.testing.assert_array_equal(dataset.X, [[1, 1], [2, 1]])


@pytest.mark.parametrize(("name", "expected"), [("pond.csv", "pond"), ("pond.tsv", "pond"), ("my.pond.csv", "my.pond")])
def test_the_data_set_is_named_after_its_file(write, name, expected):
    path = write("a,y\n1,1\n", name)
    assert from_csv(path, 1).name == expected
    assert from_csv(str(path), 1, name="lake").name == "lake"


def test_compressed_files_are_read(tmp_path):
    path = tmp_path / "pond.csv.gz"
    path.write_bytes(gzip.compress(b"a\ty\n1\t1\n"))
    dataset = from_csv(path, ["y"])
    assert (dataset.name, dataset.X.item()) == ("pond", 1.0)


@pytest.mark.parametrize("ending", ["csv", "tsv"])
def test_zipped_files_are_read(tmp_path, ending):
    with ZipFile(tmp_path / f"pond.{ending}.zip", "w") as archive:
        archive.writestr(f"pond.{ending}", "a\ty\n1\t1\n")
    dataset = from_csv(tmp_path / f"pond.{ending}.zip", ["y"])
    assert (dataset.name, dataset.X.item()) == ("pond", 1.0)


def test_columns_may_be_numbered_from_0(write):
    assert from_csv(write("0,1,2\n0.5,7,1\n"), -1).feature_names == ("0", "1")


def test_label_names_may_lie_beside_the_table(write):
    path = write("a,newts,frogs\n3,1,0\n")
    write('<labels><label name="frogs"/><label name="newts"/></labels>', "pond.xml")
    dataset = from_csv(path)
    assert dataset.label_names == ("frogs", "newts")
    assert dataset.Y.tolist() == [[0, 1]]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "is empty; expected a header"),
        ("a,,y\n1,2,1\n", "line 1: a column has no name"),
        ("a,y,a\n1,1,2\n", "line 1: several columns are named 'a'"),
        ("5.1,3.5,1\n4.9,3.0,0\n", "line 1: all names are numbers, as if there were no header"),
        ("0,0,1\n1,0,1\n", "line 1: all names are numbers"),
        ("1,5;2;1\n4;3;0\n", "line 1: all names are numbers"),
        ("a,y\n", "has no rows"),
        ("a,y\n1,1\n\n1,2,3\n", "line 4: 3 values, expected 2 as in the header"),
        ('a,y\n"two\nlines",1\n1\n', "line 4: 1 values, expected 2"),
        ('a,y\n1,1\n"never closed,1\n', "line 3: unexpected end of data; check the quotes"),
        ('a,y\n1,1\n"1"x,1\n', "line 3: .* check the quotes"),
    ],
)
def test_broken_tables_are_reported_with_their_lines(write, text, problem):
    with pytest.raises(FileFormatError, match=problem):
        from_csv(write(text), ["y"])


@pytest.mark.parametrize(
    ("text", "labels", "problem"),
    [
        ("a,y\n1,1\n\n1,2\n", ["y"], r"pond\.csv, line 4: label 'y' is 2; expected 0, 1"),
        ("a,y\n1,\n1,perhaps\n", ["y"], r"line 3: label 'y' is 'perhaps'; expected 0, 1, true, false, yes, no"),
        ("a,y\n1,1\ninf,1\n", ["y"], r"line 3: 'a' is infinite"),
        ("a,y\n1,1\n1e999,1\n", ["y"], r"line 3: 'a' is infinite"),
        ("a,y\n1,1\n", ["z"], r"no column 'z' for a label"),
        ("a,y\n1,1\n", None, r"the labels of .*pond\.csv are not given; pass their names .the columns are a, y."),
        ("a,y\n1,1\n", 2, r"2 of 2 columns cannot be labels"),
    ],
)
def test_bad_values_are_reported_with_their_lines(write, text, labels, problem):
    with pytest.raises(DataError, match=problem):
        from_csv(write(text), labels)


def test_a_word_among_many_numbers_is_reported_with_its_line(write):
    cells = [f"{i / 8}" for i in range(100)]
    text = "a,y\n" + "".join(f"{cell},1\n" for cell in [*cells[:60], "error", *cells[60:]])
    with pytest.raises(DataError, match=r"pond\.csv, line 62: 'a' is 'error', but 100 other values are numbers"):
        from_csv(write(text), ["y"])


def test_a_few_numbers_among_words_are_categories(write):
    dataset = from_csv(write("site,y\n1,1\n2,0\nnorth,1\n"), ["y"])
    assert dataset.feature_names == ("site=1", "site=2", "site=north")


def test_a_file_that_is_not_there_is_reported(tmp_path):
    with pytest.raises(DatasetNotFoundError, match=r"no file .*pond\.csv"):
        from_csv(tmp_path / "pond.csv", ["y"])


def test_a_damaged_compressed_file_is_reported(tmp_path):
    path = tmp_path / "pond.csv.gz"
    path.write_bytes(gzip.compress(b"a,y\n" + b"1,1\n" * 999)[:-9])
    with pytest.raises(FileFormatError, match="cannot be read to its end"):
        from_csv(path, ["y"])
