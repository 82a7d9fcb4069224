"""Labels by their names in one column: lists such as "leak;bearing", or one class per row."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

from evolabel.errors import DataError, DataWarning, ParameterError
from evolabel.streams import LabelColumn, from_csv, from_frame, read_dataset, write_dataset

TABLE = "heat,tags\n1,leak;bearing\n2,\n3,NA\n4, bearing ; \n"


@pytest.fixture
def log(tmp_path):
    (tmp_path / "log.csv").write_text(TABLE)
    return tmp_path / "log.csv"


def test_each_name_is_a_label_and_an_empty_cell_has_none(log):
    data = from_csv(log, LabelColumn("tags"))
    assert data.label_names == ("bearing", "leak")
    assert data.feature_names == ("heat",)
    expected = [[1, 1], [0, 0], [np.nan, np.nan], [1, 0]]
    assert np.array_equal(data.Y, expected, equal_nan=True)


def test_lists_of_json_lines_are_labels(tmp_path):
    file = tmp_path / "log.jsonl"
    tags = ['["leak", "bearing"]', "[]", "null", '["bearing"]']
    file.write_text("\n".join(f'{{"heat": {row}, "tags": {names}}}' for row, names in enumerate(tags)))
    data = read_dataset(file, LabelColumn("tags"))
    assert np.array_equal(data.Y, [[1, 1], [0, 0], [np.nan, np.nan], [1, 0]], equal_nan=True)


@pytest.mark.parametrize("library", [pd, pl])
def test_frames_hold_them_too(library):
    frame = library.DataFrame({"heat": [1.0, 2.0, 3.0], "tags": ["leak;bearing", "", None]})
    data = from_frame(frame, LabelColumn("tags"))
    assert data.label_names == ("bearing", "leak")
    assert np.array_equal(data.Y, [[1, 1], [0, 0], [np.nan, np.nan]], equal_nan=True)


@pytest.mark.parametrize(
    ("cells", "names"), [(["ok", "leak", "", "ok"], ("leak", "ok")), (["3", "1", "", "3"], ("1", "3"))]
)
def test_a_column_of_classes_is_one_label_per_class(tmp_path, cells, names):
    file = tmp_path / "log.csv"
    file.write_text("heat,state\n" + "".join(f"{row},{cell}\n" for row, cell in enumerate(cells)))
    data = from_csv(file, LabelColumn("state", one_per_row=True))
    assert data.label_names == names
    assert np.array_equal(data.Y, [[0, 1], [1, 0], [np.nan, np.nan], [0, 1]], equal_nan=True)


def test_whole_numbers_of_a_frame_are_classes():
    data = from_frame(pd.DataFrame({"heat": [1.0, 2.0], "state": [10, 2]}), LabelColumn("state", one_per_row=True))
    assert data.label_names == ("10", "2")


def test_such_labels_are_written_and_read(log, tmp_path):
    data = from_csv(log, LabelColumn("tags"))
    write_dataset(data, tmp_path / "log.npz")
    assert read_dataset(tmp_path / "log.npz").label_names == data.label_names


def test_what_cannot_be_labels_is_one_clear_error(log, tmp_path):
    with pytest.raises(DataError, match="no column 'tag' for labels; did you mean 'tags'"):
        from_csv(log, LabelColumn("tag"))
    with pytest.raises(DataError, match=r"line 2: label 'tags' is 'leak;bearing'; .*--label-list or --class-column"):
        from_csv(log, ["tags"])
    (tmp_path / "none.csv").write_text("heat,tags\n1,\n2,NA\n")
    with pytest.raises(DataError, match="column 'tags' has no label in any row"):
        from_csv(tmp_path / "none.csv", LabelColumn("tags"))
    (tmp_path / "log.arff").write_text("@relation log\n@attribute heat numeric\n@data\n1\n")
    with pytest.raises(ParameterError, match="has no columns of texts"):
        read_dataset(tmp_path / "log.arff", LabelColumn("tags"))


def test_too_many_names_are_refused(tmp_path):
    file = tmp_path / "log.csv"
    file.write_text("heat,tags\n" + "".join(f"{row},tag {row}\n" for row in range(1001)))
    with pytest.raises(DataError, match="column 'tags' has 1001 different labels"):
        from_csv(file, LabelColumn("tags"))


@pytest.mark.parametrize(
    ("cells", "one_per_row", "doubt"),
    [
        (
            ["leak;bearing", "leak"],
            True,
            r"holds lists \('leak;bearing'\), read as one class each; .*--label-list state",
        ),
        (["0.37", "1.5"], True, r"holds fractional numbers \(0.37\), each of which becomes a class"),
        (["3", "1"], False, "holds one number in each row, no lists of labels; use --class-column state instead"),
        (["0", "1"], False, "use --labels state instead"),
    ],
)
def test_a_column_that_fits_another_option_is_read_with_a_hint(cells, one_per_row, doubt):
    with pytest.warns(DataWarning, match=f"column 'state' {doubt}" if "holds" in doubt else doubt):
        names, Y = LabelColumn("state", one_per_row=one_per_row).read(cells)
    assert names == tuple(sorted(cells))
    assert Y.shape == (2, 2)
