"""The wrong file ends in one line that says what it is and what was expected."""

import json

import pytest


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"", "is empty; expected a header, and one row or more"),
        (b"heat,fault\n", "has no rows; expected a header, and one row or more"),
        (
            b"PK\x03\x04\0\0,\0\n1,2\n",
            "cannot be read as text: it is a zip archive, as .xlsx and .npz files are",
        ),
    ],
)
def test_a_table_that_is_none(command, tmp_path, content, told):
    (tmp_path / "plant.csv").write_bytes(content)
    result = command("run", tmp_path / "plant.csv", "--labels", "fault")
    assert result.code == 2
    assert told in result.err


ONE_POINT = ("--vigilance", 0.5, "--ridge", "press", "--threshold-rules", "true", "--cv", 2, "--jobs", 1)


@pytest.mark.parametrize(
    ("name", "protocol", "more"), [("run", "order", ()), ("run", "benchmark", ()), ("tune", "order", ONE_POINT)]
)
def test_a_row_of_nothing_is_counted_and_left_out(command, tmp_path, name, protocol, more):
    path = tmp_path / "plant.csv"
    path.write_text("heat,fault\n" + "1,0\n\n" + ",1\n" + "2,1\n" * 18)
    told = command(name, path, "--labels", "fault", "--protocol", protocol, "--initial", 10, *more)
    assert told.code == 0
    assert "no feature at all (1 row, the first is row 1 (line 4 of the file)): left out" in told.err


def test_a_folder_is_no_table(command, tmp_path):
    result = command("run", tmp_path, "--labels", "fault")
    assert (result.code, result.err) == (3, f"evolabel: {tmp_path} is a folder; pass a file in it\n")


def test_a_name_that_is_nearly_known(command):
    told = command("run", "yeats").err
    assert told == "evolabel: 'yeats' is neither a known data set nor a file; did you mean 'yeast'?\n"


def test_labels_that_nobody_named_are_asked_for_with_the_columns(command, plant):
    assert "pass their names (the columns are heat, flow, fault_a, fault_b)" in command("run", plant).err


def test_parameters_that_are_not_there(command, plant, tmp_path):
    words = ("run", plant, "--labels", "fault_a", "--params")
    assert "there is no file nowhere.json; use a JSON file, the best.json of" in command(*words, "nowhere.json").err
    (tmp_path / "best.json").write_text(json.dumps({"score": "pa"}))
    told = command(*words, tmp_path / "best.json").err
    assert "there is no parameter 'score'; " in told


def test_models_that_are_none(command, plant, plant_model):
    assert f"{plant} is not a model file" in command("rules", plant).err
    assert "is a folder; pass the model file in it" in command("rules", plant.parent).err


def test_a_row_of_nothing_is_not_explained(command, plant_model):
    told = command("explain", plant_model, "--row", 0)
    assert told.code == 2
    assert told.err == "evolabel: --data is missing; give the file or data set with the row\n"


def test_the_ending_of_a_converted_file_is_checked_before_its_columns(command, plant):
    told = command("convert", plant, "plant.csv")
    assert told.code == 2
    assert told.err == "evolabel: 'plant.csv' has no suffix of a format to write; use .npz or .parquet\n"
