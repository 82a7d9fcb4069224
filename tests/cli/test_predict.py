"""A saved model meets rows nobody has labelled, in files that hold more than it knows."""

import csv
import io

import numpy as np
import pandas as pd
import pytest

from evolabel import EvolvingFuzzyClassifier
from evolabel.streams import from_csv


@pytest.fixture
def today(plant, tmp_path):
    """The features of the plant in another order, without labels, beside columns the model has never heard of."""
    data = from_csv(plant, ["fault_a", "fault_b"])
    path = tmp_path / "today.csv"
    lines = ["time,flow,note,heat", *(f"2024-01-01 {i},{flow},{i}?,{heat}" for i, (heat, flow) in enumerate(data.X))]
    path.write_text("\n".join(lines) + "\n")
    return path


def answers(text):
    """The numbers of a table of answers, without the column of what is unfamiliar."""
    rows = csv.DictReader(io.StringIO(text))
    return np.array([[float(cell) for name, cell in row.items() if name != "unfamiliar"] for row in rows])


def test_rows_without_labels_are_predicted(command, plant_model, plant, today, tmp_path):
    told = command("predict", plant_model, today)
    assert (told.code, told.err) == (0, "")
    assert told.out.startswith("row,unfamiliar,fault_a,fault_b\n0,,")
    clf = EvolvingFuzzyClassifier.load(plant_model)
    del clf.feature_names_in_
    X = from_csv(plant, ["fault_a", "fault_b"]).X
    np.testing.assert_array_equal(answers(told.out)[:, 1:], clf.predict(X))
    assert command("predict", plant_model, plant).out == told.out
    outputs = command("predict", plant_model, today, "--proba", "--out", tmp_path / "answers.csv")
    assert outputs.out == ""
    written = list(csv.DictReader((tmp_path / "answers.csv").read_text().splitlines()))
    assert {row.pop("unfamiliar") for row in written} == {""}
    np.testing.assert_allclose(
        [[float(row[name]) for name in ("fault_a", "fault_b")] for row in written], clf.predict_proba(X), atol=6e-5
    )


def test_rows_without_labels_are_explained(command, plant_model, plant, today):
    told = command("explain", plant_model, "--row", 7, "--data", today)
    assert (told.code, told.err) == (0, "")
    assert told.out == command("explain", plant_model, "--row", 7, "--data", plant).out


def test_texts_are_read_as_the_model_knows_them(command, tmp_path):
    log, new = tmp_path / "log.csv", tmp_path / "new.csv"
    modes = ["idle", "run", "wash"]
    rows = [f"{modes[i % 3]},{i % 7},{int(i % 3 == 2)}" for i in range(300)]
    log.write_text("\n".join(["mode,heat,fault", *rows]) + "\n")
    new.write_text("mode,heat\nwash,3\nidle,3\nstop,3\n,3\n")  # fewer modes, and one that is new
    model = tmp_path / "results" / "model.safetensors"
    assert command("run", log, "--labels", "fault", "--out", model.parent, "--quiet").code == 0
    told = command("predict", model, new)
    assert told.code == 0
    assert answers(told.out)[:2].tolist() == [[0.0, 1.0], [1.0, 0.0]]
    assert len(answers(told.out)) == 4
    assert told.err == (
        "mode = stop was never seen (1 row, the first is row 2); it is read as none of the known ones\n"
    )
    assert command("predict", model, log).err == ""
    clf = EvolvingFuzzyClassifier.load(model)
    assert clf.feature_names_in_.tolist() == ["mode", "heat"]
    frame = pd.DataFrame({"heat": [3.0, 3.0], "mode": ["wash", "idle"]})[["mode", "heat"]]
    assert clf.predict(frame).tolist() == [[1], [0]]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("heat\n1\n", "has no column for flow; the model needs heat, flow, pass a table"),
        ("heat,flow\n1,2\nhot,3\n", "today.csv, line 3: 'heat' is 'hot'; expected a number"),
        ("heat,flow\n1,inf\n", "today.csv, line 2: 'flow' is infinite; expected a number"),
    ],
)
def test_rows_that_cannot_be_predicted_are_told(command, plant_model, today, text, message):
    today.write_text(text)
    told = command("predict", plant_model, today)
    assert (told.code, told.out) == (2, "")
    assert message in told.err


def test_a_file_that_is_not_there_is_told(command, plant_model, tmp_path):
    told = command("predict", plant_model, tmp_path / "nowhere.csv")
    assert told.code == 3
    assert "there is no file" in told.err


def test_a_row_without_features_gets_the_base_rates_and_is_counted(command, plant_model, today):
    today.write_text("heat,flow\n1,2\n\n,\n")
    told = command("predict", plant_model, today, "--proba")
    assert told.code == 0
    assert len(answers(told.out)) == 2
    assert (
        "no feature at all (1 row, the first is row 1 (line 4 of the file)): the answer is the base rates" in told.err
    )


def test_ids_and_times_are_passed_through(command, plant_model, today):
    today.write_text("time,heat,id,flow\n8:00,1,A-7,2\n9:00,1,,3\n")
    lines = command("predict", plant_model, today, "--keep", "id,time").out.splitlines()
    assert [line.split(",")[:3] for line in lines] == [["row", "id", "time"], ["0", "A-7", "8:00"], ["1", "", "9:00"]]
    told = command("predict", plant_model, today, "--keep", "serial")
    assert told.code == 2
    assert "has no column 'serial' to keep" in told.err
    told = command("predict", plant_model, today, "--keep", "fault_a")
    assert told.code == 2
    assert "the answers have a column of this name" in told.err


def test_values_never_seen_are_told_and_have_a_column(command, plant_model, today, tmp_path):
    today.write_text("heat,flow\n1,2\n1000000,3\n")
    told = command("predict", plant_model, today, "--out", tmp_path / "answers.csv")
    assert "outside the range seen (heat = 1,000,000, seen " in told.err
    first, second = csv.DictReader((tmp_path / "answers.csv").read_text().splitlines())
    assert first["unfamiliar"] == ""
    assert second["unfamiliar"].startswith("outside the range seen (heat = 1,000,000, seen ")


def test_a_row_without_features_is_marked_among_the_answers(command, plant_model, today, tmp_path):
    today.write_text("heat,flow\n1,2\n,\n")
    command("predict", plant_model, today, "--out", tmp_path / "answers.csv")
    rows = list(csv.DictReader((tmp_path / "answers.csv").read_text().splitlines()))
    assert [row["unfamiliar"] for row in rows] == ["", "no feature at all"]


def test_an_explanation_names_a_text_never_seen(command, tmp_path):
    log, new, model = (tmp_path / name for name in ("log.csv", "new.csv", "model.safetensors"))
    log.write_text("mode,heat,fault\n" + "".join(f"{'ab'[i % 2]},{i % 7},{i % 2}\n" for i in range(60)))
    new.write_text("mode,heat\na,3\nstop,3\n")
    assert command("run", log, "--labels", "fault", "--out", tmp_path / "out", "--quiet").code == 0
    model = tmp_path / "out" / "model.safetensors"
    assert "mode = stop was never seen" in command("explain", model, "--row", "1", "--data", new).out
    assert "never seen" not in command("explain", model, "--row", "0", "--data", new).out


def test_a_text_never_seen_is_reported_once_beside_a_value_outside_the_range(command, tmp_path):
    log, new = tmp_path / "log.csv", tmp_path / "new.csv"
    log.write_text("mode,heat,fault\n" + "".join(f"{'ab'[i % 2]},{i % 7},{i % 2}\n" for i in range(60)))
    new.write_text("mode,heat\na,3\nstop,1000000\n")
    assert command("run", log, "--labels", "fault", "--out", tmp_path / "out", "--quiet").code == 0
    told = command("predict", tmp_path / "out" / "model.safetensors", new, "--out", tmp_path / "answers.csv")
    assert told.err.count("stop") == told.err.count("never seen") == 1
    assert (
        "outside the range seen (heat = 1,000,000, seen 0 to 6) (1 row, the first is row 1 (line 3 of the file))"
        in told.err
    )
    rows = list(csv.DictReader((tmp_path / "answers.csv").read_text().splitlines()))
    assert rows[1]["unfamiliar"].endswith("; mode = stop was never seen")


@pytest.mark.parametrize("more", [(), ("--proba",), ("--keep", "id")])
def test_the_terminal_and_the_file_get_the_same_table(command, plant_model, today, tmp_path, more):
    today.write_text("heat,id,flow\n1,A-7,2\n1000000,,3\n,A-9,\n")
    printed = command("predict", plant_model, today, *more).out
    command("predict", plant_model, today, *more, "--out", tmp_path / "answers.csv")
    assert printed == (tmp_path / "answers.csv").read_text()
    assert "outside the range seen" in printed


FORMULAS = ["=1+1", "+cmd|' /C calc'!A0", "-2+3", "@SUM(A1)", "-", "=-1.5"]
NUMBERS = ["-1.5", "+3", "-1,5", "-2e-3", "-.5", "A-7"]


def test_texts_that_a_spreadsheet_would_compute_are_marked(command, plant_model, today):
    lines = [f'1,"{text}",2' for text in FORMULAS + NUMBERS]
    today.write_text("\n".join(["heat,=note,flow", *lines]) + "\n")
    written = list(csv.reader(io.StringIO(command("predict", plant_model, today, "--keep", "=note").out)))
    assert [row[1] for row in written] == [f"'{text}" for text in ["=note", *FORMULAS]] + NUMBERS
    plain = command("predict", plant_model, today, "--keep", "=note", "--unmarked").out
    assert [row[1] for row in csv.reader(io.StringIO(plain))] == ["=note", *FORMULAS, *NUMBERS]


def test_classes_and_names_of_labels_are_marked(command, tmp_path):
    log = tmp_path / "log.csv"
    log.write_text("heat,state\n" + "".join(f"{i % 7},{['=on', '-1'][i % 7 > 3]}\n" for i in range(60)))
    assert command("run", log, "--class-column", "state", "--out", tmp_path / "out", "--quiet").code == 0
    rows = list(csv.DictReader(io.StringIO(command("predict", tmp_path / "out" / "model.safetensors", log).out)))
    assert {row["class"] for row in rows} == {"'=on", "-1"}


def test_the_columns_of_the_answers_are_not_kept_twice(command, plant_model, today):
    today.write_text("heat,row,flow\n1,2,3\n")
    told = command("predict", plant_model, today, "--keep", "row")
    assert told.code == 2
    assert "the answers have a column of this name" in told.err


def test_labels_that_are_called_as_other_columns_are_told_apart(command, tmp_path):
    file = tmp_path / "odd.csv"
    file.write_text("heat,row,unfamiliar\n" + "".join(f"{i % 7},{i % 2},{i % 3 % 2}\n" for i in range(60)))
    X = from_csv(file, ["row", "unfamiliar"])
    EvolvingFuzzyClassifier().fit(X.X, X.Y).name_columns(["heat"], ["row", "unfamiliar"]).save(tmp_path / "m.model")
    lines = command("predict", tmp_path / "m.model", file, "--labels", "row,unfamiliar").out.splitlines()
    assert lines[0] == "row,unfamiliar,label row,label unfamiliar"
