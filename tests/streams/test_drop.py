"""Columns that are no features, such as times, can be left out of every kind of source."""

import numpy as np
import pytest

from evolabel.errors import DataError
from evolabel.streams import from_csv, from_frame, read_dataset, write_dataset


@pytest.fixture
def log(tmp_path):
    path = tmp_path / "log.csv"
    rows = [f"2024-01-01 00:{i // 60:02d}:{i % 60:02d},{i},{i % 3},{i % 2}" for i in range(300)]
    path.write_text("\n".join(["time,serial,heat,fault", *rows]) + "\n")
    return path


def test_a_csv_file_is_read_without_its_time(log):
    data = from_csv(log, ["fault"], drop=["time", "serial"])
    assert data.feature_names == ("heat",)
    np.testing.assert_array_equal(data.X[:4, 0], [0, 1, 2, 0])


def test_the_last_columns_are_counted_among_those_that_are_left(log):
    assert from_csv(log, -1, drop=["time", "serial"]).label_names == ("fault",)
    with pytest.raises(DataError, match="-2 of 2 columns cannot be labels"):
        from_csv(log, -2, drop=["time", "serial"])


def test_a_frame_is_read_without_its_dates(log):
    pd = pytest.importorskip("pandas")
    frame = pd.read_csv(log, parse_dates=["time"])
    assert from_frame(frame, ["fault"], drop=["time", "serial"]).feature_names == ("heat",)


@pytest.mark.parametrize("ending", ["npz", "parquet"])
def test_a_data_set_in_a_file_is_read_without_a_feature(log, tmp_path, ending):
    path = tmp_path / f"log.{ending}"
    write_dataset(from_csv(log, ["fault"], drop="time"), path)
    data = read_dataset(path, drop=["serial"])
    assert data.feature_names == ("heat",)
    np.testing.assert_array_equal(data.X, from_csv(log, ["fault"], drop=["time", "serial"]).X)
    with pytest.raises(DataError, match="has no feature 'hat' to leave out"):
        read_dataset(path, drop=["hat"])


def test_what_is_not_there_cannot_be_left_out(log):
    with pytest.raises(DataError, match="no column 'tme' to leave out; did you mean 'time'"):
        from_csv(log, ["fault"], drop=["tme"])
    with pytest.raises(DataError, match="nothing is left"):
        from_csv(log, ["fault"], drop=["time", "serial"]).without(["heat"])


def test_the_command_leaves_columns_out(command, log):
    reported = command("run", log, "--labels", "fault", "--quiet")
    assert reported.code == 2
    assert "column 'time' has 300 different texts" in reported.err
    assert "drop the column (drop=, --drop), or read it as timestamps (time=, --time)" in reported.err
    reported = command("run", log, "--labels", "fault", "--drop", "time,serial", "--quiet")
    assert reported.code == 0
    assert "log: 1 feature, 1 label, " in reported.out
