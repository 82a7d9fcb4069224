"""Files and arguments that no one means: long headers, deep JSON, numbers of 400 digits, other kinds of files."""

import gzip
import json

import numpy as np
import pytest

from evolabel import EvolvingFuzzyClassifier
from evolabel.errors import EvolabelError
from evolabel.evaluate import Repeated, Results
from evolabel.persistence.model_file import write_model_file
from evolabel.report.page import write_report
from evolabel.streams import from_csv, read_arff, read_dataset, read_for_model, write_dataset
from evolabel.tuning.checkpoint import SearchCheckpoint

DEEP = "[" * 100_000 + "]" * 100_000
NESTED = "[" * 985 + "]" * 985  # read by Python's parser, but not written again further down
PNG = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + bytes(range(256))


def refused(told, *parts, code=2):
    """One line of error with these parts."""
    assert (told.code, told.out) == (code, "")
    assert len(told.err.splitlines()) == 1, told.err
    for part in parts:
        assert part in told.err


def test_a_cell_longer_than_python_reads_is_named(command, tmp_path):
    path = tmp_path / "plant.csv"
    path.write_text("a" * 140_000 + ",fault\n" + "1,0\n" * 20)
    refused(command("run", path, "--labels", "fault"), "plant.csv, line 1: a cell has more than 131,072 characters")
    path.write_text("heat,fault\n1,0\n" + "1" * 140_000 + ",0\n")
    refused(command("run", path, "--labels", "fault"), "plant.csv, line 3: a cell has more than 131,072 characters")


def test_a_header_of_many_columns_is_read(command, tmp_path):
    """It is longer than a cell may be, and one cell by the separators that it does not have."""
    path = tmp_path / "wide.csv"
    path.write_text(",".join(f"column{i}" for i in range(20_000)) + ",fault\n" + ("1," * 20_000 + "0\n") * 2)
    assert from_csv(path, ["fault"]).X.shape == (2, 20_000)


@pytest.mark.parametrize("value", [DEEP, NESTED, '{"b":' * 3000 + "1" + "}" * 3000, "[" * 100_000])
def test_deep_json_lines_are_refused(command, plant_model, tmp_path, value):
    path = tmp_path / "plant.jsonl"
    path.write_text(f'{{"heat": 1, "flow": 2, "fault": 1}}\n{{"heat": {value}, "flow": 2, "fault": 0}}\n')
    refused(command("run", path, "--labels", "fault"), "plant.jsonl, line 2: this is no JSON", "200 levels")
    refused(command("predict", plant_model, path, "--keep", "heat"), "plant.jsonl, line 2: this is no JSON")


def test_deep_json_in_options_and_files_of_results(command, plant, plant_model, tmp_path):
    deep = f'{{"vigilance": {DEEP}}}'
    (tmp_path / "best.json").write_text(deep)
    run = ("run", plant, "--labels", "fault_a,fault_b")
    refused(command(*run, "--params", deep), "holds no parameters")
    refused(command(*run, "--params", tmp_path / "best.json"), "holds no parameters")
    refused(command(*run, "--set", f'class_weight={{"leak": {DEEP}}}'), "holds no weights")
    refused(command("edit", plant_model, "--add", f'{{"if": {DEEP}}}'), "the rule is no JSON")
    with pytest.raises(EvolabelError, match="does not hold complete results"):
        Results.read(tmp_path / "best.json")
    with pytest.raises(EvolabelError, match="holds no search"):
        SearchCheckpoint(tmp_path / "best.json", {})


@pytest.mark.parametrize(
    ("name", "content", "part"),
    [
        ("plant.csv", PNG, "cannot be read as text: it is a PNG image; pass the table itself"),
        ("plant.jsonl", PNG, "cannot be read as text: it is a PNG image"),
        ("plant.arff", PNG, "cannot be read as text: it is a PNG image"),
        ("plant.csv.gz", gzip.compress(PNG, mtime=0), "cannot be read as text: it is a PNG image"),
        (
            "plant.csv",
            gzip.compress(b"a,b\n1,2\n", mtime=0),
            "it is compressed by gzip; give it an ending such as .csv.gz",
        ),
        ("plant.csv", "heat,fault\n1,0\n".encode("utf-16"), "it is a text in UTF-16; save it as UTF-8"),
        (
            "plant.csv",
            b"heat,fault\n1,0\n2\0,1\n",
            "it has the byte 0, which no text has; pass a table as CSV, JSON lines, ARFF",
        ),
    ],
    ids=["csv", "json lines", "arff", "compressed image", "compressed table", "utf-16", "nul"],
)
def test_a_file_that_is_no_text_gets_one_error(command, tmp_path, name, content, part):
    (tmp_path / name).write_bytes(content)
    refused(command("run", tmp_path / name, "--labels", "fault"), name, part)


@pytest.mark.parametrize("name", ["PAR1", "BZh91AY&SY", "%PDF", "PK"])
def test_a_name_like_the_mark_of_another_format_is_a_name(tmp_path, name):
    (tmp_path / "plant.csv").write_text(f"{name},fault\n1,0\n")
    assert from_csv(tmp_path / "plant.csv", ["fault"]).feature_names == (name,)


def test_an_npz_file_called_csv_gets_one_error(command, tmp_path):
    np.savez(tmp_path / "plant.npz", X=np.eye(3))
    (tmp_path / "plant.npz").rename(tmp_path / "plant.csv")
    refused(command("run", tmp_path / "plant.csv", "--labels", "fault"), "it is a zip archive", ".npz")


def test_a_nul_in_an_argument_is_refused(command, plant, plant_model, tmp_path):
    for words in (
        ("run", "a\0b.csv", "--labels", "fault"),
        ("run", plant, "--labels", "fault_a,fault_b", "--out", tmp_path / "a\0b"),
        ("predict", plant_model, plant, "--out", "a\0b"),
        ("rules", "a\0b"),
        ("figures", plant_model, "--out", "a\0b"),
        ("export", "answers", "--project", "p", "--database", "sqlite:///a\0b"),
    ):
        refused(command(*words), "an argument has a NUL character")


NUL, TOO_LONG = "has a NUL character, which no file name may have", "in the path has .* bytes, a file may have 255"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a\0b", NUL),
        ("a\0b.csv", NUL),
        ("folder\0/plant.npz", NUL),
        ("x" * 300, TOO_LONG),
        ("folder/" + "\N{SNOWMAN}" * 100 + ".csv", TOO_LONG),
    ],
)
def test_a_path_that_no_file_can_have_is_refused(trained, plant, text, message):
    data = from_csv(plant, ["fault_a", "fault_b"])
    results = Results.__new__(Results)
    for call in (
        lambda: trained.save(text),
        lambda: EvolvingFuzzyClassifier.load(text),
        lambda: write_model_file(text, {}, {}),
        lambda: from_csv(text, ["y"]),
        lambda: read_arff(text, ["y"]),
        lambda: read_dataset(text),
        lambda: write_dataset(data, text),
        lambda: read_for_model(text, ["a"], ["b"]),
        lambda: Results.read(text),
        lambda: results.write(text),
        lambda: Repeated.__new__(Repeated).write(text),
        lambda: write_report(Repeated.__new__(Repeated), text),
        lambda: SearchCheckpoint(text, {}),
    ):
        with pytest.raises(EvolabelError, match=message):
            call()


@pytest.mark.parametrize("digits", ["1" + "0" * 400, "-1" + "0" * 400, "1" * 5000])
def test_numbers_of_many_digits_in_files(command, plant_model, tmp_path, digits):
    for name, text in (
        ("plant.csv", f"heat,flow,fault_a,fault_b\n1,2,0,1\n{digits},2,1,0\n"),
        ("plant.jsonl", f'{{"heat": 1, "flow": 2}}\n{{"heat": {digits}, "flow": 2}}\n'),
    ):
        (tmp_path / name).write_text(text)
        refused(command("predict", plant_model, tmp_path / name), f"{name}, line")
    options = ("--labels", "fault_a,fault_b", "--params", json.dumps({"vigilance": 1}).replace("1", digits))
    refused(command("run", tmp_path / "plant.csv", *options))
