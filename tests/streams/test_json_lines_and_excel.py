"""JSON lines and Excel files are read as CSV files are; a bad line ends in one error that names it."""

import datetime
import re
import sys

import numpy as np
import pytest

from evolabel._utils.optional import install_command
from evolabel.errors import DataError, FileFormatError, MissingDependencyError
from evolabel.streams import from_csv, read_dataset, read_for_model

CSV = "depth,site,wet,frogs,newts\n0.5,south,true,1,0\n,north,false,1,\n1e-3,,true,0,1\n"
JSON_LINES = """{"depth": 0.5, "site": "south", "wet": true, "frogs": 1, "newts": 0}
{"depth": null, "site": "north", "wet": false, "frogs": true}

{"newts": 1, "depth": 1e-3, "wet": true, "frogs": 0}
"""
LABELS = ["frogs", "newts"]


def assert_same(read, expected):
    assert (read.feature_names, read.label_names, read.name) == (
        expected.feature_names,
        expected.label_names,
        expected.name,
    )
    assert np.array_equal(read.X, expected.X, equal_nan=True)
    assert np.array_equal(read.Y, expected.Y, equal_nan=True)


@pytest.fixture
def pond(tmp_path):
    (tmp_path / "pond.csv").write_text(CSV)
    return from_csv(tmp_path / "pond.csv", LABELS)


def workbook(path, rows):
    book = pytest.importorskip("openpyxl").Workbook()
    for row in rows:
        book.active.append(row)
    book.save(path)
    return path


def test_json_lines_are_read_as_csv(pond, tmp_path):
    file = tmp_path / "pond.jsonl"
    file.write_text(JSON_LINES)
    read = read_dataset(file, LABELS)
    assert_same(read, pond)
    assert read.lines.tolist() == [1, 2, 4]
    assert np.isnan(read_for_model(file, ["depth", "site=south"], ["newts"]).Y[1, 0])


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ('{"depth": 1', "line 2: this is no JSON"),
        ("[1, 2]", "line 2: this is a list; expected one object"),
        ('{"depth": {"m": 1}}', "line 2: 'depth' is an object"),
        ('{"depth": [[1]]}', r"line 2: 'depth' is a list with \[1\]; expected"),
        ('{"": 1}', "line 2: a column has no name"),
    ],
)
def test_a_bad_line_is_named(tmp_path, line, expected):
    file = tmp_path / "pond.jsonl"
    file.write_text(f'{{"depth": 1, "frogs": 1}}\n{line}\n')
    with pytest.raises(FileFormatError, match=expected):
        read_dataset(file, ["frogs"])


@pytest.mark.parametrize("value", ['{"unit": "m"}', "[1, 2]", "[null]"])
def test_objects_and_lists_of_numbers_can_be_left_out(tmp_path, value):
    file = tmp_path / "pond.jsonl"
    file.write_text(f'{{"depth": 1, "frogs": 1}}\n{{"depth": 2, "meta": {value}, "frogs": 0}}\n')
    assert read_dataset(file, ["frogs"], drop=["meta"]).feature_names == ("depth",)
    assert read_for_model(file, ["depth"], ["frogs"]).X.tolist() == [[1.0], [2.0]]
    with pytest.raises(FileFormatError, match=r"line 2: 'meta' is .* leave the column out \(drop=, --drop\)"):
        read_dataset(file, ["frogs"])


def test_true_and_1_are_the_same_in_one_column(tmp_path):
    file = tmp_path / "pond.jsonl"
    file.write_text('{"wet": true, "frogs": 1}\n{"wet": 0, "frogs": false}\n{"wet": false, "frogs": true}\n')
    read = read_dataset(file, ["frogs"])
    assert read.feature_names == ("wet",)
    assert (read.X[:, 0].tolist(), read.Y[:, 0].tolist()) == ([1.0, 0.0, 0.0], [1.0, 0.0, 1.0])


def test_json_lines_without_a_line_are_refused(tmp_path):
    file = tmp_path / "pond.jsonl"
    file.write_text("\n\n")
    with pytest.raises(FileFormatError, match="has no rows"):
        read_dataset(file, ["frogs"])


def test_a_value_that_is_wrong_is_reported_by_its_line(tmp_path):
    file = tmp_path / "pond.jsonl"
    file.write_text('{"depth": 1, "frogs": 1}\n\n{"depth": 2, "frogs": 3}\n')
    with pytest.raises(DataError, match="line 3: label 'frogs' is 3"):
        read_dataset(file, ["frogs"])


def test_excel_is_read_as_csv(pond, tmp_path):
    rows = [
        ["depth", "site", "wet", "frogs", "newts"],
        [0.5, "south", True, 1, 0],
        [None, "north", False, 1, None],
        [None] * 5,
        [1e-3, None, True, 0, 1],
    ]
    file = workbook(tmp_path / "pond.xlsx", rows)
    read = read_dataset(file, LABELS)
    assert_same(read, pond)
    assert read.lines.tolist() == [2, 3, 5]
    assert np.array_equal(
        read_for_model(file, ["depth", "site=south"], ["newts"]).X[:, 1], [1.0, 0.0, np.nan], equal_nan=True
    )


def test_dates_of_excel_are_texts(tmp_path):
    moment = datetime.datetime(2026, 3, 1, 8, 30)
    file = workbook(tmp_path / "log.xlsx", [["time", "heat", "leak"], [moment, 1, 1], [moment, 2, 0]])
    assert read_dataset(file, ["leak"]).feature_names == ("time=2026-03-01 08:30:00", "heat")


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        ([["depth", None, "frogs"], [1, 2, 1]], "line 1: a column has no name"),
        ([["depth", "depth"], [1, 2]], "several columns are named 'depth'"),
        ([["depth", "frogs"]], "has no rows"),
        ([], "is empty"),
    ],
)
def test_a_bad_sheet_is_refused_in_one_line(tmp_path, rows, expected):
    file = workbook(tmp_path / "pond.xlsx", rows)
    with pytest.raises(FileFormatError, match=expected):
        read_dataset(file, ["frogs"])


def test_a_file_that_is_no_workbook_is_refused(tmp_path):
    pytest.importorskip("openpyxl")
    file = tmp_path / "pond.xlsx"
    file.write_text("depth,frogs\n1,1\n")
    with pytest.raises(FileFormatError, match="is no Excel file"):
        read_dataset(file, ["frogs"])


def test_without_openpyxl_the_error_names_the_extra(tmp_path, monkeypatch):
    (tmp_path / "pond.xlsx").write_bytes(b"")
    monkeypatch.setitem(sys.modules, "openpyxl", None)
    with pytest.raises(MissingDependencyError, match=re.escape(install_command("excel"))):
        read_dataset(tmp_path / "pond.xlsx", ["frogs"])


def test_the_command_line_takes_them_by_suffix(command, plant, plant_model, tmp_path):
    table = from_csv(plant, ["fault_a", "fault_b"])
    names = (*table.feature_names, *table.label_names)
    values = np.hstack([table.X, table.Y]).tolist()
    lines = [
        "{" + ", ".join(f'"{name}": {value}' for name, value in zip(names, row, strict=True)) + "}" for row in values
    ]
    (tmp_path / "plant.jsonl").write_text("\n".join(lines))
    workbook(tmp_path / "book.xlsx", [list(names), *values])
    known = command("predict", plant_model, plant, "--proba").out
    for file in ("plant.jsonl", "book.xlsx"):
        assert command("predict", plant_model, tmp_path / file, "--proba").out == known
        target = tmp_path / f"{file}.npz"
        assert command("convert", tmp_path / file, target, "--labels=-2").code == 0
        assert_same(read_dataset(target).without([]), read_dataset(tmp_path / file, -2))
    kept = command("predict", plant_model, tmp_path / "plant.jsonl", "--keep", names[0]).out.splitlines()
    assert float(kept[1].split(",")[1]) == values[0][0]
