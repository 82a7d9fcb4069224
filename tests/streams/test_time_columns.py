"""Timestamps as hour, weekday and elapsed days, on request; the first timestamp stays with the data and the model."""

import datetime

import numpy as np
import pandas as pd
import polars as pl
import pytest

from evolabel import EvolvingFuzzyClassifier
from evolabel.errors import DataError, DataWarning, ModelFileError
from evolabel.persistence.model_file import read_model_file, write_model_file
from evolabel.streams import from_csv, from_frame, read_dataset, write_dataset

TIMES = ["2026-03-01 08:30", "2026-03-02 20:00:36", "", "2026-03-08T00:00"]  # the first is a Sunday
EXPECTED = [[8.5, 6, 0], [20.01, 0, 1.47959], [np.nan] * 3, [0, 6, 6.645833]]


def table(path, times, heat=range(100)):
    lines = [f"{time},{value},{row % 2}" for row, (time, value) in enumerate(zip(times, heat, strict=False))]
    path.write_text("\n".join(["time,heat,leak", *lines]) + "\n")
    return path


def test_a_time_column_is_three_features(tmp_path):
    data = from_csv(table(tmp_path / "log.csv", TIMES), ["leak"], time="time")
    assert data.feature_names == ("time_hour", "time_weekday", "time_days", "heat")
    assert np.allclose(data.X[:, :3], EXPECTED, atol=1e-4, equal_nan=True)
    assert data.kinds.origins == {"time": "2026-03-01 08:30:00"}


def test_german_dates_are_read(tmp_path):
    times = ["01.03.2026 08:30", "02.03.2026 20:00:36", "", "08.03.2026"]
    data = from_csv(table(tmp_path / "log.csv", times), ["leak"], time=["time"])
    assert np.allclose(data.X[:, :3], EXPECTED, atol=1e-4, equal_nan=True)


@pytest.mark.parametrize("library", [pd, pl])
@pytest.mark.parametrize("as_text", [True, False])
def test_frames_have_timestamps_or_their_texts(library, as_text):
    times = [(time and (time if as_text else datetime.datetime.fromisoformat(time))) or None for time in TIMES]
    frame = library.DataFrame({"time": times, "leak": [0, 1, 0, 1]})
    data = from_frame(frame, ["leak"], time="time")
    assert np.allclose(data.X, EXPECTED, atol=1e-4, equal_nan=True)


def test_time_zones_count_for_the_days_and_not_for_the_hour(tmp_path):
    times = ["2026-03-01 08:00+01:00", "2026-03-01 08:00+00:00"]
    data = from_csv(table(tmp_path / "log.csv", times), ["leak"], time="time")
    assert np.allclose(data.X[:, 0], 8.0)
    assert np.allclose(data.X[:, 2], [0.0, 1 / 24])


@pytest.mark.parametrize(
    ("times", "expected"),
    [
        (["2026-03-01 08:30", "soon"], "line 3: 'time' is 'soon'; expected a timestamp as 2026-03-01 08:30"),
        (["03/01/2026"], "line 2: 'time' is '03/01/2026'"),
        (["2026-02-30"], "line 2: 'time' is '2026-02-30'"),
        (["2026-03-01T08:30", "2026-03-01T08:30Z"], "line 3: 'time' is '2026-03-01T08:30Z', with a time zone"),
        (["2026-03-01T08:30Z", "2026-03-01T08:30"], "line 3: 'time' is '2026-03-01T08:30', with no time zone"),
        (["", "NA"], "time column 'time' has no timestamp"),
    ],
)
def test_a_broken_timestamp_is_named_with_its_line(tmp_path, times, expected):
    with pytest.raises(DataError, match=expected.replace("+", r"\+")):
        from_csv(table(tmp_path / "log.csv", times), ["leak"], time="time")


def test_a_name_that_is_taken_is_one_clear_error(tmp_path):
    (tmp_path / "log.csv").write_text("time,time_hour,leak\n2026-03-01,1,0\n")
    with pytest.raises(DataError, match="several features are named 'time_hour'"):
        from_csv(tmp_path / "log.csv", ["leak"], time="time")
    with pytest.raises(DataError, match="no column 'tim' of timestamps; did you mean 'time'"):
        from_csv(tmp_path / "log.csv", ["leak"], time="tim")


@pytest.mark.parametrize("suffix", [".npz", ".parquet"])
def test_the_first_timestamp_is_written_with_the_data(tmp_path, suffix):
    data = from_csv(table(tmp_path / "log.csv", TIMES), ["leak"], time="time")
    write_dataset(data, tmp_path / f"log{suffix}")
    assert read_dataset(tmp_path / f"log{suffix}").kinds == data.kinds


@pytest.fixture
def shifts(tmp_path):
    """A log in which the hour decides: leaks come at night."""
    start = datetime.datetime(2026, 3, 1, 8, 30)
    moments = [start + datetime.timedelta(hours=5 * row) for row in range(300)]
    heat = np.random.default_rng(0).normal(size=300)
    lines = [f"{moment},{value:.3f},{int(moment.hour < 6)}" for moment, value in zip(moments, heat, strict=True)]
    (tmp_path / "shifts.csv").write_text("\n".join(["time,heat,leak", *lines]) + "\n")
    return tmp_path / "shifts.csv"


def trained(file):
    data = from_csv(file, ["leak"], time="time")
    clf = EvolvingFuzzyClassifier(max_rules=4).fit(data.X, data.Y)
    return clf.name_columns(data.feature_names, data.label_names, data.kinds), data


@pytest.mark.parametrize("library", [pd, pl])
@pytest.mark.parametrize("as_text", [True, False])
def test_a_model_reads_raw_timestamps(shifts, tmp_path, library, as_text):
    clf, data = trained(shifts)
    with pytest.warns(UserWarning, match="does not have valid feature names"):
        known = clf.decision_function(data.X)
    clf.save(tmp_path / "m.safetensors")
    loaded = EvolvingFuzzyClassifier.load(tmp_path / "m.safetensors")
    assert loaded.feature_names_in_.tolist() == ["time", "heat"]
    frame = pd.read_csv(shifts)[["time", "heat"]]
    times = frame["time"].tolist() if as_text else [datetime.datetime.fromisoformat(t) for t in frame["time"]]
    raw = library.DataFrame({"time": times, "heat": frame["heat"].to_numpy()})
    assert np.array_equal(loaded.decision_function(raw), known)
    assert np.allclose(loaded.decision_function(raw[7:8]), known[7:8])
    assert "time_hour" in loaded.explain(raw[7:8]).text
    coded = pd.DataFrame(data.X, columns=list(data.feature_names))
    assert np.array_equal(loaded.decision_function(coded), known)


def test_a_broken_timestamp_changes_nothing(shifts, state_of, assert_same_state):
    clf, _ = trained(shifts)
    before = state_of(clf)
    broken = pd.DataFrame({"time": ["2026-03-01", "soon"], "heat": [1.0, 2.0]})
    with pytest.raises(DataError, match="row 1 of X: 'time' is 'soon'"):
        clf.partial_fit(broken, np.zeros((2, 1)))
    zoned = pd.DataFrame({"time": ["2026-03-01T00:00Z"], "heat": [1.0]})
    with pytest.raises(DataError, match="with a time zone, those before have none"):
        clf.predict(zoned)
    assert_same_state(state_of(clf), before)


@pytest.mark.parametrize("origins", [{"time": "soon"}, {"tim": "2026-03-01"}, {"time": 3}, ["time"], {}])
def test_a_file_with_other_origins_is_refused(shifts, tmp_path, origins):
    trained(shifts)[0].save(tmp_path / "m.safetensors")
    arrays, manifest = read_model_file(tmp_path / "m.safetensors")
    manifest["columns"]["origins"] = origins
    write_model_file(tmp_path / "m.safetensors", arrays, manifest)
    with pytest.raises(ModelFileError):
        EvolvingFuzzyClassifier.load(tmp_path / "m.safetensors")


def test_the_command_line_keeps_the_first_timestamp(command, shifts, tmp_path):
    told = command("run", shifts, "--labels", "leak", "--time", "time", "--out", tmp_path / "r", "--quiet")
    assert told.code == 0, told.err
    assert "features: 2 columns (time (hour, weekday, days), heat); labels: leak" in told.err
    model, today = tmp_path / "r" / "model.safetensors", tmp_path / "today.csv"
    today.write_text("heat,time\n0.1,2027-01-01 03:00\n0.1,2027-01-01 12:00\n")
    told = command("predict", model, today, "--proba", "--keep", "time", "--out", tmp_path / "answers.csv")
    assert told.code == 0, told.err
    assert "outside" not in told.err
    answers = pd.read_csv(tmp_path / "answers.csv")
    assert answers["time"].tolist() == ["2027-01-01 03:00", "2027-01-01 12:00"]
    assert answers["leak"][0] > answers["leak"][1]
    today.write_text("heat,time\n0.1,2027-01-01 03:00\n0.1,noon\n")
    told = command("predict", model, today)
    assert (told.code, "line 3: 'time' is 'noon'" in told.err) == (2, True)
    converted = command("convert", shifts, tmp_path / "s.npz", "--labels", "leak", "--time", "time")
    assert converted.code == 0
    by_npz = command("predict", model, tmp_path / "s.npz", "--proba").out
    assert by_npz == command("predict", model, shifts, "--proba").out


def test_a_raw_timestamp_that_nobody_asked_for_is_refused_with_the_way_out():
    frame = pd.DataFrame({"time": pd.date_range("2026-03-01", periods=3), "site": ["a", "b", "a"]})
    with pytest.raises(TypeError, match="time= of from_frame makes features of them"):
        EvolvingFuzzyClassifier().fit(frame, np.zeros((3, 1)))


def test_extra_columns_are_reported_beside_timestamps(shifts):
    clf, _ = trained(shifts)
    frame = pd.read_csv(shifts)
    with pytest.warns(DataWarning, match="does not use: leak"):
        clf.predict(frame)
