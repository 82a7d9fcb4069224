"""Results as frames and files: what is read is what was written."""

import json
import re
import sys
from math import inf

import numpy as np
import pytest
from choices import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from prequential_helpers import MeanLearner, OnePassLearner, small_stream, without_times

from evolabel._utils.optional import install_command
from evolabel.errors import FileFormatError, MissingDependencyError, ParameterError
from evolabel.evaluate import results as results_module
from evolabel.evaluate.formats import RESULT_FORMATS
from evolabel.evaluate.prequential import prequential
from evolabel.evaluate.results import Results
from evolabel.evaluate.trend import Point, Summary

KINDS = (".json", ".jsonl", ".parquet")


def everything(results):
    """All of the results as text, times included."""
    return repr((results.trend, results.summary, results.settings))


@pytest.fixture(scope="module")
def run():
    """Two learners, one of them without rules; some metrics have nothing to say."""
    X, Y = small_stream(30)
    Y[:12] = 0.0
    return prequential(
        {"plain": MeanLearner(), "swift/ä": OnePassLearner()}, (X, Y), initial=4, every=5, keep_scores=True
    )


# ---------------------------------------------------------------------- frames


@pytest.mark.parametrize("backend", ["pandas", "polars", "pyarrow"])
def test_a_frame_has_one_row_per_point(run, backend):
    frame = run.to_frame(backend)
    assert type(frame).__module__.startswith(backend)
    columns = {name: list(frame[name]) for name in Point._fields}
    if backend == "pyarrow":
        columns = {name: [value.as_py() for value in values] for name, values in columns.items()}
    assert repr([Point(*row) for row in zip(*columns.values(), strict=True)]) == repr(list(run.trend))


def test_results_without_points_are_a_frame_without_rows():
    assert Results({}, (), {}).to_frame("polars").shape == (0, 5)


def test_an_unknown_frame_is_refused(run):
    with pytest.raises(ParameterError, match="'excel' is unknown; use one of pandas, polars, pyarrow"):
        run.to_frame("excel")


def test_a_frame_of_a_package_that_is_missing_says_what_to_install(run, monkeypatch):
    monkeypatch.setitem(sys.modules, "polars", None)
    with pytest.raises(MissingDependencyError, match="pip install polars"):
        run.to_frame("polars")


# ---------------------------------------------------------------------- files


@pytest.mark.parametrize("kind", KINDS)
def test_a_file_gives_back_what_was_written(run, kind, tmp_path):
    run.write(tmp_path / f"run{kind}")
    assert everything(Results.read(tmp_path / f"run{kind}")) == everything(run)
    assert [path.name for path in tmp_path.iterdir()] == [f"run{kind}"]


numbers = st.floats(allow_infinity=False)
names = st.text(max_size=5)


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=examples(40), deadline=None)
@given(
    points=st.lists(st.builds(Point, names, st.integers(0, 2**62), names, names, numbers), max_size=5).map(tuple),
    metrics=st.dictionaries(names, numbers, max_size=3),
    rules=numbers,
)
def test_whatever_the_values_are_they_come_back_bit_for_bit(kind, points, metrics, rules):
    summary = Summary("it", metrics, rules, 0.125, 1.5, 7, dict.fromkeys(metrics, 3))
    written = Results({"it": summary}, points, {"learners": {"it": "It()"}, "delay": [0, 3], "note": "\n"})
    read = Results._from_document(RESULT_FORMATS[kind].read(RESULT_FORMATS[kind].write(written._document())), {})
    assert everything(read) == everything(written)


def test_a_folder_holds_all_kinds_and_the_scores(run, tmp_path):
    run.write(tmp_path / "deep" / "run")
    assert {path.name for path in (tmp_path / "deep" / "run").iterdir()} == {
        "results.json",
        "results.jsonl",
        "results.parquet",
        "scores.npz",
    }
    read = Results.read(tmp_path / "deep" / "run")
    assert without_times(read) == without_times(run)
    assert list(read.scores) == ["plain", "swift/ä"]
    for kind in KINDS:
        assert everything(Results.read(tmp_path / "deep" / "run" / f"results{kind}")) == everything(run)


def test_scores_of_an_earlier_run_do_not_stay_in_the_folder(run, tmp_path):
    run.write(tmp_path)
    Results(run.summary, run.trend, run.settings).write(tmp_path)
    assert Results.read(tmp_path).scores == {}


def test_a_folder_does_without_parquet_where_pyarrow_is_missing(run, tmp_path, monkeypatch):
    monkeypatch.setattr(results_module, "find_spec", lambda name: None)
    run.write(tmp_path)
    assert {path.suffix for path in tmp_path.iterdir()} == {".json", ".jsonl", ".npz"}
    assert everything(Results.read(tmp_path)) == everything(run)


def test_parquet_without_pyarrow_says_what_to_install(run, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(MissingDependencyError, match=re.escape(install_command("parquet"))):
        run.write(tmp_path / "run.parquet")
    assert list(tmp_path.iterdir()) == []


def test_json_lines_are_plain_json_one_record_a_line(run, tmp_path):
    run.write(tmp_path / "run.jsonl")
    lines = [json.loads(line) for line in (tmp_path / "run.jsonl").read_text().splitlines()]
    assert [line["kind"] for line in lines] == ["settings"] + ["trend"] * len(run.trend) + ["summary"] * 2
    assert "NaN" not in (tmp_path / "run.jsonl").read_text()
    assert None in [line.get("value", 0) for line in lines]


def test_a_file_is_replaced_as_a_whole_or_not_at_all(run, tmp_path):
    path = tmp_path / "run.json"
    run.write(path)
    before = path.read_bytes()
    with pytest.raises(ValueError, match="JSON"):
        Results({}, (Point("it", 1, "pa", "current", inf),), {}).write(path)
    assert path.read_bytes() == before


# ---------------------------------------------------------------------- broken files


@pytest.mark.parametrize("kind", KINDS)
def test_a_file_that_was_cut_is_refused(run, kind, tmp_path):
    path = tmp_path / f"run{kind}"
    run.write(path)
    data = path.read_bytes()
    last_line = data.rstrip().rfind(b"\n")
    for size in (0, 1, len(data) // 2, last_line, last_line + 1, len(data) - 3):
        path.write_bytes(data[:size])
        with pytest.raises(FileFormatError, match=f"run{kind} does not hold complete results"):
            Results.read(path)


@pytest.mark.parametrize("text", ["[]", "{}", '{"settings": {}, "summary": [], "trend": []}', "null", "\xff"])
@pytest.mark.parametrize("kind", KINDS)
def test_a_file_with_something_else_in_it_is_refused(kind, text, tmp_path):
    path = tmp_path / f"run{kind}"
    path.write_text(text, "latin-1")
    with pytest.raises(FileFormatError, match="write them again"):
        Results.read(path)


def test_scores_that_are_damaged_are_refused(run, tmp_path):
    run.write(tmp_path)
    (tmp_path / "scores.npz").write_bytes(b"nothing")
    with pytest.raises(FileFormatError):
        Results.read(tmp_path)


def test_a_file_that_is_missing_or_of_another_kind_is_refused(tmp_path):
    with pytest.raises(FileFormatError, match=r"no results at .*run\.json"):
        Results.read(tmp_path / "run.json")
    with pytest.raises(FileFormatError, match=r"no results at .*results\.json"):
        Results.read(tmp_path)
    with pytest.raises(
        FileFormatError, match=r"run\.csv is of an unknown format; results end in .json, .jsonl, .parquet"
    ):
        Results.read(tmp_path / "run.csv")


def test_results_do_not_change():
    with pytest.raises(AttributeError):
        Results({}, (), {}).trend = ()


def test_scores_are_kept_only_where_asked(run):
    assert prequential(MeanLearner(), small_stream(30)).scores == {}
    assert {name: scores.shape for name, scores in run.scores.items()} == {"plain": (26, 3), "swift/ä": (26, 3)}
    assert np.isfinite(run.scores["plain"]).all()
