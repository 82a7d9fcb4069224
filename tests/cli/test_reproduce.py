"""`evolabel reproduce`: what is printed, what is written, and what goes wrong clearly."""

import json

import pytest

from evolabel.errors import DatasetNotFoundError
from evolabel.streams import DriftingStream, write_dataset


@pytest.fixture
def tiny(tmp_path):
    """A file that joins the paper's sets."""
    file = tmp_path / "tiny.npz"
    write_dataset(DriftingStream(n_features=3, n_labels=2, drift_every=0, seed=0).dataset(90, "tiny"), file)
    return file


@pytest.fixture
def empty_handed(monkeypatch):
    """Nothing is at hand."""

    def refuse(name, **how):
        raise DatasetNotFoundError(f"there is no {name} here")

    monkeypatch.setattr("evolabel.paper.reproduce.data.load_dataset", refuse)


@pytest.mark.drawn
def test_a_quick_look_writes_a_report_results_and_verdicts(command, tiny, tmp_path, empty_handed):
    out = tmp_path / "out"
    words = ("reproduce", "fig4", "--quick", "--sets", f"emotions,{tiny}", "--out", out, "--jobs", 1)
    told = command(*words, "--json")
    assert told.code == 0
    assert "emotions is left out: there is no emotions here" in told.err
    found = json.loads(told.out)
    assert {verdict["verdict"] for verdict in found} == {"cannot be checked"}
    assert {verdict["profile"] for verdict in found} == {"paper", "default"}
    assert json.loads((out / "verdicts.json").read_text()) == found
    page = (out / "report.html").read_text()
    assert "A quick run leaves out all but 80 initial" in page
    assert "About 1 min of processor time to go" in told.err
    assert "emotions is left out" in page
    assert "tiny" in (out / "fig4-paper.svg").read_text() or "<path" in page
    before = (out / "results.json").read_bytes()
    again = command(*words)
    assert "ours beats one-versus-rest and the chain in PA on all four sets" in again.out
    assert (out / "results.json").read_bytes() == before


def test_without_any_set_there_is_nothing_to_do(command, tmp_path, empty_handed):
    told = command("reproduce", "--sets", "emotions,yeast", "--out", tmp_path)
    assert told.code == 3
    assert "no data set was found" in told.err


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (("fig1",), "there is no experiment 'fig1'; use all or one of table1, fig4"),
        (("--jobs", 0), "--jobs 0 is not allowed"),
        (("--quick", "--grid", "full"), "--quick has its own grid of 18 points; leave out --quick or --grid full"),
        (("--seeds", 0), "--seeds 0 is not allowed"),
        (("--backend", "cloud", "--sets", "yeast"), "backend='cloud' cannot be used"),
        (("--sets", ","), "--sets names no data set"),
    ],
)
def test_wrong_words_are_refused_before_anything_runs(command, tmp_path, words, expected):
    told = command("reproduce", *words, "--out", tmp_path)
    assert told.code == 2
    assert expected in told.err
